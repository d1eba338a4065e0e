"""The window of Landscope."""

"""The engine of Landscope."""

"""The look of the window: named colours, palettes, fonts."""

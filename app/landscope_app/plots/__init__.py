"""Two-dimensional pictures: what they show (free of Qt) and the widgets that draw it."""

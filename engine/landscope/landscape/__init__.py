"""Landscape: the loss on lines and planes through checkpoints."""

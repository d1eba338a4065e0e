"""Distances between what checkpoints compute: predictions, layers, gradients. Needs script and data."""

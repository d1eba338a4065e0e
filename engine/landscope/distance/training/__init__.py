"""Distances measured inside a person's own training loop."""

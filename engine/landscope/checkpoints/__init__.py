"""Checkpoint files and folders: what they hold and how it fits a model. Nothing in them is run."""

"""Kinds of checkpoint files, and what each holds before its numbers are read."""

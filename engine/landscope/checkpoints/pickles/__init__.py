"""Pickles read without importing or calling anything that they name."""

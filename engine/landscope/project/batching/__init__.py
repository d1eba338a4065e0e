"""The script's data: told apart, drawn, cut and frozen."""

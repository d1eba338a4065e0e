"""Everything a person can do in the window, in one registry."""

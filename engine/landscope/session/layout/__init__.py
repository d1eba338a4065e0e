"""How each kind of result lies in the session file: writing and reading side by side, one kind per module."""

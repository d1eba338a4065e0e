"""The command line: ``landscope`` and its verbs."""

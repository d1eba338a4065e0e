"""``landscope_project.py`` for somebody's repository, from its text alone."""

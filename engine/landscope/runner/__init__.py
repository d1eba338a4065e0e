"""Running jobs: in this process for command line and Python, in a host process for the window."""

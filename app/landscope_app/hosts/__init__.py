"""The window's side of the engine hosts: processes, pipes, and the table of jobs."""

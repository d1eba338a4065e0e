"""The child process in which foreign bytes are parsed, and its parent's end."""

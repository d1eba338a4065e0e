"""Pictures as files: the surface through OpenGL, everything flat through matplotlib (loaded only here)."""

"""All drawing with OpenGL: the surface, its path, its axes box, on the screen and off it."""

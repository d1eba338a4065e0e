"""The surroundings in which a script runs, and the telling of its errors."""

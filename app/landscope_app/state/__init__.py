"""What the window knows, without Qt: document, selection, plan of the first jobs, camera."""

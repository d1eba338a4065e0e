"""What the window remembers between two starts."""

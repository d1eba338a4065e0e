"""How far weights travelled, from checkpoint files alone."""

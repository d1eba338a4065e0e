"""A project: its description, the trust in it, and what its script makes of a model, data and checkpoints."""

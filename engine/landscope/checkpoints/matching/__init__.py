"""Which tensors of a file are the model's weights."""

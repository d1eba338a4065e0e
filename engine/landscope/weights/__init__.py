"""Weights: θ as one vector, its units, the directions it is moved along, and putting it back."""

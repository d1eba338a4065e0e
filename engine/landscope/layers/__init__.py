"""Which layers are observed, and how their outputs become samples × features."""

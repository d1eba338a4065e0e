"""How full each layer is: covariance of its outputs, spectrum, intrinsic dimension."""

"""Measures of pictures for the tests of the scene."""

import numpy as np
import numpy.typing as npt


def structural_similarity(
    first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8], block: int = 8
) -> float:
    """Mean SSIM (Wang 2004) of two pictures (h, w, ≥3) over whole blocks of their grey values."""
    a, b = (_blocks(picture[..., :3].astype(float).mean(axis=2), block) for picture in (first, second))
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    variance_a, variance_b = a.var(axis=1), b.var(axis=1)
    covariance = ((a - mean_a[:, None]) * (b - mean_b[:, None])).mean(axis=1)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    value = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
    value /= (mean_a**2 + mean_b**2 + c1) * (variance_a + variance_b + c2)
    return float(value.mean())


def near(picture: npt.NDArray[np.uint8], colour: str, tolerance: int = 24) -> npt.NDArray[np.bool_]:
    """Where a picture has about this `#rrggbb` colour, (h, w)."""
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return np.asarray((np.abs(picture[..., :3].astype(int) - wanted) <= tolerance).all(axis=2))


def _blocks(grey: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
    height, width = (n // size * size for n in grey.shape)
    cut = grey[:height, :width].reshape(height // size, size, width // size, size)
    return cut.transpose(0, 2, 1, 3).reshape(-1, size * size)

import numpy as np
import pytest
from fake_session import RUNS, fake_session

from landscope.session.model import Plane
from landscope_app.plots.landscape_chart import Display, dense
from landscope_app.plots.readout import readout


@pytest.fixture
def plane() -> Plane:
    return fake_session((RUNS[0],)).planes[f"{RUNS[0]}-trajectory"]


@pytest.mark.parametrize("log", [False, True])
def test_that_a_sampled_point_reads_as_stored_with_its_error(plane: Plane, log: bool) -> None:
    display = Display(scale="log" if log else "linear")
    plane.values["loss"][4, 6], plane.values["loss_se"][4, 6] = 1.2345, 0.021
    alpha, beta = plane.opened.alpha[4], plane.opened.beta[6]
    text = readout(plane, dense(plane, display), display, log, alpha, beta)
    assert "loss 1.234 ± 0.021" in text or "loss 1.235 ± 0.021" in text
    assert text.endswith("   sampled")


@pytest.mark.parametrize("log", [False, True])
def test_that_between_samples_the_value_is_interpolated_and_said_to_be(plane: Plane, log: bool) -> None:
    plane.values["loss"][:] = 2.0
    display = Display(scale="log" if log else "linear")
    middle = (plane.opened.alpha[4] + plane.opened.alpha[5]) / 2
    text = readout(plane, dense(plane, display), display, log, middle, plane.opened.beta[6])
    assert "loss 2.000 " in text
    assert text.endswith("interpolated")


def test_that_a_diverged_sample_reads_nan(plane: Plane) -> None:
    plane.values["loss"][4, 6] = np.nan
    display = Display()
    alpha, beta = plane.opened.alpha[4], plane.opened.beta[6]
    text = readout(plane, dense(plane, display), display, False, alpha, beta)
    assert "loss NaN" in text
    assert text.endswith("sampled")

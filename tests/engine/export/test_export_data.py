"""Exported files hold exactly the numbers of the session, under harmless names."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from landscope.contract import deltas as d
from landscope.contract.errors import SessionError
from landscope.export.data import export_csv, export_npz
from landscope.export.summary import summary, value_range
from landscope.session.model import FAILED, Session

AXIS = np.linspace(-1, 1, 5)
LOSSES = np.array([0.1 + 0.2, 1 / 3, np.nan, np.inf, 1e-300])


@pytest.fixture
def session() -> Session:
    """One result of every kind, with NaN, inf and names that no file system likes."""
    session = Session(title="all")
    parts = (run_deltas, saturation_deltas, distance_deltas, function_deltas, landscape_deltas)
    for delta in (delta for part in parts for delta in part()):
        session.apply(delta)
    session.planes["net/plane"].state[0, 1] = FAILED
    return session


def run_deltas() -> list[d.AnyDelta]:
    infos = tuple(d.CheckpointInfo(name=f"{step}.pt", step=step) for step in (0, 10))
    measured = [
        d.CheckpointMeasured(
            run="net",
            checkpoint=f"{step}.pt",
            split=split,
            loss=step / 3,
            loss_se=np.nan,
            metrics=metrics,
            samples=7,
        )
        for step in (0, 10)
        for split, metrics in (("train", {"top-5/acc": step / 9}), ("test", {}))
    ]
    return [d.RunListed(run="net", folder="runs/net", checkpoints=infos), *measured]


def saturation_deltas() -> list[d.AnyDelta]:
    layer = d.LayerSaturation(
        layer="conv,1",
        kind="Conv2d",
        dimension=4,
        samples=99,
        idim=2,
        lsat=0.5,
        trace=1 / 7,
        participation_ratio=1.5,
        effective_rank=1.6,
        spectrum=np.array([0.1, 0.02, 0.003]),
        flags=("too_few_samples",),
        embedding=np.array([[0.5, -0.25], [np.nan, 2.0]], np.float32),
        labels=np.array([3, d.UNKNOWN_LABEL]),
        items=np.array([41, -1]),
    )
    return [d.SaturationMeasured(run="net", checkpoint="10.pt", mode="eval", threshold=0.99, layers=(layer,))]


def distance_deltas() -> list[d.AnyDelta]:
    pair = np.array([1.25, np.nan])
    return [
        d.DistanceOpened(
            run="net",
            reference="0.pt",
            reference_step=0,
            parameters=("a.weight", "a.bias"),
            sizes=np.array([6, 2]),
            layers=("a",),
            layer_of=np.array([0, 0]),
        ),
        d.DistancesMeasured(
            run="net",
            checkpoint="10.pt",
            parameters={"distance": pair, "angle": pair},
            layers={"distance": pair[:1]},
            total={"distance": 1.25, "angle": 90.0},
        ),
        d.DistanceMatrices(
            run="net",
            checkpoints=("0.pt", "10.pt"),
            distance=np.array([[0, 2.5], [2.5, 0]]),
            cosine=np.eye(2),
        ),
    ]


def function_deltas() -> list[d.AnyDelta]:
    return [
        d.GradientOpened(
            run="net",
            reference="",
            reference_step=None,
            parameters=("a.weight",),
            sizes=np.array([6]),
            layers=("a",),
            layer_of=np.array([0]),
            split="train",
            samples=64,
        ),
        d.GradientsMeasured(
            run="net",
            checkpoint="10.pt",
            parameters={"gradient_norm": np.array([0.5])},
            layers={"gradient_norm": np.array([0.5])},
            total={"gradient_norm": 0.5},
        ),
        d.SimilarityMeasured(
            run="net",
            other="other",
            checkpoints=("0.pt", "10.pt"),
            others=("5.pt",),
            split="train",
            samples=64,
            predictions={"kl": np.array([[np.inf], [0.25]])},
            layers=("a",),
            cka=np.array([[[0.5], [np.nan]]]),
            settings={"estimator": "unbiased"},
        ),
    ]


def landscape_deltas() -> list[d.AnyDelta]:
    return [
        d.LineOpened(
            id="l", run="net", title="", start="0.pt", end="10.pt", coordinates=AXIS, settings={"x": 1}
        ),
        d.LinePoints(id="l", indices=np.arange(5), values={"loss": LOSSES}),
        d.PlaneOpened(
            id="net/plane",
            run="net",
            title="",
            kind="random",
            base="10.pt",
            alpha=AXIS,
            beta=AXIS[:3],
            axis_titles=("α", "β"),
            settings={"reach": np.inf},
        ),
        d.PlanePoints(
            id="net/plane",
            rows=np.arange(5),
            columns=np.full(5, 2),
            values={"loss": LOSSES, "../evil": LOSSES},
        ),
        d.PlaneLevel(id="net/plane", points=5, surplus=np.nan),
        d.TrajectoryMeasured(
            plane="net/plane",
            run="net",
            checkpoints=("0.pt", "10.pt"),
            coordinates=np.array([[0.5, 0.25], [0, 0]]),
            residuals=np.array([0.1, 0]),
            true_loss=np.array([2.0, 1.0]),
            plane_loss=np.array([np.nan, 1.0]),
            explained=np.array([0.8, 0.1]),
        ),
    ]


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_that_there_is_one_csv_per_table_and_one_npz_per_result(session: Session, tmp_path: Path) -> None:
    written = export_csv(session, tmp_path / "new")
    assert sorted(path.name for path in written) == [
        "cka_net_other.csv",
        "distances_net.csv",
        "embedding_net_eval.csv",
        "gradients_net.csv",
        "line_l.csv",
        "losses_net.csv",
        "matrices_net.csv",
        "plane_net-plane.csv",
        "saturation_net_eval.csv",
        "similarity_net_other.csv",
        "spectra_net_eval.csv",
        "trajectory_net-plane_net.csv",
    ]
    assert all(path.stat().st_size for path in written)
    assert len(export_npz(session, tmp_path)) == 8


def test_that_csv_floats_are_the_very_same_numbers(session: Session, tmp_path: Path) -> None:
    export_csv(session, tmp_path)
    found = rows(tmp_path, "plane_net-plane.csv")
    assert len(found) == 15
    plane = session.planes["net/plane"]
    for index, row in enumerate(found):
        i, j = divmod(index, 3)
        assert (float(row["alpha"]), float(row["beta"])) == (plane.opened.alpha[i], plane.opened.beta[j])
        for metric in ("loss", "../evil"):
            assert np.array_equal(float(row[metric]), plane.values[metric][i, j], equal_nan=True)
    assert [row["state"] for row in found[:3]] == ["empty", "failed", "sampled"]
    assert float(rows(tmp_path, "line_l.csv")[0]["loss"]) == 0.1 + 0.2


def test_that_headers_carry_units_and_unknown_cells_are_empty(session: Session, tmp_path: Path) -> None:
    export_csv(session, tmp_path)
    total, layer, first, second = rows(tmp_path, "distances_net.csv")
    assert (total["scope"], total["angle [degree]"]) == ("total", "90.0")
    assert (layer["name"], layer["angle [degree]"]) == ("a", "")
    assert (first["name"], first["distance"], second["distance"]) == ("a.weight", "1.25", "nan")
    (bar,) = rows(tmp_path, "saturation_net_eval.csv")
    assert (bar["layer"], bar["step"], float(bar["trace [activation²]"])) == ("conv,1", "10", 1 / 7)
    assert [row["top-5/acc"] for row in rows(tmp_path, "losses_net.csv")] == ["0.0", repr(10 / 9), "", ""]
    assert [float(row["eigenvalue [activation²]"]) for row in rows(tmp_path, "spectra_net_eval.csv")] == [
        0.1,
        0.02,
        0.003,
    ]


def test_that_embedded_samples_are_rows_and_what_is_not_known_is_empty(
    session: Session, tmp_path: Path
) -> None:
    export_csv(session, tmp_path)
    known, unknown = rows(tmp_path, "embedding_net_eval.csv")
    assert list(known.values()) == ["10.pt", "conv,1", "41", "3", "0.5", "-0.25"]
    assert list(unknown.values()) == ["10.pt", "conv,1", "", "", "nan", "2.0"]


def test_that_comparisons_of_functions_are_rows_of_two_checkpoints(session: Session, tmp_path: Path) -> None:
    export_csv(session, tmp_path)
    first, second = rows(tmp_path, "similarity_net_other.csv")
    assert list(first.values()) == ["0.pt", "5.pt", "inf"]
    assert list(second.values()) == ["10.pt", "5.pt", "0.25"]
    assert list(rows(tmp_path, "cka_net_other.csv")[1].values()) == ["a", "10.pt", "5.pt", "nan"]
    assert [row["gradient_norm"] for row in rows(tmp_path, "gradients_net.csv")] == ["0.5"] * 3


def test_that_npz_holds_the_arrays_without_pickle(session: Session, tmp_path: Path) -> None:
    export_npz(session, tmp_path)
    with np.load(tmp_path / "plane_net-plane.npz", allow_pickle=False) as file:
        assert np.array_equal(file["loss"], session.planes["net/plane"].values["loss"], equal_nan=True)
        assert file["quantity_0001_is"] == "../evil"
        assert json.loads(str(file["settings"])) == {"reach": np.inf}
    with np.load(tmp_path / "saturation_net_eval.npz", allow_pickle=False) as file:
        assert file["layers"].tolist() == ["conv,1"]
        assert file["spectrum"].tolist() == [[[0.1, 0.02, 0.003]]]
        assert file["embedding"][0, 0].tolist()[0] == [0.5, -0.25]
        assert (file["label"][0, 0].tolist(), file["item"][0, 0].tolist()) == ([3, d.UNKNOWN_LABEL], [41, -1])
    with np.load(tmp_path / "losses_net.npz", allow_pickle=False) as file:
        assert file["splits"].tolist() == ["train", "test"]
        assert file["loss_0"].tolist() == [0, 10 / 3]
    with np.load(tmp_path / "similarity_net_other.npz", allow_pickle=False) as file:
        assert file["kl"].tolist() == [[np.inf], [0.25]]
        assert file["cka"].shape == (1, 2, 1)
    with np.load(tmp_path / "distances_net.npz", allow_pickle=False) as file:
        assert file["parameters_distance"][0, 0] == 1.25
        assert file["matrix_distance"].tolist() == [[0, 2.5], [2.5, 0]]


def test_that_equal_file_names_do_not_overwrite_each_other(tmp_path: Path) -> None:
    session = Session()
    for key in ("a/b", "a:b", "A b", "..", ""):
        session.apply(
            d.LineOpened(id=key, run="r", title="", start="", end="", coordinates=AXIS, settings={})
        )
    written = export_csv(session, tmp_path)
    assert [path.name for path in written] == [
        "line_a-b.csv",
        "line_a-b-2.csv",
        "line_A-b-3.csv",
        "line_unnamed.csv",
        "line_unnamed-2.csv",
    ]
    assert len({path.name for path in tmp_path.iterdir()}) == 5


def test_that_a_place_that_cannot_be_written_is_told(session: Session, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SessionError, match="cannot be written"):
        export_csv(session, tmp_path / "file")


def test_that_the_summary_is_strict_json_with_shapes_and_ranges(session: Session) -> None:
    found = json.loads(json.dumps(summary(session), allow_nan=False))
    (plane,) = found["planes"]
    assert (plane["shape"], plane["sampled"], plane["failed"]) == ([5, 3], 6, 1)
    assert plane["values"]["loss"] == {"min": 1e-300, "max": 1 / 3, "finite": 3, "nonfinite": 3}
    assert plane["levels"] == {"5": None}
    assert found["runs"][0]["measured"]["train"]["checkpoints"] == 2
    assert found["saturation"][0]["shape"] == [1, 1]
    assert found["saturation"][0]["embedding"] == {"layers": 1, "samples": 2}
    assert found["distances"][0]["elements"] == 8
    assert found["similarity"][0]["cka"] == {"min": 0.5, "max": 0.5, "finite": 1, "nonfinite": 1}
    assert found["gradients"][0]["total"]["gradient_norm"]["max"] == 0.5
    assert found["distances"][0]["total"]["angle"]["max"] == 90


def test_that_a_range_of_nothing_finite_has_no_ends() -> None:
    assert value_range([np.nan, np.inf]) == {"min": None, "max": None, "finite": 0, "nonfinite": 2}
    assert value_range([]) == {"min": None, "max": None, "finite": 0, "nonfinite": 0}


def test_that_an_empty_session_exports_nothing(tmp_path: Path) -> None:
    assert export_csv(Session(), tmp_path) == []
    assert export_npz(Session(), tmp_path) == []
    assert summary(Session())["runs"] == []


def test_that_checkpoints_come_in_training_order_in_whatever_order_they_were_measured(tmp_path: Path) -> None:
    listed, *losses = run_deltas()
    session, (measured,) = Session(title="last first"), saturation_deltas()
    order = ["0.pt", "10.pt", "gone.pt"]
    bars = [msgspec.structs.replace(measured, checkpoint=order[k]) for k in (1, 2, 0)]
    for delta in (listed, *reversed(losses), *bars):
        session.apply(delta)
    export_csv(session, tmp_path)
    export_npz(session, tmp_path)
    assert [row["checkpoint"] for row in rows(tmp_path, "saturation_net_eval.csv")] == order
    assert np.load(tmp_path / "saturation_net_eval.npz")["checkpoints"].tolist() == order
    assert summary(session)["saturation"][0]["checkpoints"] == order
    assert [row["checkpoint"] for row in rows(tmp_path, "losses_net.csv")] == order[:2] * 2


def test_that_a_layer_without_a_finite_row_has_no_intrinsic_dimension(tmp_path: Path) -> None:
    session, (measured,) = Session(title="blind"), saturation_deltas()
    blind = msgspec.structs.replace(
        measured.layers[0], samples=0, idim=0, lsat=float("nan"), spectrum=np.empty(0)
    )
    session.apply(msgspec.structs.replace(measured, layers=(blind,)))
    export_csv(session, tmp_path)
    export_npz(session, tmp_path)
    (row,) = rows(tmp_path, "saturation_net_eval.csv")
    assert (row["idim"], row["lsat"]) == ("nan", "nan")
    assert np.isnan(np.load(tmp_path / "saturation_net_eval.npz")["idim"]).all()

"""What a tracker tells beside its values: flags, parts that are not measured, labels of embedded samples."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from landscope import AbstractWriter, SaturationTracker
from landscope.contract.errors import OptionError
from landscope.saturation.writers import make_writer


class Kept(AbstractWriter):
    def __init__(self):
        self.values, self.flags = {}, {}

    def add_scalar(self, name, value, **kwargs):
        self.values[name] = value

    def add_flags(self, mode, layer, flags):
        self.flags[mode, layer] = flags

    def save(self):
        pass

    def close(self):
        pass


def _reasons(model, batch, run=None, **options):
    """What is not measured after a forward pass."""
    with SaturationTracker("", Kept(), model, **options) as tracker:
        (run or model)(batch)
        return tracker.not_measured


def _dead_layer():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    nn.init.constant_(model[2].weight, 0.0)
    return model


def test_that_flags_are_told_to_the_writer_and_the_log_once_for_each_layer(caplog):
    model, writer = _dead_layer(), Kept()
    bad = torch.cat([torch.randn(50, 3), torch.full((3, 3), float("nan"))])
    with SaturationTracker("", writer, model) as tracker:
        for batch in (bad, bad, torch.randn(5, 3)):
            model(batch)
            tracker.add_saturations()
    assert writer.flags == {("train", "0"): ("too_few_samples",), ("train", "2"): ("dead", "too_few_samples")}
    assert tracker.flags["train"] == {"0": ("too_few_samples",), "2": ("dead", "too_few_samples")}
    assert [record.getMessage() for record in caplog.records] == [
        "train 0: 3 rows held NaN or inf and were left out.",
        "train 2: its outputs are the same in all 50 rows; 3 rows held NaN or inf and were left out.",
        "train 0: 5 rows are too few to trust the values of 4 features, 40 would do.",
        "train 2: 5 rows are too few to trust the values of 2 features, 20 would do.",
    ]


def test_that_flags_are_those_of_the_last_report_of_each_mode():
    model = nn.Sequential(nn.Linear(3, 4))
    with SaturationTracker("", Kept(), model) as tracker:
        model(torch.randn(5, 3))
        tracker.add_saturations()
        model.eval()(torch.randn(60, 3))
        tracker.add_saturations()
        assert tracker.flags == {"train": {"0": ("too_few_samples",)}, "eval": {"0": ()}}


def test_that_one_row_does_not_make_a_layer_dead():
    model = nn.Sequential(nn.Linear(3, 4))
    with SaturationTracker("", Kept(), model) as tracker:
        model(torch.randn(1, 3))
        tracker.add_saturations()
    assert tracker.flags["train"]["0"] == ("too_few_samples",)


def test_that_a_sampled_layer_is_flagged(monkeypatch):
    monkeypatch.setattr("landscope.saturation.covariance.STORED_BYTES", 4 * 5000 * 6)
    model = nn.Sequential(nn.Conv2d(1, 50, 1))
    with SaturationTracker("", Kept(), model, conv_method="flatten") as tracker:
        model(torch.randn(9, 1, 10, 10))
        tracker.add_saturations()
    assert "sampled" in tracker.flags["train"]["0"]


class Functional(nn.Module):
    """Weights of its own, and a layer whose weights are used without calling it."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Parameter(torch.randn(3, 3))
        self.scale = nn.Parameter(torch.randn(3))
        self.used, self.borrowed = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return nn.functional.linear(self.used(x @ self.mix) * self.scale, self.borrowed.weight)


def test_that_functional_code_is_told_with_its_reason():
    reasons = _reasons(nn.Sequential(Functional()), torch.randn(5, 3))
    assert set(reasons) == {"0-mix", "0-borrowed"}
    assert "functional code" in reasons["0-mix"]
    assert "1 forward passes have not called it" in reasons["0-borrowed"]
    assert "functional code" in reasons["0-borrowed"]


def test_that_the_reason_before_any_forward_pass_is_that_there_was_none():
    with SaturationTracker("", Kept(), nn.Sequential(nn.Linear(2, 2))) as tracker:
        assert tracker.not_measured["0"].startswith("No forward pass has called it as a module yet")


def test_that_attention_hides_its_projection_and_says_how_it_is_measured():
    model = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    batch = torch.randn(3, 5, 4)
    reasons = _reasons(model, batch)
    assert set(reasons) == {"self_attn-out_proj"}
    assert "layers=[nn.MultiheadAttention]" in reasons["self_attn-out_proj"]
    reasons = _reasons(model, batch, layers=[nn.MultiheadAttention])
    assert "whose output is observed instead" in reasons["self_attn-out_proj"]
    assert _reasons(model, batch, ignore_layer_names=["self_attn.out_proj"]) == {}


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("traced", [True, False])
def test_that_what_torch_jit_runs_is_told_and_the_rest_is_measured(traced):
    plain = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 3))
    inner = torch.jit.trace(plain, torch.randn(2, 3)) if traced else torch.jit.script(plain)
    model = nn.Sequential(nn.Linear(3, 3), inner)
    reasons = _reasons(model, torch.randn(5, 3))
    assert set(reasons) == {"1-0", "1-1"}
    assert all("torch.jit" in reason for reason in reasons.values())
    assert len(_reasons(inner, torch.randn(5, 3))) == 2
    if traced:
        assert set(_reasons(model, torch.randn(5, 3), layers=["1"])) == {"1-0", "1-1"}
    else:
        with pytest.raises(OptionError, match="'1' runs inside torch"):
            _reasons(model, torch.randn(5, 3), layers=["1"])


ODD = {
    "NoneType": lambda _: None,
    "int64": lambda x: x.long(),
    "complex64": lambda x: x.to(torch.complex64),
    "qint8": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
    "nested": lambda x: torch.nested.nested_tensor([x[:2], x[2:]]),
    "sparse": lambda x: x.to_sparse(),
    "no features": lambda x: x[:, :0],
    "no data": lambda x: x.to("meta"),
    "cannot be measured": lambda x: x.to(torch.float8_e4m3fn),
}


@pytest.mark.filterwarnings("ignore")  # torch's own about quantised and nested tensors
@pytest.mark.parametrize("told", ODD)
def test_that_outputs_that_have_no_rows_of_numbers_are_told_in_one_line(told):
    class Odd(nn.Module):
        def forward(self, x):
            return ODD[told](x)

    reason = _reasons(nn.Sequential(Odd()), torch.randn(5, 3), layers=["0"], device="cuda:99")["0"]
    assert told in reason
    assert reason.count("\n") == 0
    assert len(reason) < 250


def test_that_a_layer_inside_a_transform_of_torch_func_is_told():
    model = nn.Sequential(nn.Linear(3, 3))
    reasons = _reasons(model, torch.randn(5, 3), run=torch.func.vmap(model))
    assert "torch.func" in reasons["0"]
    parameters = dict(model.named_parameters())
    assert (
        _reasons(model, torch.randn(5, 3), run=lambda x: torch.func.functional_call(model, parameters, x))
        == {}
    )


@pytest.mark.parametrize("wrap", [parametrizations.weight_norm, parametrizations.orthogonal])
def test_that_a_parametrised_layer_is_measured(wrap):
    assert _reasons(nn.Sequential(wrap(nn.Linear(4, 4))), torch.randn(5, 4)) == {}


def test_that_a_part_called_by_itself_is_measured_where_its_layers_would_be_fused():
    model = nn.Sequential(
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2), nn.Linear(4, 2)
    )
    model.eval()
    writer, fast = Kept(), torch.backends.mha.get_fastpath_enabled()
    with SaturationTracker("", writer, model) as tracker, torch.no_grad():
        padding = torch.arange(5) >= torch.randint(1, 6, (9, 1))
        for part in (model[0], model[0].layers[0]):
            part(torch.randn(9, 5, 4), src_key_padding_mask=padding)
        tracker.add_saturations()
    assert len(writer.values) == 4
    assert torch.backends.mha.get_fastpath_enabled() is fast


def _embedded(model, batch, labels, **options):
    writer = Kept()
    with SaturationTracker("", writer, model, stats=["embed"], **options) as tracker:
        tracker.set_labels(labels)
        model(batch)
        tracker.add_saturations()
    return writer.values


def test_that_embedded_rows_of_a_layer_carry_the_label_of_their_item():
    values = _embedded(nn.Sequential(nn.Linear(3, 4)), torch.randn(9, 3), torch.arange(9))
    assert values["train-embedded-samples_0_labels"].tolist() == list(range(9))
    assert values["train-embedded-samples_0"].shape == (9, 2)


def test_that_rows_of_a_map_and_of_a_sequence_carry_the_label_of_their_item():
    values = _embedded(nn.Sequential(nn.Conv2d(1, 4, 1)), torch.randn(3, 1, 2, 2), [5, 6, 7], max_samples=2)
    assert values["train-embedded-samples_0_labels"].tolist() == [5] * 4 + [6] * 4
    for options, expected in (({}, [5, 6, 7]), ({"timeseries_method": "timestepwise"}, [5, 5, 6, 6, 7, 7])):
        values = _embedded(
            nn.Sequential(nn.Linear(4, 3)), torch.randn(3, 2, 4), np.array([5, 6, 7]), **options
        )
        assert values["train-embedded-samples_0_labels"].tolist() == expected


@pytest.mark.parametrize("method", ["timestepwise", "last_timestep"])
def test_that_rows_of_padded_sequences_carry_the_label_of_their_item(method):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.fc = nn.Embedding(5, 4, padding_idx=0), nn.Linear(4, 3)

        def forward(self, ids):
            return self.fc(self.words(ids))

    batch = torch.tensor([[1, 2, 3], [4, 0, 0], [1, 1, 0]])
    values = _embedded(Reader(), batch, [7, 8, 9], timeseries_method=method)
    expected = [7, 7, 7, 8, 9, 9] if method == "timestepwise" else [7, 8, 9]
    assert values["train-embedded-samples_fc_labels"].tolist() == expected


def test_that_labels_of_another_size_or_kind_label_nothing_and_never_raise(caplog):
    model, batch = nn.Sequential(nn.Linear(3, 4)), torch.randn(9, 3)
    for labels in (torch.arange(5), None, torch.zeros(9, 4), ["cat"] * 9, 3):
        assert list(_embedded(model, batch, labels)) == ["train-embedded-samples_0"]
    assert sum("set_labels" in record.getMessage() for record in caplog.records) == 3


def test_that_rows_without_a_label_stand_beside_those_that_have_one():
    model, writer = nn.Sequential(nn.Linear(3, 4)), Kept()
    with SaturationTracker("", writer, model, stats=["embed"]) as tracker:
        for labels in (torch.tensor([[1.5], [2.5]]), None):
            tracker.set_labels(labels)
            model(torch.randn(2, 3))
        tracker.add_saturations()
    np.testing.assert_array_equal(
        writer.values["train-embedded-samples_0_labels"], [1.5, 2.5, np.nan, np.nan]
    )


def test_that_labels_are_stored_as_arrays_and_colour_the_picture(tmp_path):
    figures = []
    pytest.importorskip("matplotlib")
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    arguments = [None, {"plot_manipulation_func": lambda axes: figures.append(axes)}]
    with SaturationTracker(
        str(tmp_path / "run"), ["npy", "plot"], model, stats=["lsat", "embed"], writer_args=arguments
    ) as tracker:
        for epoch in range(2):
            tracker.set_labels(torch.arange(9) % 3 if epoch == 0 else torch.rand(9))
            model(torch.randn(9, 3))
            tracker.add_saturations()
    name = "train-embedded-samples_0_labels"
    assert np.load(tmp_path / "run" / name / f"{name}_epoch0.npy").tolist() == [0, 1, 2] * 3
    for epoch in range(2):
        assert (tmp_path / f"run_embed_epoch_{epoch}.png").read_bytes().startswith(b"\x89PNG")
    legend = figures[0].get_legend()
    assert "too few samples" in [text.get_text() for text in legend.get_texts()]


def test_that_a_picture_of_embedded_samples_has_a_colour_for_each_class():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    from matplotlib import colormaps

    from landscope.saturation.writers.embedding_picture import draw_embeddings

    points = np.arange(12.0).reshape(6, 2)
    draw_embeddings(
        figure, {"a": points, "b": points}, {"a": np.array([0, 1, 2, 2, 1, np.nan])}, 12, colormaps
    )
    counts = [[len(dots.get_offsets()) for dots in axes.collections] for axes in figure.axes]
    assert counts == [[1, 1, 2, 2], [6, 0, 0, 0]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "1", "2"]


def test_that_the_plot_writer_forgets_flags_that_are_gone(tmp_path):
    pytest.importorskip("matplotlib")
    seen = []
    writer = make_writer("plot", str(tmp_path / "run"), {"plot_manipulation_func": seen.append})
    for flags in (["dead"], []):
        writer.add_flags("train", "fc", flags)
        writer.add_scalars("", {"train-saturation_fc": 0.5})
        writer.save()
    assert [len(axes.get_lines()) for axes in seen] == [2, 1]

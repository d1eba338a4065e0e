"""The last step of real optimizers, reconstructed from their state, against the step that was taken."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.optim import SGD, Adam, AdamW, RMSprop

from landscope.contract.deltas import DistanceOpened, DistancesMeasured
from landscope.contract.events import Notice, Partial
from landscope.contract.job import CancelToken, DistanceJob
from landscope.contract.options import DistanceOptions, ProjectSpec
from landscope.distance.analysis import analyse_files

KEY = "last_update"


class Net(nn.Module):
    """Layers of different shapes, a normalisation with buffers, and a head of its own."""

    def __init__(self, dtype=torch.float64):
        super().__init__()
        self.first = nn.Linear(5, 7)
        self.norm = nn.BatchNorm1d(7)
        self.head = nn.Linear(7, 3)
        self.to(dtype)

    def forward(self, x):
        return self.head(self.norm(torch.relu(self.first(x))))


def _step(model, optimizers, seed):
    inputs = torch.randn(16, 5, generator=torch.Generator().manual_seed(seed))
    loss = model(inputs.to(next(model.parameters()).dtype)).square().mean()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


def _train(folder, model, optimizer, files=3, steps=4, pack=None, **saving):
    """Files of a run, and per file the step that was really taken, by name."""
    torch.manual_seed(0)
    optimizers = optimizer if isinstance(optimizer, list) else [optimizer]
    taken = []
    for number in range(files):
        for k in range(steps):
            before = {name: value.detach().clone() for name, value in model.named_parameters()}
            _step(model, optimizers, 100 * number + k)
        taken.append({n: float((v.detach() - before[n]).norm()) for n, v in model.named_parameters()})
        content = {"model": model.state_dict(), "optimizer": optimizers[0].state_dict()}
        content = content if pack is None else pack(model, optimizers)
        torch.save(copy.deepcopy({**content, "step": steps * number}), folder / f"s_{number}.pt", **saving)
    return taken


def _analyse(folder):
    job = DistanceJob(project=ProjectSpec(root=str(folder)), run="run", options=DistanceOptions())
    updates = list(analyse_files(folder, "run", job, CancelToken()))
    deltas = [u.delta for u in updates if isinstance(u, Partial)]
    opened = [one for one in deltas if isinstance(one, DistanceOpened)][-1]
    measured = {one.checkpoint: one for one in deltas if isinstance(one, DistancesMeasured)}
    return opened, list(measured.values()), [u.sentence for u in updates if isinstance(u, Notice)]


def _agree(folder, taken, rel=1e-9, files=slice(None)):
    """Everything that is told is the step that was taken, per parameter, per layer and in total."""
    opened, measured, notices = _analyse(folder)
    for one, truth in list(zip(measured, taken, strict=True))[files]:
        rows = [k for k, name in enumerate(opened.parameters) if name in truth]
        assert len(rows) == len(truth)
        found = one.parameters[KEY][rows]
        wanted = np.array([truth[opened.parameters[k]] for k in rows])
        np.testing.assert_allclose(found, wanted, rtol=rel, atol=0.0)
        assert one.total[KEY] == pytest.approx(np.linalg.norm(wanted), rel=rel)
        for layer, name in enumerate(opened.layers):
            own = [v for k, v in zip(rows, wanted, strict=True) if opened.layer_of[k] == layer]
            assert one.layers[KEY][layer] == pytest.approx(np.linalg.norm(own), rel=rel), name
    return opened, measured, notices


@pytest.mark.parametrize(
    "settings",
    [
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.02},
        {"momentum": 0.5, "maximize": True, "foreach": True},
    ],
    ids=["momentum", "dampening and decay", "maximize"],
)
def test_that_the_last_step_of_sgd_is_the_one_that_was_taken(tmp_path, settings):
    model = Net()
    _agree(tmp_path, _train(tmp_path, model, SGD(model.parameters(), lr=0.05, **settings)))


@pytest.mark.parametrize("kind", [Adam, AdamW])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weight_decay": 0.3},
        {"weight_decay": 0.3, "amsgrad": True, "betas": (0.5, 0.6), "eps": 1e-3},
        {"weight_decay": 0.1, "maximize": True},
        {"weight_decay": 0.1, "fused": True},
        {"lr": torch.tensor(0.02, dtype=torch.float64), "foreach": False},
    ],
    ids=["plain", "decay", "amsgrad", "maximize", "fused", "tensor rate"],
)
def test_that_the_last_step_of_adam_and_adamw_is_the_one_that_was_taken(tmp_path, kind, settings):
    model = Net()
    _, measured, notices = _agree(
        tmp_path, _train(tmp_path, model, kind(model.parameters(), **{"lr": 0.02, **settings})), rel=1e-7
    )
    assert measured[0].total[KEY] > 0.01
    assert [s for s in notices if "already be the next one" in s] == notices, "and it is said once"


def test_that_single_precision_and_the_old_file_format_agree_to_rounding(tmp_path):
    model = Net(torch.float32)
    optimizer = AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    taken = _train(tmp_path, model, optimizer, _use_new_zipfile_serialization=False)
    _agree(tmp_path, taken, rel=1e-5)


def test_that_moments_in_bfloat16_are_read(tmp_path):
    """A step of bfloat16 weights is rounded; that of the moments alone is compared."""
    model = nn.Linear(4, 3).bfloat16()
    optimizer = Adam(model.parameters(), lr=0.01)
    model(torch.ones(2, 4).bfloat16()).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "s_1.pt")
    _, (one,), _ = _analyse(tmp_path)
    assert one.total[KEY] == pytest.approx(0.01 * np.sqrt(15), rel=1e-2)


def test_that_groups_have_their_own_settings_and_are_told_by_order_and_shape(tmp_path):
    """The usual groups: matrices with decay, vectors without."""
    model = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6)).double()
    vectors = [p for p in model.parameters() if p.dim() < 2]
    matrices = [p for p in model.parameters() if p.dim() > 1]
    groups = [{"params": matrices, "weight_decay": 0.2, "lr": 0.03}, {"params": vectors, "weight_decay": 0.0}]
    _agree(tmp_path, _train(tmp_path, model, AdamW(groups, lr=0.01)), rel=1e-7)


def test_that_names_in_the_state_tell_what_order_and_shape_cannot(tmp_path):
    model = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 5)).double()
    named = list(model.named_parameters())
    groups = [{"params": named[2:], "lr": 0.03}, {"params": named[:2], "lr": 0.01}]
    taken = _train(tmp_path, model, Adam(groups))
    _agree(tmp_path, taken, rel=1e-7)
    for path in sorted(tmp_path.iterdir()):
        content = torch.load(path)
        for group in content["optimizer"]["param_groups"]:
            del group["param_names"]
        torch.save(content, path)
    _, measured, notices = _analyse(tmp_path)
    assert not any(KEY in one.total for one in measured)
    assert any("cannot be told by order and shape" in sentence for sentence in notices)


def test_that_frozen_parameters_take_no_step_in_or_outside_the_optimizer(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        model = Net()
        model.first.requires_grad_(False)
        model.norm.requires_grad_(False)
        given = [p for p in model.parameters() if p.requires_grad or folder is inside]
        taken = _train(folder, model, Adam(given, lr=0.02, weight_decay=0.1))
        known = slice(None) if folder is inside else slice(1, None)
        _, measured, _ = _agree(folder, taken, rel=1e-7, files=known)
        assert measured[-1].layers[KEY][0] == 0.0
    assert np.isnan(measured[0].layers[KEY][0]), "at the first file nobody knows that it does not move"


def test_that_what_moves_without_an_optimizer_is_not_told(tmp_path):
    model = Net()
    model.norm = nn.Identity()
    optimizers = [Adam(model.first.parameters(), lr=0.02), SGD(model.head.parameters(), lr=0.1)]
    _train(tmp_path, model, optimizers)
    opened, measured, notices = _analyse(tmp_path)
    found = dict(zip(opened.parameters, measured[-1].parameters[KEY], strict=True))
    assert found["first.weight"] > 0 and np.isnan(found["head.weight"]) and np.isnan(measured[-1].total[KEY])
    assert any("head.weight, head.bias" in s and "yet it has moved" in s for s in notices)


def test_that_tied_parameters_count_once(tmp_path):
    class Tied(Net):
        def __init__(self):
            super().__init__()
            self.again = nn.Linear(7, 3).double()
            self.again.weight = self.head.weight

    model = Tied()
    taken = _train(tmp_path, model, SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1))
    _agree(tmp_path, taken)


@pytest.mark.parametrize(
    "pack",
    [
        lambda m, o: {"model_state_dict": m.state_dict(), "optimizer_state_dict": o[0].state_dict()},
        lambda m, o: {"net": m.state_dict(), "trainer": {"optim": o[0].state_dict()}},
        lambda m, o: {"state_dict": m.state_dict(), "optimizer_states": [o[0].state_dict()]},
        lambda m, o: {f"module.{n}": v for n, v in m.state_dict().items()} | {"opt": o[0].state_dict()},
    ],
    ids=["usual", "deeper", "Lightning", "beside the weights"],
)
def test_that_the_state_is_found_wherever_trainers_put_it(tmp_path, pack):
    model = Net()
    taken = _train(tmp_path, model, SGD(model.parameters(), lr=0.05, momentum=0.9), pack=pack)
    _agree(tmp_path, taken)


def test_that_of_two_optimizers_the_one_that_fits_is_taken(tmp_path):
    model, other = Net(), nn.Sequential(nn.Linear(2, 9), nn.Linear(9, 1)).double()
    optimizers = [SGD(model.parameters(), lr=0.05, momentum=0.9)]
    foreign = Adam(other.parameters())
    other(torch.ones(1, 2).double()).sum().backward()
    foreign.step()

    def pack(m, o):
        return {"G": m.state_dict(), "opt_D": foreign.state_dict(), "opt_G": o[0].state_dict()}

    _agree(tmp_path, _train(tmp_path, model, optimizers, pack=pack))


def test_that_two_optimizers_share_a_network(tmp_path):
    model = Net()
    body = [*model.first.parameters(), *model.norm.parameters()]
    optimizers = [Adam(model.head.parameters(), lr=0.02), SGD(body, lr=0.1, momentum=0.9)]

    def pack(m, o):
        return {"model": m.state_dict(), "optimizers": [one.state_dict() for one in o]}

    _agree(tmp_path, _train(tmp_path, model, optimizers, pack=pack), rel=1e-7)


def test_that_two_optimizers_that_both_fit_are_none(tmp_path):
    model = Net()
    optimizers = [SGD(model.parameters(), lr=0.1, momentum=0.9), Adam(model.parameters(), lr=0.02)]

    def pack(m, o):
        return {"model": m.state_dict(), "optimizers": [one.state_dict() for one in o]}

    _train(tmp_path, model, optimizers, pack=pack)
    _, measured, notices = _analyse(tmp_path)
    assert not any(KEY in one.total for one in measured)
    assert any("several optimizers of the file could be" in sentence for sentence in notices)


def test_that_a_part_of_the_state_that_could_be_elsewhere_is_not_told(tmp_path):
    """With the normalisation left out, the first layer's bias could be any of three vectors."""
    model = Net()
    model.norm.requires_grad_(False)
    taken = _train(tmp_path, model, Adam([p for p in model.parameters() if p.requires_grad], lr=0.02))
    opened, measured, notices = _analyse(tmp_path)
    found = dict(zip(opened.parameters, measured[-1].parameters[KEY], strict=True))
    told = ("first.weight", "head.weight", "head.bias")
    assert {n: found[n] for n in told} == pytest.approx({n: taken[-1][n] for n in told}, rel=1e-7)
    assert all(np.isnan(found[name]) for name in ("first.bias", "norm.weight", "norm.bias"))
    assert np.isnan(measured[-1].total[KEY])
    assert any("of first.bias, norm.weight, norm.bias cannot be told" in sentence for sentence in notices)


def _content(kind=Adam, **settings):
    model = nn.Linear(4, 3)
    optimizer = kind(model.parameters(), lr=0.01, **settings)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


def _changed(change, kind=Adam, **settings):
    content = _content(kind, **settings)
    change(content["optimizer"]["state"], content["optimizer"]["param_groups"][0])
    return content


ODD = {
    "nesterov": (_content(SGD, momentum=0.9, nesterov=True), "steps along the gradient"),
    "plain sgd": (_content(SGD), "keeps nothing of its last step"),
    "another kind": (_content(RMSprop, momentum=0.9), "neither SGD, Adam nor AdamW"),
    "old torch": (
        _changed(lambda _, g: g.pop("decoupled_weight_decay"), weight_decay=0.1),
        "whether it is Adam or AdamW",
    ),
    "wrong shape": (
        _changed(lambda s, _: s[0].update(exp_avg_sq=torch.ones(5))),
        "of weight cannot be told: its exp_avg_sq is missing or does not fit",
    ),
    "other network": (_changed(lambda s, _: s[0].update(exp_avg=torch.ones(9))), "of another network"),
    "no step": (_changed(lambda s, _: s[1].pop("step")), "of bias cannot be told: its step is missing"),
    "step 0": (_changed(lambda s, _: s[1].update(step=torch.tensor(0.0))), "count of steps is below 1"),
    "8 bit": (
        _changed(lambda s, _: s[0].update(qmap1=torch.ones(256))),
        "of weight cannot be told: it is neither",
    ),
    "integers": (_changed(lambda s, _: s[0].update(exp_avg=torch.ones(3, 4, dtype=torch.uint8))), "exp_avg"),
    "text": (_changed(lambda _, g: g.update(lr="fast")), "learning rate is no number"),
    "betas": (_changed(lambda _, g: g.update(betas=(0.9, 1.0))), "betas are not below 1"),
    "setting": (_changed(lambda _, g: g.update(trust_coefficient=0.1)), "trust_coefficient is not known"),
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD.keys())
def test_that_what_cannot_be_told_is_said_once_and_the_rest_is_measured(tmp_path, content):
    stored, sentence = content
    for number in range(3):
        torch.save({**stored, "step": number}, tmp_path / f"s_{number}.pt")
    _, measured, notices = _analyse(tmp_path)
    assert len(measured) == 3 and measured[-1].total["norm"] > 0
    assert len([s for s in notices if sentence in s]) == 1, notices
    assert all(np.isnan(one.total.get(KEY, np.nan)) for one in measured)


@pytest.mark.parametrize("step", [3, 3.0, torch.tensor(3), torch.tensor([3.0])], ids=str)
def test_that_the_count_of_steps_may_be_any_number(tmp_path, step):
    stored = _changed(lambda s, _: [one.update(step=step) for one in s.values()])
    torch.save(stored, tmp_path / "s_0.pt")
    _, (one,), _ = _analyse(tmp_path)
    state = stored["optimizer"]["state"]
    first = torch.cat([entry["exp_avg"].double().flatten() for entry in state.values()])
    second = torch.cat([entry["exp_avg_sq"].double().flatten() for entry in state.values()])
    taken = 0.01 / (1 - 0.9**3) * first / ((second / (1 - 0.999**3)).sqrt() + 1e-8)
    assert one.total[KEY] == pytest.approx(float(taken.norm()), rel=1e-12)


def test_that_a_diverged_state_is_nan_and_no_error(tmp_path):
    stored = _changed(lambda s, _: s[0]["exp_avg"].fill_(float("nan")))
    torch.save(stored, tmp_path / "s_0.pt")
    _, (one,), _ = _analyse(tmp_path)
    assert np.isnan(one.parameters[KEY][0]) and one.parameters[KEY][1] > 0 and np.isnan(one.total[KEY])


def test_that_averages_have_no_last_update(tmp_path):
    content = _content()
    stored = {"ema_model": content["model"], "optimizer": content["optimizer"]}
    torch.save(stored, tmp_path / "s_0.pt")
    _, (one,), notices = _analyse(tmp_path)
    assert KEY not in one.total and any("averages, which no optimizer steps" in s for s in notices)


def test_that_damaged_moments_cost_only_the_last_update(tmp_path):
    model = nn.Linear(40, 30)
    optimizer = AdamW(model.parameters(), lr=0.01)
    model(torch.ones(2, 40)).sum().backward()
    optimizer.step()
    path = tmp_path / "s_0.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    raw = optimizer.state[model.weight]["exp_avg_sq"].numpy().tobytes()
    damaged = bytearray(path.read_bytes())
    damaged[damaged.find(raw) + 5] ^= 1
    path.write_bytes(damaged)
    _, (one,), notices = _analyse(tmp_path)
    assert one.total["norm"] > 0 and np.isnan(one.parameters[KEY][0]) and one.parameters[KEY][1] > 0
    assert any("weight cannot be told: s_0.pt: its bytes do not match" in s for s in notices), notices


def test_that_files_without_state_have_no_such_quantity_and_say_nothing(tmp_path):
    for number in range(2):
        torch.save({"model": Net().state_dict(), "step": number}, tmp_path / f"s_{number}.pt")
    _, measured, notices = _analyse(tmp_path)
    assert not any(KEY in scope for one in measured for scope in (one.total, one.layers, one.parameters))
    assert notices == []


def test_that_an_optimizer_that_took_no_step_has_no_last_update(tmp_path):
    model = Net()
    torch.save(
        {"model": model.state_dict(), "optimizer": Adam(model.parameters()).state_dict()}, tmp_path / "a_0.pt"
    )
    _, (one,), notices = _analyse(tmp_path)
    assert KEY not in one.total and notices == []


def test_that_the_state_beside_weights_that_are_sorted_by_name_is_told_by_shapes_alone(tmp_path):
    model = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3)).double()
    optimizer = AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    for number in range(2):
        before = [value.clone() for value in model.state_dict().values()]
        _step(model, [optimizer], number)
        folder = tmp_path / f"checkpoint-{number + 1}"
        folder.mkdir()
        save_file(model.state_dict(), folder / "model.safetensors")
        torch.save(optimizer.state_dict(), folder / "optimizer.pt")
    opened, measured, _ = _analyse(tmp_path)
    taken = {n: float((v - b).norm()) for (n, v), b in zip(model.state_dict().items(), before, strict=True)}
    found = dict(zip(opened.parameters, measured[-1].parameters[KEY], strict=True))
    assert found == pytest.approx(taken, rel=1e-7)


def test_that_moments_in_one_flat_storage_and_complex_ones_are_read(tmp_path):
    torch.manual_seed(0)
    model = nn.ParameterDict({n: torch.randn(s, dtype=torch.complex128) for n, s in (("a", 300), ("b", 9))})
    optimizer = AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    for _ in range(3):
        before = [value.clone() for value in model.state_dict().values()]
        sum((value - 1.0).abs().square().sum() for value in model.values()).backward()
        optimizer.step()
    taken = [float((v - b).norm()) for v, b in zip(model.state_dict().values(), before, strict=True)]
    content = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    for key in ("exp_avg", "exp_avg_sq"):
        entries = content["optimizer"]["state"].values()
        flat = torch.cat([entry[key].flatten() for entry in entries])
        for entry, part in zip(entries, flat.split([entry[key].numel() for entry in entries]), strict=True):
            entry[key] = part.view(entry[key].shape)
    torch.save(content, tmp_path / "s_0.pt")
    _, (one,), _ = _analyse(tmp_path)
    np.testing.assert_allclose(one.parameters[KEY], taken, rtol=1e-7)


ENDLESS: list = []
ENDLESS.append(ENDLESS)
NONSENSE = {
    "nothing": {"state": {}, "param_groups": []},
    "no mappings": {"state": {0: 1, (1, 2): None}, "param_groups": [None, 3, "x"]},
    "no keys": {"state": {0: {}}, "param_groups": [{"params": 7}, {"params": [[1], None, 1.5]}]},
    "no settings": {"state": {0: {"exp_avg": torch.ones(3, 4)}}, "param_groups": [{"params": [0, 0, 1]}]},
    "odd settings": {
        "state": {0: {"exp_avg": torch.ones(3, 4), 5: 6}},
        "param_groups": [{"params": [0], "lr": {}, "betas": ENDLESS, "eps": None, "amsgrad": "", 3: 4}],
    },
    "twice": {
        "state": {0: {"momentum_buffer": torch.ones(3, 4)}},
        "param_groups": [{"params": [0, 0], **SGD([torch.ones(1)], momentum=0.9).defaults}],
    },
    "names without end": {
        "state": {"x" * 5000: {"exp_avg": torch.ones(3, 4)}},
        "param_groups": [{"params": ["x" * 5000], "param_names": ENDLESS}],
    },
}


@pytest.mark.parametrize("state", NONSENSE.values(), ids=NONSENSE.keys())
def test_that_nonsense_for_an_optimizer_costs_nothing_else(tmp_path, state):
    stored = {"model": nn.Linear(4, 3).state_dict(), "optimizer": state}
    torch.save(stored, tmp_path / "s_0.pt")
    _, (one,), _ = _analyse(tmp_path)
    assert one.total["norm"] > 0 and KEY not in one.total


def test_that_a_state_too_large_to_be_told_is_said(tmp_path):
    content = _content()
    content["optimizer"]["state"] |= {k: {"step": 1.0} for k in range(2, 60_000)}
    content["optimizer"]["param_groups"][0]["params"] = list(range(60_000))
    torch.save(content, tmp_path / "s_0.pt")
    _, (one,), notices = _analyse(tmp_path)
    assert KEY not in one.total and any("is too deep or too large to be read" in s for s in notices)

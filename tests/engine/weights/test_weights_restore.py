"""Whatever a block does to a model, afterwards everything is bit for bit as before."""

import random
from collections import deque

import numpy as np
import pytest
import torch
from torch import nn

from landscope.weights.restore import kept_attributes, preserved


def bits(model):
    tensors = [*model.parameters(), *model.buffers()]
    return [(id(t), t.data_ptr(), t.stride(), t.detach().contiguous().numpy().tobytes()) for t in tensors]


def everything(model):
    modules = list(model.modules())
    return {
        "bits": bits(model),
        "modes": [m.training for m in modules],
        "requires_grad": [p.requires_grad for p in model.parameters()],
        "grads": [id(p.grad) for p in model.parameters()],
        "hooks": [
            (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks)) for m in modules
        ],
        "names": [list(m._buffers) + list(m._parameters) + list(m._modules) for m in modules],
        "python": random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),
        "torch": torch.get_rng_state().tolist(),
    }


def ruin(model):
    """Everything a script or an analysis might do."""
    model.train()
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point() and tensor.is_contiguous():
                tensor.add_(torch.randn(tensor.shape)).mul_(np.random.rand() + random.random())
    for parameter in model.parameters():
        parameter.requires_grad_(not parameter.requires_grad)
        parameter.data = parameter.data.clone() * 2
        parameter.grad = torch.ones_like(parameter)
    for module in list(model.modules()):
        module.register_forward_hook(lambda *_: None)
        module.register_forward_pre_hook(lambda *_: None, with_kwargs=True)
        module.register_full_backward_hook(lambda *_: None)
        module.register_buffer("cache", torch.zeros(2))
    next(iter(model.children())).weight = nn.Parameter(torch.zeros(1))


@pytest.mark.parametrize("name", ["tied", "conv"])
def test_that_a_model_is_put_back(name, request):
    model = request.getfixturevalue(name)
    before = everything(model)
    with preserved(model):
        ruin(model)
        assert everything(model) != before
    assert everything(model) == before


def test_that_a_model_is_put_back_after_an_error(conv):
    before = everything(conv)
    with pytest.raises(KeyError), preserved(conv):
        ruin(conv)
        raise KeyError
    assert everything(conv) == before


def test_that_a_model_is_put_back_when_a_generator_is_closed(conv):
    def work():
        with preserved(conv):
            ruin(conv)
            yield

    before = everything(conv)
    running = work()
    next(running)
    running.close()
    assert everything(conv) == before


def test_that_nan_payloads_and_channels_last_survive(conv):
    conv.to(memory_format=torch.channels_last)
    with torch.no_grad():
        conv[0].weight.view(torch.int32)[0, 0, 0, 0] = 0x7FC01234
    before = everything(conv)
    with preserved(conv):
        ruin(conv)
    assert everything(conv) == before
    assert conv[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_that_gradients_and_train_mode_are_kept(conv):
    conv.train()
    conv(torch.ones(2, 3, 8, 8)).sum().backward()
    before = everything(conv)
    with preserved(conv):
        conv.zero_grad()
        conv.eval()
    assert everything(conv) == before


def test_that_a_scripted_module_is_put_back():
    model = torch.nn.Sequential(nn.Linear(3, 2))
    with pytest.warns(DeprecationWarning):
        scripted = torch.jit.script(model)
    before = [p.detach().clone() for p in scripted.parameters()]
    with preserved(scripted), torch.no_grad():
        scripted.train()
        next(iter(scripted.parameters())).zero_()
    assert all(torch.equal(a, b) for a, b in zip(scripted.parameters(), before, strict=True))


class _Keeping(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.hidden = nn.Linear(2, 2), None
        self.seen, self.table, self.last = [1], {"a": 2}, deque([3], maxlen=2)

    def forward(self, x):
        self.hidden, self.made = self.lin(x), True
        self.seen.append(x)
        self.table["b"] = x
        self.last.append(x)
        return self.hidden


@pytest.mark.parametrize("keeping", [preserved, kept_attributes])
def test_that_what_modules_keep_comes_back(keeping):
    model = nn.Sequential(_Keeping())
    kept = model[0]
    seen, table = kept.seen, kept.table
    with keeping(model):
        model(torch.ones(1, 2))
    assert kept.hidden is None and not hasattr(kept, "made")
    assert (kept.seen, kept.table, list(kept.last)) == ([1], {"a": 2}, [3])
    assert kept.seen is seen and kept.table is table


def test_that_buffers_that_grow_shrink_again():
    model = nn.Module()
    model.register_buffer("one", torch.empty(0))
    model.register_buffer("two", torch.empty(0))
    with preserved(model):
        model.one.resize_(4).fill_(1.0)
        model.two.resize_(3).fill_(1.0)
    assert model.one.shape == model.two.shape == (0,)

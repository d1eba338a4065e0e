"""``landscope_project.py`` written for somebody's repository: it runs where the text says enough."""

import textwrap

import pytest
import torch

from landscope.contract.errors import OptionError, ScriptError
from landscope.contract.options import EngineOptions
from landscope.project.adapting.new_script import new_script
from landscope.project.opening import open_subject
from landscope.project.spec import load_project

NET = """
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, width)

        def forward(self, x):
            return self.fc(x).relu()

    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.first, self.block, self.out = nn.Linear(3, width), Block(width), nn.Linear(width, 2)

        def forward(self, x):
            return self.out(self.block(self.first(x)))
"""
SAMPLES = """
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        def __init__(self, train):
            self.n = 20 if train else 10

        def __len__(self):
            return self.n

        def __getitem__(self, i):
            return torch.full((3,), i / self.n), i % 2
"""
GUARD = """
    if __name__ == "__main__":
        raise SystemExit("training was not to start")
"""
FLAT = f"""
    {NET}
    {SAMPLES}

    def get_loaders(batch_size=5):
        train_loader = DataLoader(Samples(True), batch_size=batch_size, shuffle=True)
        val_loader = DataLoader(Samples(False), batch_size=batch_size)
        return train_loader, val_loader

    model = Net(6)
    {GUARD}
"""
PARSED_IN_MAIN = f"""
    import argparse
    from nets import Net
    from samples import Samples

    def accuracy(output, target):
        return (output.argmax(1) == target).float().mean()

    def train_one_epoch(model, loader):
        raise RuntimeError("not to be run")

    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("data")
        parser.add_argument("--hidden-width", "-w", default=7, type=int)
        parser.add_argument("--batch-size", default=4, type=int)
        parser.add_argument("--verbose", action="store_true")
        args = parser.parse_args()
        model = Net(args.hidden_width)
        train_one_epoch(model, Samples(train=True))
    {GUARD}
"""
DETECTOR = {
    "main.py": f"""
        import argparse
        import util.misc as utils
        from datasets import build_dataset
        from engine import evaluate, train_one_epoch
        from models import build_model

        def get_args_parser():
            parser = argparse.ArgumentParser("detector", add_help=False)
            parser.add_argument("--width", default=6, type=int)
            parser.add_argument("--batch_size", default=5, type=int)
            parser.add_argument("--device", default="cuda")
            return parser

        def main(args):
            model, criterion, postprocessors = build_model(args)
            dataset_train = build_dataset(image_set="train", args=args)
            loader = DataLoader(dataset_train, collate_fn=utils.collate_fn)
        {textwrap.indent(textwrap.dedent(GUARD), " " * 8)}
    """,
    "engine.py": "def evaluate(model): ...\ndef train_one_epoch(model): ...",
    "util/__init__.py": "",
    "util/misc.py": """
        import torch

        def collate_fn(samples):
            xs, targets = zip(*samples)
            return torch.stack(xs), list(targets)
    """,
    "datasets/__init__.py": """
        from .boxes import Boxes

        def build_dataset(image_set, args):
            if image_set == "val":
                return Boxes(10)
            return Boxes(20)
    """,
    "datasets/boxes.py": """
        import torch
        from torch.utils.data import Dataset

        class Boxes(Dataset):
            def __init__(self, n):
                self.n = n

            def __len__(self):
                return self.n

            def __getitem__(self, i):
                return torch.full((3,), float(i)), {"label": torch.tensor(i % 2), "name": str(i)}
    """,
    "models/__init__.py": """
        from .detr import build

        def build_model(args):
            return build(args)
    """,
    "models/detr.py": """
        import torch
        from torch import nn

        class DETR(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.body, self.head = nn.Linear(3, width), nn.Linear(width, 2)

            def forward(self, x):
                return {"logits": self.head(self.body(x).relu())}

        class SetCriterion(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight_dict = {"loss_ce": 2.0}
                self.register_buffer("empty_weight", torch.ones(2))

            def forward(self, outputs, targets):
                labels = torch.stack([t["label"] for t in targets])
                ce = nn.functional.cross_entropy(outputs["logits"], labels, self.empty_weight)
                return {"loss_ce": ce, "class_error": 100 * ce}

        def build(args):
            device = torch.device(args.device)
            model = DETR(args.width).to(device)
            criterion = SetCriterion()
            postprocessors = {"bbox": None}
            return model, criterion, postprocessors
    """,
}
NETWORK = '__import__("torch").nn.Linear(3, 2)'
LAYOUTS = {
    "flat": {"train.py": FLAT},
    "argparse inside main": {"train.py": PARSED_IN_MAIN, "nets.py": NET, "samples.py": SAMPLES},
    "detector": DETECTOR,
    "package with relative imports": {
        "proj/__init__.py": "",
        "proj/common.py": SAMPLES,
        "proj/exp/__init__.py": "",
        "proj/exp/nets.py": NET,
        "proj/exp/train.py": f"""
            from ..common import DataLoader, Samples
            from .nets import Net

            WIDTH = 5

            def make_net(width):
                return Net(width)

            def loader(split="train"):
                return DataLoader(Samples(split == "train"), batch_size=5)
            {textwrap.indent(textwrap.dedent(GUARD), " " * 12)}
        """,
    },
    "relative imports without __init__": {
        "exp/nets.py": NET,
        "exp/samples.py": SAMPLES,
        "exp/train.py": """
            from .nets import Net
            from .samples import Samples

            net = Net(4)
        """,
    },
    "src": {
        "setup.py": "raise SystemExit('not to be run')",
        "src/pkg/__init__.py": "from pkg.model import build_model",
        "src/pkg/model.py": NET
        + """
    def build_model(cfg):
        return Net(cfg.width)
""",
        "src/pkg/config.py": """
            from dataclasses import dataclass

            @dataclass
            class TrainConfig:
                width: int = 9
                batch_size: int = 5
        """,
        "src/pkg/data.py": SAMPLES
        + """
    def build_dataloader(cfg, is_train):
        return DataLoader(Samples(is_train), batch_size=cfg.batch_size)
""",
        "scripts/train.py": """
            from pkg.config import TrainConfig
            from pkg.data import build_dataloader
            from pkg.model import build_model

            def main():
                config = TrainConfig()
                model = build_model(config)
                loader = build_dataloader(config, is_train=True)
        """,
        "tests/test_model.py": "raise SystemExit('not to be run')",
    },
    "variables": {
        "cifar.py": f"""
            {textwrap.indent(textwrap.dedent(NET), " " * 12).lstrip()}
            {textwrap.indent(textwrap.dedent(SAMPLES), " " * 12).lstrip()}
            trainset, testset = Samples(True), Samples(False)
            trainloader = DataLoader(trainset, batch_size=5)
            testloader = DataLoader(testset, batch_size=5)
            net = Net(width=4)
            criterion = nn.CrossEntropyLoss()
        """,
        "broken.py": "def (:",
    },
    "options in another file": {
        "opts.py": """
            import argparse

            def parse_opts():
                parser = argparse.ArgumentParser()
                parser.add_argument("--width", type=int, default=4)
                return parser.parse_args()
        """,
        "nets.py": NET + "\n    def create_model(opt):\n        return Net(opt.width)\n",
        "samples.py": SAMPLES,
        "main.py": f"""
            from opts import parse_opts
            from nets import create_model
            from samples import Samples
            {textwrap.indent(textwrap.dedent(GUARD), " " * 12)}
        """,
    },
}

LAYOUTS |= {
    "star imports and a zoo of models": {
        "models/__init__.py": "from .alpha import *\nfrom .zeta import *",
        "models/alpha.py": NET.replace("Net(", "Alpha("),
        "models/zeta.py": NET,
        "main.py": f"""
            from models import *
            {textwrap.indent(textwrap.dedent(SAMPLES), " " * 12).lstrip()}
            trainloader = DataLoader(Samples(True), batch_size=5)
            testloader = DataLoader(Samples(False), batch_size=5)
            net = Net(3)
        """,
    },
    "one batch at a time": {
        "nets.py": NET,
        "train.py": """
            import torch
            from nets import Net

            def get_batch(split):
                x = torch.randn(2, 3)
                y = torch.zeros(2, dtype=torch.long)
                return x, y

            if torch.cuda.is_available():
                device = "cuda"
            model = Net(5)
        """,
    },
    "a factory of another package": {
        "data.py": SAMPLES
        + """
    def build_dataset(is_train, args):
        return Samples(is_train), 2
""",
        "train.py": """
            import argparse
            from collections import OrderedDict as make_model
            from importlib import import_module as create_model
            from data import build_dataset

            def get_args_parser():
                parser = argparse.ArgumentParser()
                parser.add_argument("--model", default="made_by_another")
                return parser

            def main(args):
                model = create_model(args.model, package=None)
                dataset, args.n = build_dataset(True, args)
        """,
    },
}


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return root


def opened(root):
    spec = load_project(root)
    assert spec.script == str(root / "landscope_project.py")
    cpu = EngineOptions(device="cpu")
    return open_subject(type(spec)(root=spec.root, script=spec.script, trusted=True, engine=cpu))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_that_the_file_runs_as_it_was_written(tmp_path, layout):
    root = write(tmp_path / "repo", LAYOUTS[layout])
    made = new_script(root)
    if layout == "a factory of another package":
        assert "_create_model(args.model, package=None)" in made.file.read_text()
        made.file.write_text(
            made.file.read_text().replace("_create_model(args.model, package=None)", NETWORK)
        )
    subject = opened(root)
    assert made.to_fill_in == 0, made.file.read_text()
    assert subject.data.samples("train") == (32 if layout == "one batch at a time" else 20)
    values = subject.loss(subject.model, subject.data.batches("train")[0])
    assert torch.isfinite(values).all()
    assert "Block" not in type(subject.model).__name__
    if "test" in subject.data.splits and layout != "one batch at a time":
        assert subject.data.samples("test") == 10


def test_that_a_detector_uses_its_own_criterion_and_collate_function(tmp_path):
    root = write(tmp_path / "repo", DETECTOR)
    text = new_script(root).file.read_text()
    subject = opened(root)
    batch = subject.data.batches("train")[0]
    criterion = subject.script.module.criterion
    outputs = subject.model(batch.value[0])
    expected = 2 * criterion(outputs, batch.value[1])["loss_ce"]
    assert torch.allclose(subject.loss(subject.model, batch), expected)
    assert "args = _get_args_parser().parse_args()" in text
    assert subject.data.splits == ("train", "test")


def test_that_a_folder_of_no_networks_gets_a_template_with_what_was_found(tmp_path):
    root = write(tmp_path / "repo", {"read.py": SAMPLES, "broken.py": "def (:"})
    made = new_script(root)
    text = made.file.read_text()
    assert made.to_fill_in == 2
    assert "read.py:Samples(train)" in text
    assert "broken.py line 1: syntax error" in text
    with pytest.raises(ScriptError, match=r"in build_model\(\): say in build_model"):
        opened(root)


def test_that_a_script_that_is_made_for_us_loses_nothing(tmp_path):
    script = (
        NET
        + """
    def build_model(run):
        assert run == "plain"
        return Net(4)

    def build_data():
        return [(torch.ones(4, 3), torch.zeros(4, dtype=torch.long))]

    def loss(model, batch):
        return model(batch[0]).sum() * 0 + 7

    def metrics(model, batch):
        return {"ours": torch.tensor(3.0)}
"""
    )
    root = write(tmp_path / "repo", {"model.py": script})
    (root / "plain").mkdir()
    torch.save({"fc": torch.ones(1)}, root / "plain" / "a.pt")
    assert new_script(root).loss == "loss"
    spec = load_project(root)
    cpu = EngineOptions(device="cpu")
    project = type(spec)(root=spec.root, script=spec.script, runs=spec.runs, trusted=True, engine=cpu)
    subject = open_subject(project, "plain")
    batch = subject.data.batches("train")[0]
    assert float(subject.loss(subject.model, batch)) == 7
    assert float(subject.metrics(subject.model, batch)["ours"]) == 3


def test_that_names_can_be_said_and_wrong_ones_are_told(tmp_path):
    root = write(tmp_path / "repo", LAYOUTS["argparse inside main"])
    text = new_script(
        root, root / "train.py", model="nets.py:Block", data="samples.py:Samples"
    ).file.read_text()
    assert "from nets import Block as _Block" in text
    with pytest.raises(OptionError, match=r"nets\.py has no 'Nett'"):
        new_script(root, model="nets.py:Nett")
    with pytest.raises(OptionError, match="There is no file"):
        new_script(root, model="net.py:Net")
    with pytest.raises(OptionError, match="There is no script"):
        new_script(root, root / "missing.py")
    with pytest.raises(OptionError, match="is no folder"):
        new_script(root / "missing")


def test_that_what_somebody_wrote_or_edited_is_only_replaced_when_forced(tmp_path):
    root = write(tmp_path / "repo", LAYOUTS["flat"])
    file = new_script(root).file
    new_script(root)  # as it was written: may be written anew
    file.write_text(file.read_text().replace("build_data", "build_data "))
    edited = file.read_text()
    with pytest.raises(OptionError, match="written or edited by somebody"):
        new_script(root)
    assert file.read_text() == edited
    new_script(root, force=True)
    assert file.read_text() != edited


def test_that_the_project_may_be_moved(tmp_path):
    root = write(tmp_path / "repo", LAYOUTS["src"])
    new_script(root)
    moved = root.rename(tmp_path / "elsewhere")
    assert opened(moved).data.samples("train") == 20


@pytest.mark.parametrize("script", ["def build_model(args): ...\ndef build_data(): ...", "x = 1", "exit(3)"])
def test_that_the_error_of_a_script_that_is_not_made_for_us_names_the_command(tmp_path, script):
    root = write(tmp_path / "my repo", {"model.py": script})
    spec = load_project(root / "model.py")
    with pytest.raises(ScriptError, match=rf"landscope new-script '{root}'"):
        open_subject(type(spec)(root=spec.root, script=spec.script, trusted=True))


def test_that_work_at_import_and_a_guess_among_models_stand_in_the_file(tmp_path):
    zoo = {"nets/a.py": NET.replace("Net(", "A("), "nets/b.py": NET.replace("Net(", "B(")}
    text = new_script(write(tmp_path / "zoo", zoo)).file.read_text()
    assert "# No script says which model it trains; others:" in text
    assert "B" in text.split("others:")[1]
    loop = (
        LAYOUTS["flat"]["train.py"]
        + "\n    def train(epoch): ...\n    for epoch in range(3):\n        train(epoch)\n"
    )
    text = new_script(write(tmp_path / "loop", {"train.py": loop})).file.read_text()
    assert "# train.py begins its work when it is imported (line " in text


PARSERS = f"""
    import argparse
    {NET}
    {SAMPLES}

    config_parser = parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--config", default="")
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=6)
    parser.add_argument("--save", action="store_true", default=True)

    def main():
        args = parser.parse_args()
        model = Net(args.hidden)
        data = Samples(True)
    {GUARD}
"""
FAMILY = """
    import torch
    from torch import nn

    class BaseModule(nn.Module):
        def log(self, *_words): ...

    class BaseDataset(torch.utils.data.Dataset):
        def __len__(self): return 8

    class MyNet(BaseModule):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 2)
        def forward(self, x): return self.lin(x)

    class MySamples(BaseDataset):
        def __getitem__(self, i): return torch.full((3,), i / 8), i % 2
"""
SAMPLERS = f"""
    import torch
    {NET}
    {SAMPLES}

    def load_data(root="."):
        dataset, dataset_test = Samples(True), Samples(False)
        train_sampler, test_sampler = list(range(20)), list(range(10))
        return dataset, dataset_test, train_sampler, test_sampler

    def build_model(): return Net(6)
"""
ELSEWHERE = {
    "model.py": """
        from torch import nn
        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.lin, self.out = nn.Linear(3, width), nn.Linear(width, 2)
            def forward(self, x): return self.out(self.lin(x))
    """,
    "main.py": f"""
        import argparse
        import model
        {textwrap.indent(textwrap.dedent(SAMPLES), " " * 8)}
        parser = argparse.ArgumentParser()
        width_of_all = 6

        def build_data(): return DataLoader(Samples(True), batch_size=4)

        if __name__ == "__main__":
            net = model.Net(width_of_all)
    """,
}
BATCHES = """
    import torch
    from torch import nn
    device = "cpu"

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 2)
        def forward(self, x): return self.lin(x)

    def get_batch(split):
        x, y = torch.ones(4, 3), torch.zeros(4).long()
        return x.to(device), y.to(device)
"""


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"train.py": PARSERS}, ["args = _parser.parse_args()", "_Net(width=args.hidden)"]),
        ({"train.py": FAMILY}, ["return _MyNet()", "_MySamples()"]),
        ({"train.py": SAMPLERS}, ['parts[0] if split == "train" else parts[1]']),
        (ELSEWHERE, ["_Net(width=6)"]),
        ({"train.py": BATCHES}, ["[_get_batch(split=split) for _ in range(16)]"]),
    ],
    ids=["parsers", "families", "samplers", "called elsewhere", "batches"],
)
def test_that_what_a_repository_means_is_told_from_its_text(tmp_path, files, lines):
    root = write(tmp_path / "repo", files)
    text = new_script(root).file.read_text()
    assert [line for line in lines if line not in text] == []
    assert opened(root).data.batches("train")

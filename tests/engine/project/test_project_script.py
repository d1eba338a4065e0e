"""Scripts: loaded as their authors run them, contained, their errors one sentence with file and line."""

import builtins
import gc
import logging
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from landscope.contract.errors import DataError, LandscopeError, ScriptError, TrustError
from landscope.contract.job import CancelToken
from landscope.contract.options import EngineOptions, ProjectSpec
from landscope.project.measuring.measure import measure
from landscope.project.opening import open_subject
from landscope.project.script import load_script

PROJECTS = Path(__file__).parents[2] / "data" / "projects"
HEAD = "import torch\nfrom torch import nn\n"
DATA = "\ndef build_data():\n    return [(torch.ones(4, 3), torch.tensor([0, 1, 0, 1]))] * 3\n"
MODEL = "\ndef build_model():\n    return nn.Linear(3, 2)\n"


def measured(spec):
    return measure(open_subject(spec), "train", CancelToken())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\ndef build_model(:\n", r"^model\.py line 2: syntax error"),
        (HEAD + DATA, r"^model\.py line 5: the script ends without a function build_model\(\)"),
        (HEAD + MODEL, r"^model\.py line 5: the script ends without a function build_data\(\)"),
        (
            "import no_such_module_here\n",
            r"^model\.py line 1: the module 'no_such_module_here' is not installed",
        ),
        ("import sys\nsys.exit(2)\n", r"^model\.py line 2: the script ended itself .*exit code 2"),
        ("x = 1\ninput()\n", r"^model\.py line 2: EOFError.*asks for input.*give it a default\.$"),
        (
            "import sys\nx = sys.argv[1]\n",
            r"^model\.py line 2: IndexError in its import.*Give arguments by --args",
        ),
        ("quit()\n", r"^model\.py line 1: the script ended itself"),
        ("import torch\ntorch.zeros(1).cuda()\n", r"^model\.py line 2: .*There is no CUDA here"),
        ("import pdb\npdb.set_trace()\n", r"^model\.py.*: BdbQuit in its import\. The script asks for input"),
        (
            HEAD + DATA + "def build_model(args): ...\n",
            r"^model\.py line 6: build_model\(\) needs the argument 'args'",
        ),
        (HEAD + DATA + "def build_model():\n    return 3\n", r"^model\.py line 6: build_model\(\) gave int"),
        (
            HEAD + DATA + "def build_model():\n    1 / 0\n",
            r"^model\.py line 7: ZeroDivisionError in build_model\(\)",
        ),
        (
            HEAD + MODEL + DATA + "def loss(model, batch):\n    return {}\n",
            r"^model\.py line 9: loss\(\) gave dict on batch 1 of 3 \(train\)",
        ),
        (
            HEAD + MODEL + DATA + "def loss(model, batch):\n    return torch.ones(2, 2)\n",
            r"^model\.py line 9: loss\(\) gave shape \(2, 2\) .*scalar or \(4,\)",
        ),
        (
            HEAD + MODEL + "def build_data():\n    return [(torch.ones(4, 5), torch.zeros(4).long())]\n",
            r"^model\.py line 4: RuntimeError in the forward pass on batch 1 of 1 \(train\): mat1 and mat2",
        ),
        (
            HEAD + MODEL + "def build_data():\n    return [(torch.ones(4, 3), torch.rand(4))]\n",
            r"^model\.py line 6: The default loss does not fit: the model gave \(4, 2\) float32.*write loss",
        ),
        (
            HEAD + MODEL + "def build_data():\n    return [(torch.ones(4, 3), None, torch.zeros(4))]\n",
            r"The default loss takes batches \(input, labels\) or a dict, not tuple.*write loss\(",
        ),
    ],
)
def test_that_an_error_is_one_sentence_with_file_and_line(project, text, sentence):
    with pytest.raises(ScriptError, match=sentence) as caught:
        measured(project(text))
    assert "\n" not in caught.value.sentence


ONE = "    return nn.functional.cross_entropy(model(batch[0]), batch[1])"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "import sys\nsys.exit('no data here')\n",
            r"line 2: the script ended itself in its import \(no data here\)",
        ),
        (
            "open('data/x.csv')\n",
            r"line 1: FileNotFoundError .* paths begin at the script's folder\.$",
        ),
        (
            "import os\nrank = int(os.environ['A_RANK'])\n",
            r"line 2: KeyError .*'A_RANK'\. It is a variable of the environment: set it before",
        ),
        ("raise GeneratorExit\n", r"line 1: GeneratorExit in its import"),
        ("class Odd(BaseException): ...\nraise Odd('odd')\n", r"line 2: Odd in its import: odd\."),
        (
            "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute\n",
            r"line 3: Mute in its import: it cannot be printed",
        ),
        ("raise ValueError('one\\ntwo')\n", r"line 1: ValueError in its import: one two\."),
        (
            HEAD + DATA + "def build_model():\n    return nn.Linear\n",
            r"line 6: .* gave the class Linear, not a model",
        ),
        (
            HEAD + DATA + "def build_model():\n    return nn.Linear(3, 2, device='meta')\n",
            r"line 6: NotImplementedError in moving the model to cpu",
        ),
        (
            HEAD + MODEL + DATA + "def loss(model, batch):\n" + ONE + " + 0j\n",
            r"line 9: loss\(\) gave complex numbers",
        ),
        (
            HEAD + MODEL + DATA + "def metrics(model, batch):\n    return {'a': 'high'}\n",
            r"line 9: TypeError in metrics\(\)",
        ),
        (
            HEAD + MODEL.replace("nn.Linear(3, 2)", "L()") + "def build_data():\n    return [(1, 2, 3)]\n"
            "class L(nn.Linear):\n    def __init__(self): super().__init__(3, 2)\n"
            "    def training_step(self): ...\n",
            r"write loss\(model, batch\) in the script; it may return model.training_step\(batch, 0\)\.",
        ),
    ],
)
def test_that_odd_errors_are_one_sentence_too(project, text, sentence):
    with pytest.raises(ScriptError, match=sentence) as caught:
        measured(project(text))
    assert "\n" not in caught.value.sentence and caught.value.sentence.startswith("model.py")


def test_that_a_script_that_interrupts_itself_ends_no_worker(project):
    spec = project("raise KeyboardInterrupt\n")
    with ThreadPoolExecutor(1) as worker:
        assert isinstance(worker.submit(load_script, spec.script).exception(), ScriptError)
    with pytest.raises(KeyboardInterrupt):  # in the main thread it is the person's
        load_script(spec.script)


def test_that_a_device_that_is_not_here_harms_nobody(project):
    assert measured(project(HEAD + "torch.set_default_device('cuda')\n" + MODEL + DATA)).samples == 12
    assert torch.get_default_device() == torch.device("cpu")


def test_that_a_loss_that_raises_in_the_second_batch_names_the_batch(project):
    text = (
        HEAD
        + MODEL
        + DATA
        + (
            "calls = []\n"
            "def loss(model, batch):\n"
            "    calls.append(1)\n"
            "    if len(calls) == 7:  # five calls are the trial\n"
            "        raise ValueError('no second batch')\n"
            "    return model(batch[0]).sum()\n"
        )
    )
    with pytest.raises(
        ScriptError, match=r"^model\.py line 13: ValueError in loss\(\) on batch 2 of 3 \(train\): no s"
    ):
        measured(project(text))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return []", r"line 5: build_data\(\) gave no batches for 'train'"),
        ("return 3", r"line 5: build_data\(\) gave int, which has no batches"),
    ],
)
def test_that_data_that_cannot_be_used_is_told(project, body, sentence):
    with pytest.raises(DataError, match=sentence):
        measured(project(HEAD + MODEL.lstrip() + f"def build_data():\n    {body}\n"))


def test_that_an_error_while_drawing_names_the_batch(project):
    text = (
        HEAD
        + MODEL
        + "def build_data():\n    yield torch.ones(2, 3), torch.tensor([0, 1])\n    raise OSError('gone')\n"
    )
    with pytest.raises(ScriptError, match=r"line 8: OSError in batch 2 of the data \(train\): gone"):
        measured(project(text))


def test_that_what_argparse_printed_is_in_the_details(project, capsys):
    text = (
        "import argparse\n"
        "p = argparse.ArgumentParser()\n"
        "p.add_argument('--data', required=True)\n"
        "p.parse_args()\n"
    )
    said = r"line 4: the script does not run with these arguments \(.*required: --data\); give .* --args"
    with pytest.raises(ScriptError, match=said) as caught:
        load_script(project(text).script)
    assert "the following arguments are required: --data" in caught.value.detail


TALKATIVE = (
    HEAD
    + MODEL
    + DATA
    + """
import argparse, faulthandler, io, logging, sys
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
args, rest = parser.parse_known_args()
assert (args.width, rest) == (24, ["--more"])
sys.stdout.reconfigure(encoding="utf-8")
print("plain", end="\\r", flush=True)
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
print("wrapped")
print("x" * 1_000_000, file=sys.stderr)
logging.getLogger("mine").addHandler(logging.StreamHandler())
breakpoint()

def build_model():
    logging.getLogger("mine").error("from a handler made at import")
    print("late")
    return nn.Linear(3, 2)
"""
)


def test_that_a_script_that_is_given_arguments_may_print_as_it_likes(project, capsys):
    spec = msgspec.structs.replace(project(TALKATIVE), arguments=("--width", "24", "--more"))
    assert measured(spec).samples == 12
    printed = capsys.readouterr()
    assert "wrapped" in printed.out and "late" in printed.out
    assert "from a handler made at import" in printed.err


def test_that_an_untrusted_script_does_not_run(project, tmp_path):
    spec = project(f"open({str(tmp_path / 'was_run')!r}, 'w')\n")
    with pytest.raises(TrustError, match="not trusted"):
        open_subject(msgspec.structs.replace(spec, trusted=False))
    assert not (tmp_path / "was_run").exists()


GLOBALS = (
    HEAD
    + """
import os, random, sys, warnings
import numpy as np
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(1)
torch.manual_seed(5); random.seed(5); np.random.seed(5)
np.seterr(all="raise")
warnings.simplefilter("error")
os.makedirs("inner", exist_ok=True)
os.chdir("inner")
os.environ["SET_BY_SCRIPT"] = "yes"
sys.argv.append("--more")
import builtins, gc, logging, multiprocessing, signal, tempfile, threading
multiprocessing.set_start_method("spawn", force=True)
logging.basicConfig(level=1)
logging.disable(50)
signal.signal(signal.SIGINT, signal.SIG_IGN)
builtins.print = lambda *_words, **_how: None
sys.excepthook = threading.excepthook = sys.displayhook = warnings.showwarning = print
sys.setswitchinterval(0.5)
tempfile.tempdir = "elsewhere"
torch.load = torch.save = None
torch.nn.modules.module.register_module_forward_hook(lambda _module, _inputs, output: output + 1)
torch.autocast("cpu").__enter__()
sys.setprofile(lambda *_event: None)
threading.setprofile(print)
sys.setrecursionlimit(5000)
gc.disable()
torch.backends.cudnn.deterministic = True

def build_model():
    assert torch.get_default_dtype() == torch.float64 and os.path.basename(os.getcwd()) == "inner"
    assert os.environ["SET_BY_SCRIPT"] == "yes" and os.environ["MPLBACKEND"] == "Agg"
    return nn.Linear(3, 2)

def build_data():
    return [(torch.ones(4, 3), torch.zeros(4).long())]

def loss(model, batch):
    return nn.functional.cross_entropy(model(batch[0] + torch.zeros(3)), batch[1])
"""
)


def surroundings():
    return {
        "dtype": torch.get_default_dtype(),
        "grad": torch.is_grad_enabled(),
        "threads": torch.get_num_threads(),
        "torch": torch.get_rng_state().tolist(),
        "python": random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),
        "errors": np.geterr(),
        "filters": list(warnings.filters),
        "folder": str(Path.cwd()),
        "environ": dict(os.environ),
        "arguments": list(sys.argv),
        "input": sys.stdin,
        "start": multiprocessing.get_start_method(allow_none=True),
        "logging": (logging.root.level, list(logging.root.handlers), logging.root.manager.disable),
        "signals": (signal.signal, signal.getsignal(signal.SIGINT)),
        "hooks": (sys.excepthook, threading.excepthook, warnings.showwarning, builtins.print),
        "python_itself": (sys.getrecursionlimit(), gc.isenabled(), sys.getswitchinterval()),
        "replaced": (sys.displayhook, tempfile.tempdir, torch.load, torch.save),
        "module_hooks": dict(torch.nn.modules.module._global_forward_hooks),
        "autocast": torch.is_autocast_enabled("cpu"),
        "tracing": (sys.gettrace(), sys.getprofile(), threading.getprofile()),
        "cudnn": torch.backends.cudnn.deterministic,
    }


def test_that_what_a_script_changes_stays_its_own(project):
    before = surroundings()
    subject = open_subject(project(GLOBALS))
    assert next(subject.model.parameters()).dtype == torch.float64
    assert subject.loss(subject.model, subject.data.batches("train")[0]).dtype == torch.float64
    assert surroundings() == before


def test_that_an_error_leaves_nothing_changed_either(project):
    before = surroundings()
    with pytest.raises(ScriptError):
        open_subject(project(GLOBALS + "\nraise ValueError('late')\n"))
    assert surroundings() == before


def trusted(script, *, root=None):
    return ProjectSpec(
        root=str(root or script.parent), script=str(script), trusted=True, engine=EngineOptions(device="cpu")
    )


def test_that_siblings_with_common_names_are_the_scripts_own(monkeypatch):
    for name in ("engine", "app", "utils", "nets"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    theirs = {name: sys.modules[name] for name in ("engine", "app", "utils", "nets")}
    subject = open_subject(trusted(PROJECTS / "siblings" / "main.py"))
    assert tuple(next(subject.model.parameters()).shape) == (5, 3)
    assert subject.data.samples("train") == 12
    subject.close()
    assert {name: sys.modules[name] for name in theirs} == theirs
    assert not [path for path in sys.path if "siblings" in path]


def test_that_relative_imports_work():
    subject = open_subject(trusted(PROJECTS / "package" / "proj" / "exp" / "train.py"))
    assert tuple(subject.model.weight.shape) == (4, 3)


def test_that_relative_imports_work_in_folders_that_are_no_packages(tmp_path):
    files = {
        "proj/exp/train.py": HEAD + "from .nets import build_model\nfrom ..common import build_data\n",
        "proj/exp/nets.py": HEAD + "def build_model():\n    return nn.Linear(3, 4)\n",
        "proj/common.py": HEAD + DATA,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subject = open_subject(trusted(tmp_path / "proj" / "exp" / "train.py"))
    assert subject.model.out_features == 4
    subject.close()
    assert not [name for name in sys.modules if name.split(".")[0] == "proj"]


@pytest.mark.parametrize("module", ["src.nets", "nets"])
def test_that_a_script_in_a_folder_imports_from_the_whole_project(tmp_path, module):
    for folder, text in (
        (
            "scripts/train.py",
            HEAD + f"from {module} import build\n" + DATA + "def build_model():\n    return build()\n",
        ),
        ("src/nets.py", HEAD + "def build():\n    return nn.Linear(3, 4)\n"),
    ):
        (tmp_path / folder).parent.mkdir()
        (tmp_path / folder).write_text(text)
    before = list(sys.path)
    subject = open_subject(trusted(tmp_path / "scripts" / "train.py", root=tmp_path))
    assert subject.model.out_features == 4
    subject.close()
    assert module not in sys.modules and sys.path == before


def test_that_two_projects_in_turn_do_not_collide(tmp_path):
    shutil.copytree(PROJECTS / "siblings", tmp_path / "other")
    (tmp_path / "other" / "app.py").write_text("WIDTH = 7\n")
    widths = []
    for script in (
        PROJECTS / "siblings" / "main.py",
        tmp_path / "other" / "main.py",
        PROJECTS / "siblings" / "main.py",
    ):
        widths.append(open_subject(trusted(script)).model[0].out_features)
    assert widths == [5, 7, 5]


def test_that_a_script_loaded_again_finds_its_siblings_and_leaves_no_path(tmp_path):
    before = list(sys.path)
    for width in ("5", "6"):
        shutil.copytree(PROJECTS / "siblings", tmp_path / "again", dirs_exist_ok=True)
        (tmp_path / "again" / "app.py").write_text(f"WIDTH = {width}\n# {width * 20}\n")
        subject = open_subject(trusted(tmp_path / "again" / "main.py"))
        assert subject.model[0].out_features == int(width)
    subject.close()
    assert sys.path == before


def test_that_odd_paths_load(tmp_path):
    folder = tmp_path / "模型 dir é #1"
    folder.mkdir()
    (folder / "my model (v2)-final.py").write_text(HEAD + MODEL + DATA)
    assert open_subject(trusted(folder / "my model (v2)-final.py")).data.samples("train") == 12


def test_that_the_first_model_of_a_tuple_is_used_and_said(project):
    subject = open_subject(
        project(HEAD + DATA + "def build_model():\n    return nn.Linear(3, 2), nn.MSELoss(), {}\n")
    )
    assert isinstance(subject.model, torch.nn.Linear)
    assert any("gave 3 things" in notice.sentence for notice in subject.notices)


def test_that_replicas_are_built_alike(project):
    subject = open_subject(project(HEAD + MODEL + DATA))
    assert torch.equal(subject.build_replica().weight, subject.model.weight)


def test_that_the_run_is_told_to_build_model(project):
    spec = project(HEAD + DATA + "def build_model(run):\n    return nn.Linear(3, 2 + len(run))\n")
    spec = msgspec.structs.replace(spec, runs=(str(Path(spec.root) / "runs" / "one"),))
    assert open_subject(spec, "one").model.out_features == 5


def test_that_every_failure_is_of_the_one_family(project):
    with pytest.raises(LandscopeError):
        load_script(Path(project().root) / "missing.py")


def test_that_files_say_no_nonsense_of_a_model_without_parameters(project):
    spec = project(checkpoints=3)
    without = (
        Path(spec.script).read_text().replace("return nn.Sequential", "return nn.Flatten() or nn.Sequential")
    )
    Path(spec.script).write_text(without)
    subject = open_subject(spec, "one")
    assert len(subject.names) == 3 and any("no parameters" in notice.sentence for notice in subject.notices)
    assert not any("identical" in notice.sentence for notice in subject.notices)
    assert not any("same weights" in n or "ignored" in n for i in subject.listed.checkpoints for n in i.notes)

"""Projects described: found in folders, written to landscope.toml and read back."""

import subprocess
import sys

import msgspec
import pytest
import torch

from landscope.contract.errors import OptionError
from landscope.contract.options import DataOptions, EngineOptions, LandscapeOptions, ProjectSpec
from landscope.project.spec import load_project, run_folder, run_names, save_project
from landscope.project.trust import is_trusted, revoke, trust, trusted_roots


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def save_checkpoint(folder):
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({"w": torch.zeros(2)}, folder / "step_1.pt")
    return str(folder)


def test_that_a_folder_gives_its_script_and_runs(tmp_path):
    script = write(tmp_path / "model.py", "def build_model(): ...")
    runs = [save_checkpoint(tmp_path / "runs" / name) for name in ("a", "b")]
    spec = load_project(tmp_path)
    assert (spec.root, spec.script, spec.runs) == (str(tmp_path), str(script), tuple(runs))
    assert not spec.trusted


def test_that_the_only_file_with_build_model_is_the_script(tmp_path):
    write(tmp_path / "helpers.py", "x = 1")
    write(tmp_path / "broken.py", "def build_model(:")
    script = write(tmp_path / "train.py", "from nets import build_model")
    save_checkpoint(tmp_path / "out" / "deep" / "ckpts")
    assert load_project(tmp_path).script == str(script)


def test_that_a_folder_of_checkpoints_alone_has_no_script(tmp_path):
    save_checkpoint(tmp_path)
    spec = load_project(tmp_path)
    assert spec.script == "" and spec.runs == (str(tmp_path),)


def test_that_a_script_in_a_deeper_folder_is_found_nearest_first(tmp_path):
    script = write(tmp_path / "proj" / "exp" / "train.py", "def build_model(): ...")
    write(tmp_path / "proj" / "exp" / "older" / "train.py", "def build_model(): ...")
    runs = (save_checkpoint(tmp_path / "ckpts"),)
    spec = load_project(tmp_path)
    assert (spec.script, spec.runs) == (str(script), runs)


def test_that_one_of_several_scripts_is_never_guessed(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name / "train.py", "def build_model(): ...")
    with pytest.raises(
        OptionError, match=r"2 scripts that define build_model; open one: a.train\.py, b.train"
    ):
        load_project(tmp_path)
    save_checkpoint(tmp_path / "ckpts")
    assert load_project(tmp_path).script == ""


def test_that_a_script_finds_the_runs_of_its_package_and_repository(tmp_path):
    write(tmp_path / "repository" / ".git" / "HEAD")
    script = write(tmp_path / "repository" / "src" / "proj" / "exp" / "train.py", "def build_model(): ...")
    for folder in ("exp", "."):
        write(tmp_path / "repository" / "src" / "proj" / folder / "__init__.py")
    assert load_project(script).runs == ()
    near = save_checkpoint(tmp_path / "repository" / "runs")
    save_checkpoint(tmp_path / "elsewhere")
    assert (load_project(script).root, load_project(script).runs) == (str(tmp_path / "repository"), (near,))


def test_that_a_script_given_by_its_path_keeps_the_options_beside_it(tmp_path):
    write(tmp_path / "model.py", "def build_model(): ...")
    other = write(tmp_path / "other.py", "def build_model(): ...")
    write(tmp_path / "landscope.toml", "script = 'model.py'\narguments = ['--width', '24']\nruns = []\n")
    spec = load_project(other)
    assert (spec.script, spec.arguments) == (str(other), ("--width", "24"))


def test_that_no_code_runs_while_looking_for_the_script(tmp_path):
    marker = tmp_path / "was_run"
    write(tmp_path / "model.py", f"open({str(marker)!r}, 'w')\ndef build_model(): ...")
    assert load_project(tmp_path).script and not marker.exists()


def test_that_a_saved_project_is_read_back(tmp_path):
    spec = ProjectSpec(
        root=str(tmp_path),
        script=str(write(tmp_path / 'my "quoted" model.py')),
        runs=(save_checkpoint(tmp_path / "runs" / "é #1"), "/somewhere/else"),
        engine=EngineOptions(device="cuda:1", threads=2),
        data=DataOptions(samples=64),
        landscape=LandscapeOptions(reach=0.25, normalization="none"),
    )
    save_project(spec)
    assert load_project(tmp_path) == spec
    assert "samples = 64" in (tmp_path / "landscope.toml").read_text()
    assert str(tmp_path) not in (tmp_path / "landscope.toml").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runs = [", "landscope.toml"),
        ("[data]\nsamples = 'many'", "samples"),
        ("[engine]\ncolour = 1", "colour"),
        ("scripts = 'a.py'", "scripts"),
    ],
)
def test_that_a_wrong_file_is_told_in_one_sentence(tmp_path, text, said):
    write(tmp_path / "landscope.toml", text)
    with pytest.raises(OptionError, match=said):
        load_project(tmp_path)


def test_that_nothing_at_a_path_is_told(tmp_path):
    with pytest.raises(OptionError, match="There is nothing at"):
        load_project(tmp_path / "missing")
    with pytest.raises(OptionError, match="neither checkpoints nor a model script"):
        load_project(tmp_path)


def test_that_runs_of_the_same_name_are_told_apart(tmp_path):
    folders = tuple(str(tmp_path / name) for name in ("a/ckpts", "b/ckpts", "c"))
    spec = ProjectSpec(root=str(tmp_path), runs=folders)
    assert run_names(spec) == dict(zip(("a-ckpts", "b-ckpts", "c"), folders, strict=True))
    assert run_folder(spec, "b-ckpts") == folders[1]
    with pytest.raises(OptionError, match="no run 'd'"):
        run_folder(spec, "d")


def test_that_trust_is_remembered_for_the_folder_and_revoked(tmp_path):
    save_checkpoint(tmp_path / "p" / "runs")
    assert not is_trusted(tmp_path / "p")
    trust(tmp_path / "p")
    assert is_trusted(tmp_path / "p") and is_trusted(tmp_path / "p" / "inner")
    assert not is_trusted(tmp_path / "p2") and not is_trusted(tmp_path)
    assert load_project(tmp_path / "p").trusted
    revoke(tmp_path / "p")
    assert trusted_roots() == () and not is_trusted(tmp_path / "p")


def test_that_an_unreadable_list_of_trust_trusts_nothing(tmp_path):
    write(tmp_path / "config" / "trust.json", "{broken")
    assert not is_trusted(tmp_path)


def test_that_a_project_file_cannot_give_itself_trust(tmp_path):
    write(tmp_path / "landscope.toml", "trusted = true")
    with pytest.raises(OptionError, match="trusted"):
        load_project(tmp_path)


def test_that_describing_a_project_needs_no_torch():
    code = (
        "import sys, landscope.project.spec, landscope.project.trust, landscope.project.adapting.candidates; "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_that_the_description_travels(tmp_path):
    save_checkpoint(tmp_path)
    spec = load_project(tmp_path)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(spec), type=ProjectSpec) == spec

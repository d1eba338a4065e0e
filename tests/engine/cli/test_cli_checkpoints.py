"""``landscope info`` on checkpoint files and folders, and ``landscope new-script``."""

import json
import subprocess
import sys

import pytest
import torch

from landscope.cli.main import main


@pytest.fixture
def runs(tmp_path):
    for run, steps in (("plain", (0, 10, 2)), ("deep", (1,))):
        (tmp_path / "runs" / run).mkdir(parents=True)
        for k in steps:
            torch.manual_seed(k)
            state = {f"module.{name}": value for name, value in torch.nn.Linear(3, 2).state_dict().items()}
            file = tmp_path / "runs" / run / f"step_{k}.pt"
            torch.save({"model": state, "step": k}, file)
    (tmp_path / "runs" / "plain" / "page.pt").write_text("<!DOCTYPE html><html>not found</html>")
    return tmp_path / "runs"


def test_that_a_folder_is_listed_in_order_with_reasons(runs, capsys):
    assert main(["info", str(runs)]) == 0
    said = capsys.readouterr().out
    places = [said.index(name) for name in ("step_0.pt", "step_2.pt", "step_10.pt", "page.pt")]
    assert places == sorted(places)
    assert "skipped" in said
    assert "HTML" in said
    assert "module." in said
    assert "step 10" in said


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_that_names_of_files_move_no_cursor(runs, capsys):
    for name in ("new\nline.pt", "\x1b[2Jclear.pt", "\u202etp.exe"):
        torch.save({"weight": torch.ones(2)}, runs / "plain" / name)
    assert main(["info", str(runs)]) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


def test_that_one_file_is_told_alone(runs, capsys):
    assert main(["info", str(runs / "plain" / "step_2.pt")]) == 0
    said = capsys.readouterr().out
    assert "step_2.pt" in said
    assert "step_10.pt" not in said


def test_that_a_file_that_cannot_be_used_has_another_exit_code(runs, capsys):
    assert main(["info", str(runs / "plain" / "page.pt")]) == 2
    assert "HTML" in capsys.readouterr().out


def test_that_the_facts_are_there_for_scripts(runs, capsys):
    assert main(["info", "--json", str(runs)]) == 0
    found = json.loads(capsys.readouterr().out)["runs"]
    assert [run["run"] for run in found] == ["deep", "plain"]
    assert [(one["name"], one["state"], one["step"]) for one in found[1]["checkpoints"]] == [
        ("step_0.pt", "ready", 0),
        ("step_2.pt", "ready", 2),
        ("step_10.pt", "ready", 10),
        ("page.pt", "skipped", None),
    ]


@pytest.mark.parametrize("name", ["notes.txt", "empty"])
def test_that_what_holds_no_checkpoint_is_one_sentence(tmp_path, capsys, name):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    assert main(["info", str(tmp_path / name)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_that_looking_at_checkpoints_needs_no_torch(runs):
    code = (
        "import sys; sys.modules['torch'] = None; from landscope.cli.main import main;"
        f"sys.exit(main(['info', {str(runs)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "step_10.pt" in done.stdout


def test_that_a_new_script_says_what_it_uses_and_what_to_do_next(tmp_path, capsys):
    (tmp_path / "train.py").write_text(
        "import torch\nclass Net(torch.nn.Module): ...\ndef get_loader():\n    return [torch.zeros(2)]\n"
    )
    assert main(["new-script", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "model: Net" in said
    assert "data: get_loader" in said
    assert f"landscope run {tmp_path}" in said
    (tmp_path / "landscope.toml").write_text('script = "train.py"')
    assert main(["new-script", str(tmp_path)]) == 0
    assert "names train.py as the script" in capsys.readouterr().out
    (tmp_path / "landscope_project.py").write_text("# mine")
    assert main(["new-script", str(tmp_path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["new-script", str(tmp_path), "--force", "--model", "train.py:Net"]) == 0

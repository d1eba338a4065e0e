"""The verbs for machines with no screen, called as a person would."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
import torch

from landscope.cli.main import main
from landscope.project.trust import revoke
from landscope.session.read import read

MODEL = """
    import torch

    def build_model():
        torch.manual_seed(0)
        return torch.nn.Linear(4, 2)
"""
DATA = """
    def build_data():
        torch.manual_seed(1)
        return [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(3)]
"""
SCRIPT = MODEL + DATA


@pytest.fixture
def project(tmp_path):
    """Makes a project of a script and some checkpoints; its folder is given back untrusted at the end."""
    root = tmp_path / "my project é"

    def make(script=SCRIPT, checkpoints=3, name="model.py"):
        (root / "run").mkdir(parents=True)
        if script is not None:
            (root / name).write_text(textwrap.dedent(script), encoding="utf-8")
        for k in range(checkpoints):
            torch.manual_seed(k)
            torch.save(torch.nn.Linear(4, 2).state_dict(), root / "run" / f"step_{k}.pt")
        return root

    yield make
    revoke(root)


def run(path, output, *flags):
    return main(["run", str(path), "-o", str(output), "--grid", "5", "--points", "3", *flags])


def test_that_a_run_holds_all_that_was_asked_for(project, tmp_path, capsys):
    assert run(project(), tmp_path / "s.h5", "--trust") == 0
    session = read(tmp_path / "s.h5")
    assert session.runs["run"].names == ("step_0.pt", "step_1.pt", "step_2.pt")
    assert set(session.planes) == {"run-trajectory", "run-random"}
    assert set(session.lines) == {"run-line"}
    assert session.distances and session.saturation and session.runs["run"].measured["train"]
    said = capsys.readouterr()
    assert f"Session: {tmp_path / 's.h5'}" in said.out
    assert "run: 3 checkpoints, step_0.pt to step_2.pt." in said.err


def test_that_files_left_out_are_named_with_the_reason(project, tmp_path, capsys):
    root = project()
    (root / "run" / "step_3.pt").write_bytes(b"")
    assert run(root, tmp_path / "s.h5", "--only", "distance") == 0
    assert "step_3.pt not ready: empty file" in capsys.readouterr().err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems refuse such names")
def test_that_a_file_whose_name_is_no_utf8_is_skipped(project, tmp_path, capsys):
    root = project()
    (root / "run" / "step_2.pt").rename(root / "run" / "step_\udcff.pt")
    assert run(root, tmp_path / "s.h5", "--only", "distance") == 0
    assert "its name is not UTF-8" in capsys.readouterr().err
    assert main(["info", str(tmp_path / "s.h5")]) == 0
    assert read(tmp_path / "s.h5").runs["run"].names == ("step_0.pt", "step_1.pt")


def test_that_an_untrusted_script_is_not_run_and_the_distances_are_there(project, tmp_path, capsys):
    marker = tmp_path / "ran"
    root = project(f"open({str(marker)!r}, 'w')\n" + textwrap.dedent(SCRIPT))
    assert run(root, tmp_path / "s.h5", "--quiet") == 2
    assert not marker.exists()
    assert "--trust" in capsys.readouterr().err
    assert read(tmp_path / "s.h5").distances


BROKEN = {
    "def build_model(:": "model.py line 1",
    "import not_installed_here_at_all": "not_installed_here_at_all",
    MODEL: "build_data()",
    MODEL + "\n    def build_data(): return []": "gave no batches",
    SCRIPT + "\n    def loss(model, batch): raise KeyError('no such class')": "no such class",
    "raise SystemExit(2)": "ended itself",
}


@pytest.mark.parametrize(("script", "sentence"), BROKEN.items(), ids=range(len(BROKEN)))
def test_that_a_broken_script_is_one_sentence_with_its_line(project, tmp_path, capsys, script, sentence):
    root = project(script)
    assert run(root / "model.py", tmp_path / "s.h5", "--trust") == 2
    said = capsys.readouterr().err
    assert "model.py line " in said
    assert said.count(sentence) == 1
    assert "not made, for the same reason" in said
    assert "Traceback" not in said
    assert read(tmp_path / "s.h5").distances["run"].measured


def test_that_a_script_that_fails_is_run_once(project, tmp_path):
    count = tmp_path / "count"
    log = f"with open({str(count)!r}, 'a') as file: file.write('x')"
    root = project(f"{log}\nraise ValueError('broken')")
    assert run(root / "model.py", tmp_path / "s.h5", "--trust") == 2
    assert count.read_text() == "x"


def test_that_two_checkpoints_are_enough_for_all_but_the_path(project, tmp_path, capsys):
    assert run(project(checkpoints=2), tmp_path / "s.h5", "--trust") == 0
    assert set(read(tmp_path / "s.h5").planes) == {"run-random"}
    assert "it needs 3 checkpoints and there are 2" in capsys.readouterr().err


def test_that_a_folder_without_a_script_gives_distances_and_says_why_no_more(project, tmp_path, capsys):
    root = project(script=None)
    assert run(root, tmp_path / "s.h5") == 0
    said = capsys.readouterr().err
    assert "only distances can be had" in said and f"landscope new-script '{root}'" in said
    assert run(root, tmp_path / "s.h5", "--only", "plane") == 2


def test_that_several_possible_scripts_are_named_with_the_way_to_choose(project, tmp_path, capsys):
    root = project(name="train_a.py")
    (root / "train b.py").write_text(textwrap.dedent(SCRIPT))
    assert run(root, tmp_path / "s.h5") == 0
    said = capsys.readouterr().err
    assert "holds 2 scripts that could be meant (train b.py, train_a.py)" in said
    assert f"--script '{root / 'train b.py'}'" in said


def test_that_identical_checkpoints_are_told_once(project, tmp_path, capsys):
    root = project(checkpoints=1)
    for k in range(1, 4):
        shutil.copy(root / "run" / "step_0.pt", root / "run" / f"step_{k}.pt")
    assert run(root, tmp_path / "s.h5", "--trust", "--only", "losses,distance") == 0
    said = capsys.readouterr().err
    assert said.count("identical") == 1 and "must be copied" in said
    assert "same weights" not in said
    torch.save(torch.nn.Linear(4, 2).state_dict(), root / "run" / "step_4.pt")
    assert run(root, tmp_path / "s.h5", "--only", "losses,distance") == 0
    said = capsys.readouterr().err
    assert "3 checkpoints have the weights of the one before it (step_1.pt, step_2.pt, step_3.pt)" in said


def test_that_warnings_of_libraries_are_in_the_log_and_prints_are_shown(project, tmp_path, capsys):
    root = project("import warnings; warnings.warn('old'); print('mine')\n" + textwrap.dedent(SCRIPT))
    assert run(root, tmp_path / "s.h5", "--trust", "--only", "losses") == 0
    said = capsys.readouterr()
    assert "mine" in said.out and "old" not in said.err
    assert any("old" in line.sentence for line in read(tmp_path / "s.h5").log)
    assert run(root, tmp_path / "s.h5", "--only", "losses", "--verbose") == 0
    assert "UserWarning: old" in capsys.readouterr().err


def test_that_a_script_without_checkpoints_is_said(project, tmp_path, capsys):
    assert run(project(checkpoints=0), tmp_path / "s.h5", "--trust") == 2
    assert "No checkpoints were found" in capsys.readouterr().err
    assert not (tmp_path / "s.h5").exists()


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--grid", "6"], "grid is 6"),
        (["--points", "1"], "points is 1"),
        (["--samples", "-3"], "samples is -3"),
        (["--reach", "nan"], "reach is nan"),
        (["--threads", "-1"], "threads is -1"),
        (["--device", "gpu"], "device is gpu"),
        (["--only", "everything"], "everything"),
        (["--run", "nosuchrun"], "nosuchrun"),
    ],
)
def test_that_a_wrong_option_is_told_before_any_work(project, tmp_path, capsys, flags, sentence):
    root = project()
    assert main(["run", str(root), "-o", str(tmp_path / "s.h5"), "--trust", *flags]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "s.h5").exists()


def test_that_a_wrong_option_of_the_file_names_the_file(project, tmp_path, capsys):
    root = project()
    (root / "landscope.toml").write_text('script = "model.py"\n[landscape]\ngrid = 12\n')
    assert main(["run", str(root), "-o", str(tmp_path / "s.h5")]) == 2
    assert "landscope.toml: grid is 12" in capsys.readouterr().err


def test_that_a_file_that_is_no_session_is_never_replaced(project, tmp_path, capsys):
    root = project()
    precious = root / "run" / "step_0.pt"
    before = precious.read_bytes()
    assert run(root, precious, "--trust") == 2
    assert precious.read_bytes() == before
    assert "is no session" in capsys.readouterr().err


def test_that_the_session_before_is_kept(project, tmp_path):
    root = project()
    assert run(root, tmp_path / "s.h5", "--only", "distance") == 0
    first = (tmp_path / "s.h5").read_bytes()
    assert run(root, tmp_path / "s.h5", "--only", "distance") == 0
    assert (tmp_path / "s.h5.bak").read_bytes() == first


@pytest.mark.parametrize("verb", ["info", "export"])
def test_that_what_is_no_session_is_one_sentence(verb, tmp_path, capsys):
    (tmp_path / "text.h5").write_text("hello")
    (tmp_path / "empty.h5").write_bytes(b"")
    for name in ("text.h5", "empty.h5", "missing.h5", ""):
        words = [verb, str(tmp_path / name), *(["-o", str(tmp_path / "out")] if verb == "export" else [])]
        assert main(words) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_that_info_for_scripts_is_json(project, tmp_path, capsys):
    run(project(), tmp_path / "s.h5", "--only", "distance")
    capsys.readouterr()
    assert main(["info", "--json", str(tmp_path / "s.h5")]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["name"] == "run"


def test_that_export_into_a_file_is_one_sentence(project, tmp_path, capsys):
    run(project(), tmp_path / "s.h5", "--only", "distance")
    (tmp_path / "file").touch()
    assert main(["export", str(tmp_path / "s.h5"), "-o", str(tmp_path / "file")]) == 2
    assert "cannot be made" in capsys.readouterr().err


def test_that_trust_is_given_listed_and_taken_back(project, capsys):
    root = project()
    assert main(["trust", str(root)]) == 0
    assert main(["trust"]) == 0
    assert str(root) in capsys.readouterr().out
    assert main(["trust", str(root), "--revoke"]) == 0
    capsys.readouterr()
    assert main(["trust"]) == 0
    assert str(root) not in capsys.readouterr().out


@pytest.mark.parametrize("words", [["trust", "nowhere"], ["trust", "--revoke"], ["nonsense"]])
def test_that_nonsense_is_one_sentence(words, capsys):
    assert main(words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_that_without_a_screen_the_window_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main(["sample"]) == 2
    assert "landscope run" in capsys.readouterr().err


SLOW = """
    def build_data():
        return [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(3)]

    def loss(model, batch):
        import time
        print("measuring", flush=True)
        time.sleep(0.05)
        return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
"""
HANGING = """
    import time
    print("measuring", flush=True)
    while True:
        time.sleep(0.05)
"""


def hear_signals():
    """Whoever started the tests in the background may ignore signals; the child must not inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def started():
    """Starts the command line as a process that has begun to measure; it ends with the test at the latest."""
    made = []

    def start(path, output, *flags):
        command = [sys.executable, "-m", "landscope.cli.main", "run", str(path), "-o", str(output), *flags]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals
        )
        guard = threading.Timer(90, process.kill)
        guard.start()
        made.append((process, guard))
        for line in process.stdout:
            if "measuring" in line:
                return process
        raise AssertionError(process.stderr.read())

    yield start
    for process, guard in made:
        guard.cancel()
        guard.join()
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_that_an_interrupt_saves_what_was_found(project, started, tmp_path, number):
    process = started(project(MODEL + SLOW), tmp_path / "s.h5", "--trust", "--only", "distance,plane")
    process.send_signal(getattr(signal, number))
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert read(tmp_path / "s.h5").distances["run"].measured


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_that_a_second_interrupt_ends_a_script_that_hangs_and_saves(project, started, tmp_path):
    root = project(MODEL + DATA + HANGING)
    process = started(root, tmp_path / "s.h5", "--trust", "--only", "losses")
    process.send_signal(signal.SIGINT)
    assert any("press Ctrl+C again" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert read(tmp_path / "s.h5").runs["run"].names


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_that_what_a_killed_run_had_found_can_be_recovered(project, started, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    process = started(project(MODEL + SLOW), tmp_path / "s.h5", "--trust", "--only", "distance,plane")
    journals = tmp_path / "data" / "journals"
    while not any(path.stat().st_size > 4000 for path in journals.rglob("*.journal")):
        assert process.poll() is None
        process.stdout.readline()
    process.kill()
    process.communicate()
    assert main(["recover"]) == 0
    assert "my project é" in capsys.readouterr().out
    assert main(["recover", "-o", str(tmp_path / "r.h5")]) == 0
    assert read(tmp_path / "r.h5").distances["run"].measured
    capsys.readouterr()
    assert main(["recover"]) == 0
    assert "nothing to recover" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="shell of POSIX")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_that_closed_streams_keep_no_run_from_its_end(project, tmp_path, closed):
    words = f"-m landscope.cli.main run '{project()}' -o '{tmp_path / 's.h5'}' --only distance {closed}"
    assert subprocess.run(f"{sys.executable} {words}", shell=True, timeout=60).returncode == 0
    assert read(tmp_path / "s.h5").distances["run"].measured


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_that_a_reader_that_has_gone_costs_no_work(project, tmp_path):
    root = project()
    command = [sys.executable, "-m", "landscope.cli.main", "run", str(root), "-o", str(tmp_path / "s.h5")]
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run([*command, "--only", "distance"], stdout=write_end, stderr=write_end, timeout=60)
    os.close(write_end)
    assert process.returncode == 141
    assert read(tmp_path / "s.h5").distances["run"].measured

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QMainWindow
from window_fakes import ARGUMENTS, FAILING, QUICK, fake_host, project, settle, wait_until

from landscope.project.spec import load_project
from landscope_app.hosts.engines import Engines
from landscope_app.views.setup_panel import SetupPanel
from landscope_app.work.context import Context
from landscope_app.work.opening import Opener

SCRIPT = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()

def get_loader(batch=8):
    return torch.utils.data.DataLoader([])

raise SystemExit("nothing of this may run before the test")
"""


@pytest.fixture
def panel(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    root = tmp_path / "study"
    root.mkdir()
    (root / "train.py").write_text(SCRIPT)
    context = Context(engines=Engines(make_host=fake_host))
    opener, window = Opener(context), QMainWindow()
    made = []

    def make(behaviour):
        spec = msgspec.structs.replace(project(behaviour, str(root)), script="", trusted=False)
        made.append(SetupPanel(spec, context, opener, window))
        made[0].context, made[0].root = context, root
        made[0].open()
        return made[0]

    yield make
    for one in made:
        one.close()
    context.close()
    window.deleteLater()
    settle()


def press_test(panel, script="train.py"):
    panel.look(str(panel.root / script))
    wait_until(lambda: panel._test.isEnabled())
    panel._test.click()
    wait_until(lambda: panel._job == "" and panel._tested)


def test_that_candidates_are_found_without_running_the_script(panel):
    shown = panel(QUICK)
    shown.look(str(shown.root / "train.py"))
    wait_until(lambda: shown._test.isEnabled())
    assert shown._choices["Model"].currentData() == "Net"
    assert shown._choices["Data"].currentData() == "get_loader"
    assert not shown._use.isEnabled()


def test_that_the_test_writes_the_adapter_trusts_the_folder_and_shows_what_it_found(panel):
    from landscope.project.trust import is_trusted

    shown = panel(QUICK)
    assert not is_trusted(shown.root)
    press_test(shown)
    assert (shown.root / "landscope_project.py").is_file()
    assert is_trusted(shown.root)
    assert "1,234 parameters" in shown.found.said.text()
    assert "accuracy 0.1" in shown.found.said.text()
    shown._use.click()
    opened = shown.context.document.session.project
    assert opened.script.endswith("landscope_project.py")
    assert opened.trusted


def test_that_a_failing_test_says_why_and_cannot_be_used(panel):
    shown = panel(FAILING)
    press_test(shown)
    assert shown.found.said.text() == "The script has no build_model."
    assert not shown._use.isEnabled()


def test_that_a_script_that_cannot_be_read_is_a_sentence(panel):
    shown = panel(QUICK)
    wait_until(lambda: shown._test.isEnabled())
    shown.look(str(shown.root / "missing.py"))
    wait_until(lambda: "missing.py" in shown.found.said.text())
    assert not shown._use.isEnabled()


def test_that_the_likeliest_script_is_chosen_with_what_lies_beside_it(panel):
    shown = panel(QUICK)
    wait_until(lambda: shown._test.isEnabled())
    assert shown._script.text() == str(shown.root / "train.py")
    (shown.root / "samples.py").write_text("import torch\nclass Samples(torch.utils.data.Dataset): ...\n")
    shown.look("")
    wait_until(lambda: shown._choices["Data"].findData("samples.py:Samples") > 0)
    texts = [shown._choices["Data"].itemText(k) for k in range(shown._choices["Data"].count())]
    assert "samples.py line 2" in texts[-1]


def test_that_a_script_that_is_made_for_us_needs_no_adapter_and_keeps_its_arguments(panel):
    shown = panel(QUICK)
    wait_until(lambda: shown._test.isEnabled())
    (shown.root / "model.py").write_text("def build_model(): return 1\ndef build_data(): return []\n")
    shown.arguments.setText("--depth 20 --name 'a b'")
    press_test(shown, "model.py")
    assert not (shown.root / "landscope_project.py").exists()
    shown._use.click()
    opened = shown.context.document.session.project
    assert opened.script == str(shown.root / "model.py")
    assert opened.arguments == ("--depth", "20", "--name", "a b")
    wait_until(lambda: (shown.root / "landscope.toml").exists())
    assert load_project(shown.root).arguments == opened.arguments


def test_that_a_script_that_wants_arguments_leads_to_their_field(panel):
    shown = panel(ARGUMENTS)
    wait_until(lambda: shown._test.isEnabled())
    press_test(shown)
    assert shown.found.said.text() == "It wants --width."
    assert shown.found.more.isVisible()
    assert shown.focusWidget() is shown.arguments


def test_that_arguments_that_are_no_words_are_told_before_anything_runs(panel):
    shown = panel(QUICK)
    wait_until(lambda: shown._test.isEnabled())
    shown.arguments.setText("'open")
    shown._test.click()
    assert "cannot be split" in shown.found.said.text()
    assert not (shown.root / "landscope_project.py").exists()

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QMainWindow
from window_fakes import FAILING, QUICK, fake_host, project, settle, wait_until

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


def press_test(panel):
    panel.look(str(panel.root / "train.py"))
    wait_until(lambda: panel._test.isEnabled())
    panel._test.click()
    wait_until(lambda: panel._job == "" and panel._adapter)


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
    assert "1,234 parameters" in shown._said.text()
    assert "accuracy 0.1" in shown._said.text()
    shown._use.click()
    opened = shown.context.document.session.project
    assert opened.script.endswith("landscope_project.py")
    assert opened.trusted


def test_that_a_failing_test_says_why_and_cannot_be_used(panel):
    shown = panel(FAILING)
    press_test(shown)
    assert shown._said.text() == "The script has no build_model."
    assert not shown._use.isEnabled()


def test_that_a_script_that_cannot_be_read_is_a_sentence(panel):
    shown = panel(QUICK)
    shown.look(str(shown.root / "missing.py"))
    wait_until(lambda: "missing.py" in shown._said.text())
    assert not shown._test.isEnabled()

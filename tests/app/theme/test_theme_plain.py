"""What others wrote is shown as it is: no name of a file makes a headline or loads a picture."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from landscope.contract.options import ProjectSpec
from landscope_app.plots.one_line import OneLine
from landscope_app.theme.plain import plain_tip
from landscope_app.views.trust import RevokeDialog, TrustDialog

EVIL = "<h1>Safe</h1><img src='picture.png'>"


@pytest.mark.parametrize("dialog", [TrustDialog, RevokeDialog])
def test_that_no_name_changes_how_trust_is_asked_for(qapp, dialog):
    parent = QWidget()
    asked = dialog(ProjectSpec(root=f"/{EVIL}", script=f"/{EVIL}.py"), lambda: None, parent)
    labels = asked.findChildren(QLabel)
    assert any(EVIL in label.text() for label in labels)
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}


def test_that_a_tip_shows_the_name_and_no_picture(qapp):
    line = OneLine("Note")
    line.set_note(EVIL)
    assert "&lt;img" in line.toolTip() and "<img" not in line.toolTip()
    assert plain_tip("a < b\nstep_1.pt") == "a < b\nstep_1.pt"

"""Whose code may run: a person's word about folders, and how far it reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from landscope.contract.errors import TrustError
from landscope.contract.options import ProjectSpec
from landscope.project.opening import open_subject
from landscope.project.spec import load_project
from landscope.project.trust import code_folders, is_trusted, may_run, revoke, trust, trusted_roots

SCRIPT = "raise SystemExit('this code ran')\ndef build_model(): ...\ndef build_data(): ...\n"


@pytest.fixture
def elsewhere(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    script = tmp_path / "elsewhere" / "evil.py"
    script.write_text(SCRIPT)
    (tmp_path / "project").mkdir()
    return script


@pytest.mark.parametrize("how", ["named", "linked"])
def test_that_trust_in_a_project_is_none_in_a_script_that_lies_elsewhere(elsewhere, tmp_path, how):
    root = tmp_path / "project"
    if how == "linked":
        (root / "model.py").symlink_to(elsewhere)
    else:
        (root / "landscope.toml").write_text('script = "../elsewhere/evil.py"\n')
    trust(root)
    project = load_project(root)
    assert not project.trusted and code_folders(project) == (str(root), str(elsewhere.parent))
    with pytest.raises(TrustError):
        open_subject(project)
    trust(*code_folders(project))
    assert load_project(root).trusted


@pytest.mark.parametrize("revoked", ["", "inner", "inner/deeper"])
def test_that_nothing_brings_back_a_trust_that_was_taken_back(tmp_path, revoked):
    trust(tmp_path / "p", tmp_path / "p" / "inner" / "deeper", tmp_path / "other")
    lost = revoke(tmp_path / "p" / revoked)
    assert lost == (str(tmp_path / "p"), str(tmp_path / "p" / "inner" / "deeper"))
    assert trusted_roots() == (str(tmp_path / "other"),)


def test_that_a_folder_of_many_authors_is_trusted_without_the_folders_in_it(tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    trust(home, home / "Downloads", home / "work", Path(tmp_path.anchor))
    assert is_trusted(home) and is_trusted(home / "Downloads") and is_trusted(home / "work" / "net")
    assert not is_trusted(home / "somebody") and not is_trusted(home / "Downloads" / "repository")
    assert may_run(ProjectSpec(root=str(home), script=str(home / "model.py")))
    assert not may_run(ProjectSpec(root=str(home), script=str(home / "Downloads" / "a" / "model.py")))


def test_that_the_trust_in_the_sample_stays():
    sample = load_project("sample")
    assert sample.trusted
    with pytest.raises(TrustError, match="part of Landscope"):
        revoke(sample.root)

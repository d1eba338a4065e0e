"""Trust is a person's word about a folder: nothing that is opened implies it."""

from __future__ import annotations

import msgspec
import pytest
from fake_session import fake_session
from window_fakes import QUICK, fake_host, project, settle, wait_until

from landscope.contract.options import EngineOptions
from landscope.project.trust import is_trusted, trust
from landscope.session.read import read
from landscope.session.write import save
from landscope_app.hosts.engines import Engines
from landscope_app.work.analyses import Analyses
from landscope_app.work.context import Context
from landscope_app.work.files import SessionFiles
from landscope_app.work.opening import Opener

EVIL = "/somewhere/evil-python"


@pytest.fixture
def parts(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    asked = []

    def host(role, python):
        asked.append((role, python))
        return fake_host(role, python)

    context = Context(engines=Engines(make_host=host))
    yield context, Opener(context), SessionFiles(context, Analyses(context)), asked
    context.close(discard=True)
    settle()


def claimed(root):
    """A project as somebody's file describes it: trusted, and with an interpreter of its choice."""
    spec = project(QUICK, str(root))
    return msgspec.structs.replace(spec, trusted=True, runs=(str(root),), engine=EngineOptions(python=EVIL))


def test_that_a_session_file_carries_no_trust(tmp_path):
    session = fake_session()
    session.project = claimed(tmp_path)
    save(session, tmp_path / "s.h5")
    assert read(tmp_path / "s.h5").project.trusted is False
    assert read(tmp_path / "s.h5").project.engine.python == EVIL


def test_that_a_session_of_an_untrusted_folder_is_shown_untrusted(parts, tmp_path):
    context, _, files, _ = parts
    session = fake_session()
    session.project = claimed(tmp_path / "study")
    files.show_recovered(session)
    context.background.wait()
    settle()
    assert context.document.session.project.trusted is False
    assert context.engines.python == ""
    assert context.document.session.runs


def shown_session(parts, spec):
    """The window's project after a session that names it was opened."""
    context, _, files, _ = parts
    session = fake_session()
    session.project = spec
    files.show_recovered(session)
    context.background.wait()
    settle()
    return context.document.session.project


def test_that_a_session_of_a_trusted_folder_may_run_its_code(parts, tmp_path):
    (tmp_path / "model.py").write_text("")
    trust(tmp_path)
    spec = msgspec.structs.replace(claimed(tmp_path), engine=EngineOptions())
    assert shown_session(parts, spec).trusted


def test_that_a_trusted_folder_and_no_session_says_which_interpreter_runs(parts, tmp_path):
    trust(tmp_path)
    assert not shown_session(parts, claimed(tmp_path)).trusted
    assert parts[0].engines.python == ""
    listed = f'script = "model.py"\nruns = []\n[engine]\npython = "{EVIL}"\n'
    (tmp_path / "landscope.toml").write_text(listed)
    assert shown_session(parts, claimed(tmp_path)).trusted
    assert parts[0].engines.python == EVIL


def test_that_a_session_gives_no_arguments_to_a_trusted_script(parts, tmp_path):
    trust(tmp_path)
    spec = msgspec.structs.replace(
        claimed(tmp_path), engine=EngineOptions(), arguments=("--config", "/somewhere/evil.py")
    )
    assert not shown_session(parts, spec).trusted


def test_that_trust_in_a_folder_is_none_in_a_script_elsewhere_that_a_session_names(parts, tmp_path):
    trust(tmp_path / "study")
    spec = msgspec.structs.replace(
        claimed(tmp_path / "study"), engine=EngineOptions(), script=str(tmp_path / "evil.py")
    )
    assert not shown_session(parts, spec).trusted


def test_that_an_untrusted_project_chooses_no_interpreter(parts, tmp_path):
    context, opener, _, asked = parts
    untrusted = msgspec.structs.replace(claimed(tmp_path), trusted=False)
    wanted = []
    opener.trust_wanted.connect(wanted.append)
    opener.show(untrusted)
    wait_until(lambda: not context.engines.busy)
    assert wanted
    assert {python for _, python in asked} == {""}
    asked.clear()
    opener.trust(untrusted)
    wait_until(lambda: context.document.session.project.trusted and not context.engines.busy)
    assert ("engine", EVIL) in asked
    assert {python for role, python in asked if role == "reader"} <= {""}


def test_that_taking_trust_back_ends_the_code_and_goes_on_with_the_files(parts, tmp_path):
    context, opener, _, asked = parts
    trust(tmp_path)
    opener.show(claimed(tmp_path))
    wait_until(lambda: not context.engines.busy)
    engine = context.engines.pid("statistics")
    assert engine
    opener.revoke()
    wait_until(lambda: not is_trusted(tmp_path))
    assert context.engines.pid("statistics") != engine
    assert context.document.session.project.trusted is False
    asked.clear()
    opener.analyse_again()
    wait_until(lambda: not context.engines.busy)
    assert {row.job.project.script for row in context.engines.table.rows if row.id != "list"} == {""}
    assert {python for _, python in asked} <= {""}

from __future__ import annotations

import pytest

from landscope_app.settings import store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def test_that_settings_come_back_as_saved():
    settings = store.Settings(theme="light", device="cuda:1")
    settings.remember("/p", "project", 5.0)
    assert store.save(settings)
    assert store.load() == settings


def test_that_a_broken_file_gives_the_settings_of_a_first_start(folder):
    folder.mkdir()
    store.file().write_text("{ not json")
    assert store.load() == store.Settings()


def test_that_recent_entries_are_unique_newest_first_and_limited():
    settings = store.Settings()
    for k in range(20):
        settings.remember(f"/p{k % 15}", "project", float(k))
    assert [item.path for item in settings.recent][:3] == ["/p4", "/p3", "/p2"]
    assert len({item.path for item in settings.recent}) == len(settings.recent) == 12
    settings.forget("/p4")
    assert settings.recent[0].path == "/p3"


def test_that_a_folder_that_cannot_be_written_is_told(folder):
    folder.write_text("a file where the folder should be")
    assert not store.save(store.Settings())

"""A person's choices in ``landscope.toml``."""

from msgspec.structs import replace

from landscope.contract.options import ProjectSpec
from landscope.project.keep import keep_choices
from landscope.project.spec import load_project

TEXT = """# my project
script = "old.py"  # the first try
runs = [
  "runs/one",
  "runs/two",
]
weights = "model_ema"

[landscape]
grid = 9  # quick
"""


def test_that_a_file_is_made_where_there_is_none(tmp_path):
    (tmp_path / "model.py").write_text("def build_model(): ...")
    spec = ProjectSpec(root=str(tmp_path), script=str(tmp_path / "model.py"), arguments=("--depth", "20"))
    keep_choices(spec)
    assert load_project(tmp_path) == spec


def test_that_nothing_is_written_where_nothing_need_be_said(tmp_path):
    (tmp_path / "landscope_project.py").write_text("def build_model(): ...")
    keep_choices(load_project(tmp_path))
    assert not (tmp_path / "landscope.toml").exists()


def test_that_the_rest_of_somebodys_file_stays(tmp_path):
    (tmp_path / "landscope.toml").write_text(TEXT)
    before = load_project(tmp_path)
    after = replace(before, script=str(tmp_path / "new.py"), arguments=("--a b", "ü"), weights="")
    keep_choices(after)
    assert load_project(tmp_path) == after
    text = (tmp_path / "landscope.toml").read_text()
    assert "# my project" in text
    assert "grid = 9  # quick" in text
    keep_choices(before)
    assert load_project(tmp_path) == before

"""Finding runs in a folder that nobody described."""

from landscope.project.find import find_runs


def test_that_data_and_documents_make_no_folder_of_checkpoints(tmp_path):
    for name in ("train.npz", "digits.zip", "images.gz", "model.onnx", "weights.h5", "run.tmp"):
        (tmp_path / name).write_bytes(b"x" * 5000)
    (tmp_path / "LICENSE").write_text("words " * 1000)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "epoch_1.pt").write_bytes(b"x")
    assert find_runs(tmp_path) == (str(tmp_path / "runs"),)


def test_that_a_checkpoint_without_an_ending_is_known_by_its_bytes(tmp_path):
    (tmp_path / "weights").write_bytes(b"PK\x03\x04" + bytes(50))
    assert find_runs(tmp_path) == (str(tmp_path),)

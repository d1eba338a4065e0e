import pytest

from landscope_app.plots.layer_names import fitted


@pytest.mark.parametrize(
    ("name", "room", "shown"),
    [
        ("layer3.1.conv2", 14, "layer3.1.conv2"),
        ("encoder.layer.11.attention.output.dense", 24, "enc…lay…11.att…out…dense"),
        ("model.transformer.h.3.mlp.c_fc", 20, "mod…tra…h.3.mlp.c_fc"),
        ("fc", 1, "f…"),
    ],
)
def test_that_every_part_of_a_name_keeps_beginning_and_number(name: str, room: int, shown: str) -> None:
    assert fitted(name, room, len) == shown


def test_that_layers_of_different_blocks_never_look_the_same() -> None:
    names = [f"encoder.layer.{k}.attention.output.dense" for k in range(24)]
    assert len({fitted(name, 22, len) for name in names}) == 24

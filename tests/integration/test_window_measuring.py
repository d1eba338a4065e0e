"""What is measured from the window on request, with the real engine: saturation anew, gradient norms."""

import msgspec
import pytest

from landscope.contract.job import SaturationJob
from landscope.contract.options import SaturationOptions

pytestmark = pytest.mark.gl
RUN = "run"


@pytest.fixture
def window(qapp, tmp_path, monkeypatch, real_project):
    from window_fakes import settle, wait_until

    from landscope_app.theme.colors import DARK
    from landscope_app.window import MainWindow
    from landscope_app.work.context import Context

    monkeypatch.setenv("LANDSCOPE_DATA_DIR", str(tmp_path / "data"))
    context = Context()
    made = MainWindow(context, DARK)
    made.resize(1280, 800)
    made.show()
    made.opener.show(real_project)
    wait_until(lambda: made.workspace is not None and made.workspace.isVisible())
    wait_until(lambda: len(measured(made)) == 5, seconds=120)
    yield made
    made.close_now(discard=True)
    context.close()
    made.deleteLater()
    settle()


def measured(window, split="train"):
    found = window.context.document.session.saturation.get(f"{RUN}/{split}")
    return found.measured if found is not None else {}


def view(window):
    return window.docks.all["saturation"].widget()


def press_run(window, **options):
    """Choose options in the form and press "Run"; the name of the job."""
    form = view(window).form
    window.registry["analysis.measure"].trigger()
    assert form.isVisible()
    choices = form.choices()
    form.show_choices(
        msgspec.structs.replace(choices, options=msgspec.structs.replace(choices.options, **options))
    )
    before = {row.id for row in window.context.engines.table.rows}
    form.run_wanted.emit(form.choices())
    return next(row.id for row in window.context.engines.table.rows if row.id not in before)


def ended(window, name):
    from window_fakes import wait_until

    wait_until(lambda: window.context.engines.table[name].state in ("done", "failed"), seconds=60)
    return window.context.engines.table[name]


def test_that_the_panel_measures_anew_with_the_options_it_shows(window):
    from window_fakes import wait_until

    name = press_run(window, idim_rule="delve", layers=("Tanh",), embedding=False)
    assert not view(window).form.isVisible()
    assert ended(window, name).state == "done"
    for one in measured(window).values():
        assert one.settings["idim_rule"] == "delve"
        assert any(layer.kind == "Tanh" for layer in one.layers)
        assert all(not len(layer.embedding) for layer in one.layers)
    wait_until(lambda: "delve" in view(window).foot.note.whole)


def test_that_a_refused_option_is_told_in_the_panel_and_nothing_is_lost(window):
    before = dict(measured(window))
    row = ended(window, press_run(window, layers=("nrom",)))
    assert row.state == "failed" and "'nrom'" in row.sentence
    form = view(window).form
    assert form.isVisible()
    assert form.choices().options.layers == ("nrom",)
    assert form.refusal == row.sentence
    row = ended(window, press_run(window, split="validation"))
    assert form.refusal == row.sentence and "validation" in row.sentence
    assert window.context.selection.split == "train"
    assert all(measured(window)[name] is one for name, one in before.items())


def test_that_a_measurement_that_is_cancelled_leaves_every_checkpoint_with_a_result(window):
    from window_fakes import wait_until

    engines = window.context.engines
    name = press_run(window, idim_rule="delve")
    wait_until(lambda: measured(window)["step_40.pt"].settings["idim_rule"] == "delve", seconds=60)
    engines.cancel(name)
    wait_until(lambda: engines.table[name].state in ("cancelled", "done"), seconds=60)
    assert len(measured(window)) == 5
    assert measured(window)["step_40.pt"].settings["idim_rule"] == "delve"


def test_that_checkpoints_from_before_say_that_they_were_measured_otherwise(window):
    from window_fakes import wait_until

    job = SaturationJob(
        project=window.context.document.session.project,
        run=RUN,
        checkpoints=("step_40.pt",),
        options=SaturationOptions(idim_rule="delve"),
    )
    assert ended(window, window.analyses.run(job)).state == "done"
    window.context.selection.set(checkpoint="step_10.pt")
    wait_until(lambda: "not delve's rule as at step_40.pt" in view(window).foot.beside.whole)
    window.context.selection.set(checkpoint="step_40.pt")
    wait_until(lambda: view(window).foot.beside.whole == "")


def test_that_a_new_measurement_takes_the_place_of_one_that_waits(window):
    context = window.context
    old = SaturationJob(
        project=context.document.session.project, run=RUN, options=SaturationOptions(conv_method="max")
    )
    first, second = context.engines.submit("old", old), context.engines.submit("older", old)
    name = press_run(window, conv_method="median")
    assert ended(window, name).state == "done"
    assert {context.engines.table[one].state for one in (first, second)} <= {"cancelled", "done"}
    assert {one.settings["conv_method"] for one in measured(window).values()} == {"median"}


def test_that_the_choices_are_kept_with_the_session(window):
    from window_fakes import wait_until

    press_run(window, conv_method="mean", row_share=0.5)
    kept = window._whole_view()["measure"]
    assert (kept["options"]["conv_method"], kept["options"]["row_share"]) == ("mean", 0.5)
    wait_until(lambda: not window.context.engines.busy, seconds=60)
    window.measuring.show_document({})
    assert view(window).form.choices().options.conv_method == "channelwise"
    window.measuring.show_document({"measure": kept})
    assert view(window).form.choices().options.conv_method == "mean"


def test_that_gradient_norms_are_measured_and_stand_among_the_distances(window):
    from window_fakes import wait_until

    distance = window.docks.all["distance"].widget()
    distance.refresh_now()
    assert distance.quantity.findData("gradient_norm") < 0
    window.registry["analysis.gradients"].trigger()
    gradients = window.context.document.session.gradients
    wait_until(lambda: RUN in gradients and len(gradients[RUN].measured) == 5, seconds=60)
    wait_until(lambda: distance.quantity.findData("gradient_norm") > 0)
    distance.quantity.setCurrentIndex(distance.quantity.findData("gradient_norm"))
    distance.refresh_now()
    (curve,) = distance.curves.chart.series
    assert (curve.y > 0).all()
    assert "samples of train" in distance.curves.chart.note
    window.context.selection.set(checkpoint="step_10.pt")
    distance.refresh_now()
    assert distance.quantity.currentData() == "gradient_norm"

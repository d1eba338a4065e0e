from __future__ import annotations

import pytest
from fake_session import LAYERS, RUNS, fake_session

from landscope.session.model import Session
from landscope_app.state.selection import Selection
from landscope_app.views.choosing import choose


def test_that_listeners_hear_once_which_fields_changed():
    selection, heard = Selection(), []
    leave = selection.listen(heard.append)
    selection.set(run="a", checkpoint="b")
    selection.set(run="a")
    leave()
    selection.set(run="c")
    assert heard == [frozenset({"run", "checkpoint"})]


def test_that_a_field_that_does_not_exist_is_refused():
    with pytest.raises(TypeError):
        Selection().set(colour="red")


def test_that_settling_chooses_the_last_checkpoint_and_a_plane_of_the_first_run():
    selection, session = Selection(), fake_session()
    selection.settle(session)
    assert selection.run == RUNS[0]
    assert selection.checkpoint == session.runs[RUNS[0]].names[-1]
    assert session.planes[selection.plane].opened.run == RUNS[0]
    assert session.lines[selection.line].opened.run == RUNS[0]


def test_that_settling_keeps_what_is_valid():
    selection, session = Selection(), fake_session()
    first = session.runs[RUNS[1]].names[0]
    selection.set(run=RUNS[1], checkpoint=first)
    selection.settle(session)
    assert (selection.run, selection.checkpoint) == (RUNS[1], first)
    assert session.planes[selection.plane].opened.run == RUNS[1]


def test_that_nothing_is_chosen_from_an_empty_session():
    selection = Selection()
    selection.set(run="gone", checkpoint="gone", plane="gone")
    selection.settle(Session())
    assert (selection.run, selection.checkpoint, selection.plane) == ("", "", "")


def test_that_a_layer_stays_selected_only_where_saturation_names_it():
    selection, session = Selection(), fake_session()
    for layer, kept in ((LAYERS[2], LAYERS[2]), ("attention", "attention"), ("gone", "")):
        selection.set(layer=layer)
        selection.settle(session)
        assert selection.layer == kept


@pytest.mark.parametrize("text", ["", "high", "0", "1.01", "nan", "-1"])
def test_that_a_strange_threshold_counts_as_none(text):
    selection = Selection()
    selection.set(threshold=text)
    assert selection.threshold is None


def test_that_a_run_is_compared_only_with_another_one_of_the_session():
    selection, session = Selection(), fake_session()
    for against, kept in ((RUNS[1], RUNS[1]), (RUNS[0], ""), ("gone", "")):
        selection.set(run=RUNS[0], against=against)
        selection.settle(session)
        assert selection.against == kept


def test_that_going_to_the_run_beside_swaps_the_two():
    selection, session = Selection(), fake_session()
    selection.set(run=RUNS[0], against=RUNS[1])
    choose(selection, session, RUNS[1], session.runs[RUNS[1]].names[0])
    assert (selection.run, selection.against) == (RUNS[1], RUNS[0])

import shiboken6
from fake_session import RUNS, listed, measured
from PySide6.QtWidgets import QApplication
from qt_application import Keep
from window_fakes import wait_until

from landscope.contract.deltas import AnyDelta, CheckpointMeasured
from landscope.contract.events import Event, Partial
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import DARK
from landscope_app.views.live import LiveView


class Counting(LiveView):
    """Counts its redraws."""

    drawn = 0

    def concerns(self, delta: AnyDelta) -> bool:
        return isinstance(delta, CheckpointMeasured)

    def refresh(self) -> None:
        self.drawn += 1


def _made(keep: Keep) -> tuple[Document, Selection, Counting]:
    document, selection = Document(), Selection()
    view = Counting(document, selection, DARK)
    keep(view)
    return document, selection, view


def _send_losses(document: Document) -> int:
    deltas = list(measured(RUNS[0], 0))
    document.take_all(Event("job", Partial(delta=d)) for d in deltas)
    return len(deltas)


def test_that_many_results_become_one_redraw(application: QApplication, keep: Keep) -> None:
    document, _, view = _made(keep)
    view.show()
    wait_until(lambda: view.drawn == 1)
    assert _send_losses(document) > 10
    assert view.drawn == 1
    wait_until(lambda: view.drawn == 2)


def test_that_a_hidden_view_waits_until_it_is_shown(application: QApplication, keep: Keep) -> None:
    document, _, view = _made(keep)
    _send_losses(document)
    application.processEvents()
    assert view.drawn == 0
    view.show()
    assert view.drawn == 1


def test_that_what_does_not_concern_it_is_not_drawn(application: QApplication, keep: Keep) -> None:
    document, selection, view = _made(keep)
    view.show()
    wait_until(lambda: view.drawn == 1)
    document.take(Event("job", Partial(delta=listed(RUNS[0]))))
    selection.set(metric="accuracy")
    assert not view.is_waiting
    selection.set(checkpoint="other")
    assert view.is_waiting


def test_that_a_deleted_view_no_longer_listens(application: QApplication) -> None:
    document, selection = Document(), Selection()
    view = Counting(document, selection, DARK)
    shiboken6.delete(view)
    _send_losses(document)
    selection.set(run="x")
    assert view.drawn == 0
    assert not document._listeners

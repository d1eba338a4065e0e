"""The map of saturation over the training, as it follows a session."""

from __future__ import annotations

from landscope.session.model import Session
from landscope_app.plots.saturation_frame import Frames
from landscope_app.plots.saturation_map import map_steps
from landscope_app.state.selection import Chosen, share_of
from landscope_app.theme.colors import Theme
from landscope_app.views.sliced_map import SlicedMap


class TrainingMap(SlicedMap):
    """A ``SlicedMap`` that makes its chart from a session."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._frames = Frames()

    def show_training(self, session: Session, chosen: Chosen, key: str) -> None:
        """Draw a statistic over the training of the chosen run, soon; at once where that is quick."""
        threshold = share_of(chosen.threshold)
        steps = map_steps(session, chosen.run, key, chosen.split, threshold, chosen.against, self._frames)
        self.show_steps(steps, chosen.layer, chosen.checkpoint)

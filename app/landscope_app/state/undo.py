"""Undo of view changes, without Qt. Results are never undone: they are not the person's doing."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")
_DEEPEST = 100


class UndoStack(Generic[T]):
    """States of the view, oldest first, with a place in them.

    A state that only goes on with the last change (``merge``) replaces it, so that dragging a slider is one
    step back.
    """

    def __init__(self, start: T) -> None:
        self._states: list[T] = [start]
        self._at = 0

    @property
    def can_undo(self) -> bool:
        """Whether there is an older state."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a newer state."""
        return self._at + 1 < len(self._states)

    def push(self, state: T, *, merge: bool = False) -> None:
        """Remember a state that was just reached; what had been undone is forgotten."""
        if state == self._states[self._at]:
            return
        del self._states[self._at + 1 :]
        if merge and self._at > 0:
            self._states[self._at] = state
        else:
            self._states = [*self._states, state][-_DEEPEST:]
        self._at = len(self._states) - 1

    def undo(self) -> T:
        """One state back (the oldest stays)."""
        self._at = max(0, self._at - 1)
        return self._states[self._at]

    def redo(self) -> T:
        """One state on (the newest stays)."""
        self._at = min(len(self._states) - 1, self._at + 1)
        return self._states[self._at]

    def reset(self, start: T) -> None:
        """Begin anew (another document is shown)."""
        self._states, self._at = [start], 0

"""The one family of errors a person may read: its message is a sentence, its detail is for the curious."""

from __future__ import annotations


class LandscopeError(Exception):
    """A failure told in one sentence: what is wrong, where, and what to do.

    Attributes:
        sentence: what a person reads.
        detail: a traceback or a list, shown on request; may be empty.
    """

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail


class OptionError(LandscopeError, ValueError):
    """An option has a value that cannot be used."""


class ScriptError(LandscopeError):
    """The model script cannot be used; the sentence names file and line."""


class ScriptArgumentsError(ScriptError):
    """The model script does not run with the arguments that it gets."""


class DataError(LandscopeError):
    """The data of the script cannot be used."""


class TrustError(LandscopeError):
    """Something would run code of a folder that is not trusted."""


class CheckpointError(LandscopeError):
    """One checkpoint file cannot be used; the rest of the folder can."""


class SessionError(LandscopeError):
    """A session file cannot be read or written."""


class StatisticsFileError(LandscopeError):
    """A file of statistics of a training cannot be read or written."""


class HostError(LandscopeError):
    """The engine host cannot be started or has died."""


class ProtocolError(LandscopeError):
    """The other end of a pipe speaks another protocol."""


class JobCancelled(Exception):  # noqa: N818  it is an outcome, not an error
    """Raised inside a job at the first check after somebody cancelled it."""

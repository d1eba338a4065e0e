"""The fused path of attention, switched off while any tracked forward pass of this process runs."""

from __future__ import annotations

import threading
from collections.abc import Hashable

import torch


class FastPath:
    """Counts who needs the fused path off: the first switches it, the last puts back what was there.

    An interrupt from the keyboard may come between any two lines: who is counted is right before the switch
    is turned off and until it is turned back.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # again: a tracker may be collected while another one switches
        self._holders: set[Hashable] = set()
        self._before = True

    def switch_off(self, holder: Hashable) -> None:
        """Off until ``holder`` and all others have put it back."""
        with self._lock:
            if not self._holders:
                self._before = torch.backends.mha.get_fastpath_enabled()
            self._holders.add(holder)
            torch.backends.mha.set_fastpath_enabled(False)

    def put_back(self, holder: Hashable) -> None:
        """``holder`` needs it off no longer; nothing happens if it did not."""
        with self._lock:
            if holder in self._holders:
                if len(self._holders) == 1:
                    torch.backends.mha.set_fastpath_enabled(self._before)
                self._holders.remove(holder)


FAST_PATH = FastPath()
"""The setting of torch is one for the process."""

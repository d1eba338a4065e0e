"""How to read saturation, in a few sentences with their sources."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolButton, QToolTip

READING = (
    "How to read this\n\n"
    "Saturation is the share of a layer's directions that its output needs to hold most of its variance "
    "(99 % unless another threshold is chosen).\n\n"
    "0.2: a fifth of the directions do the work; a narrower layer might do as well. A row of such layers at "
    "the end of a network often adds little: the input may be too small, or the network too deep, for "
    "them.\n"
    "0.9: nearly every direction is used; the layer may be too narrow for what passes through it.\n\n"
    "Compare layers of one network, and one layer over the training, rather than networks. With fewer than "
    "10 rows per feature (*) the value comes out too low.\n\n"
    "Click a layer, or use the arrow keys, to see its spectrum; drag the line there to change the "
    "threshold.\n\n"
    "Sources: Shenk et al. 2019, arXiv 1907.08589; Richter et al. 2020, Feature Space Saturation during "
    "Training, arXiv 2006.08679; Richter et al. 2021, Size Matters, arXiv 2102.01582."
)


def reading_help() -> QToolButton:
    """A small “?” that tells how to read saturation, when pointed at and when pressed."""
    button = QToolButton()
    button.setText("?")
    button.setAutoRaise(True)
    button.setAccessibleName("How to read this")
    button.setAccessibleDescription(READING)
    button.setToolTip(f"<qt>{READING.replace(chr(10), '<br>')}</qt>")
    button.clicked.connect(
        lambda: QToolTip.showText(button.mapToGlobal(QPoint(0, button.height())), button.toolTip(), button)
    )
    return button

"""Where the statistics of a training go: files, pictures, TensorBoard, the terminal, or one's own writer."""

from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.composite import CompositWriter
from landscope.saturation.writers.csv_writer import CSVWriter
from landscope.saturation.writers.npy_writer import NPYWriter
from landscope.saturation.writers.plot_writer import CSVandPlottingWriter
from landscope.saturation.writers.print_writer import PrintWriter
from landscope.saturation.writers.registry import WRITERS, make_writer
from landscope.saturation.writers.tensorboard_writer import TensorBoardWriter

__all__ = [
    "WRITERS",
    "AbstractWriter",
    "CSVWriter",
    "CSVandPlottingWriter",
    "CompositWriter",
    "NPYWriter",
    "PrintWriter",
    "TensorBoardWriter",
    "make_writer",
]

"""``landscope saturation rethreshold``: saturation at another threshold, from stored spectra."""

from __future__ import annotations

import argparse
import csv
import io
from dataclasses import fields

from landscope.cli.output import check_table
from landscope.saturation.rethreshold import LayerAtThreshold, read_spectra, rethreshold
from landscope.saturation.writers.stored import StoredFile


def saturation(options: argparse.Namespace) -> int:
    """Print or write one line per epoch or checkpoint, mode and layer; returns the exit code."""
    if options.output is not None and options.path.exists():
        check_table(options.output, options.path)
    found = rethreshold(read_spectra(options.path), options.threshold, options.idim_rule)
    text = io.StringIO()
    table = csv.writer(text, delimiter=";", lineterminator="\n")
    of_session = any(one.checkpoint for one in found)
    left_out = ("epoch",) if of_session else ("run", "checkpoint")
    columns = [field.name for field in fields(LayerAtThreshold) if field.name not in left_out]
    table.writerow(columns)
    table.writerows([getattr(one, column) for column in columns] for one in found)
    if options.output is None:
        print(text.getvalue(), end="")
    else:
        StoredFile(options.output).write(text.getvalue().encode())
        print(options.output)
    return 0

"""How to read saturation, in a few sentences with their sources."""

from __future__ import annotations

READING = (
    "How to read this\n\n"
    "Saturation is the share of a layer's D directions that its output needs to hold the threshold of its "
    "variance, 99 % unless another is chosen. A lower threshold counts fewer directions: drag its line in "
    "the spectrum of a layer (click it, or use the arrow keys).\n\n"
    "0.2 (20 %): a fifth of the directions do the work; a narrower layer might do as well. A row of such "
    "layers at the end of a network often adds little: the input is too small, or the network too deep, for "
    "them.\n"
    "0.9 (90 %): nearly every direction is used; the layer may be too narrow for what passes through it.\n"
    "Compare layers of one network, one layer over the training, or two runs; networks of other widths "
    "hardly.\n\n"
    "* too few samples: fewer than 10 rows per feature. Rows that are missing cannot show a direction, so "
    "the value comes out too low.\n"
    "dead: the output is the same for every row, and no direction is used.\n"
    "~: the value rests on a sample of the rows.\n"
    "! NaN: rows with NaN or infinite values were left out.\n"
    "not observed: no hook sees its output; pointing at it tells why.\n\n"
    "Effective rank and participation ratio count directions without a threshold: all in proportion to "
    "their variance.\n"
    "Samples of a layer: the same samples of the data in its first two directions at every checkpoint. Step "
    "through them to see when, and in which layer, the classes come apart.\n\n"
    "Sources: saturation, Shenk et al. 2019, arXiv 1907.08589, and Richter et al. 2020, arXiv 2006.08679; "
    "low rows at the end, Richter et al. 2021, Size Matters, arXiv 2102.01582, and Should You Go Deeper?, "
    "arXiv 2106.12307; effective rank, Roy and Vetterli 2007, EUSIPCO."
)

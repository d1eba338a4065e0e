from torch import nn

from ..common import WIDTH


def build():
    return nn.Linear(3, WIDTH)

"""Make the sample project's checkpoints again: ``python make_sample.py`` (seeded, minutes on two cores).

``python make_sample.py --scans FILE`` makes ``digits.npz`` first, from UCI's ``optdigits.tes`` or from the
``digits.csv.gz`` that scikit-learn ships (64 pixel values and the label on each line).
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from landscope_resources.sample.project import build_data, build_model

HERE = Path(__file__).parent
KEPT_EPOCHS = (0, 1, 2, 3, 5, 8, 12, 17, 23, 30, 45, 60)
"""The 12 epochs after which a checkpoint is kept; 0 is the initialisation."""


@dataclass(frozen=True)
class Recipe:
    """How one run is trained: SGD with momentum, five warm-up epochs, then a cosine down to zero.

    Both convolutional networks use the same one, so that only the skip connections differ between them.
    """

    learning_rate: float
    weight_decay: float = 5e-4
    warm_epochs: int = 5
    batch: int = 64
    momentum: float = 0.9
    seed: int = 0


RECIPES = {"skip": Recipe(0.1), "plain": Recipe(0.1), "mlp": Recipe(0.05)}


def write_scans(source: Path, target: Path) -> None:
    """Write the scans of ``source`` to ``target``: images (1797, 8, 8) and labels, uint8, seeded order."""
    rows = np.loadtxt(source, delimiter=",")
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    images = rows[:, :64].reshape(-1, 8, 8).astype(np.uint8)
    np.savez_compressed(target, images=images, labels=rows[:, 64].astype(np.uint8))


def joined(split: str) -> tuple[Tensor, Tensor]:
    """Return all pictures and labels of a split as two tensors."""
    pictures, labels = zip(*build_data(split), strict=True)
    return torch.cat(pictures), torch.cat(labels)


@torch.no_grad()
def measured(model: nn.Module, split: str) -> tuple[float, float]:
    """Return mean cross entropy and accuracy over a split, in evaluation mode."""
    pictures, labels = joined(split)
    logits = model.eval()(pictures)
    loss = functional.cross_entropy(logits, labels).item()
    return loss, (logits.argmax(1) == labels).double().mean().item()


def save(model: nn.Module, folder: Path, epoch: int, step: int) -> None:
    """Write one checkpoint and say how good it is."""
    loss, accuracy = measured(model, "train")
    test_loss, test_accuracy = measured(model, "test")
    numbers = {"loss": loss, "accuracy": accuracy, "test_loss": test_loss, "test_accuracy": test_accuracy}
    stored = {"model": model.state_dict(), "epoch": epoch, "step": step, **numbers}
    torch.save(stored, folder / f"epoch_{epoch:03d}.pt")
    print(f"{folder.name} epoch {epoch:3d}: train {loss:.4f} {accuracy:.3f}, test {test_accuracy:.3f}")


def rate(recipe: Recipe, done: int, warm: int, total: int) -> float:
    """Return the learning rate of step ``done``."""
    if done < warm:
        return recipe.learning_rate * (done + 1) / warm
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * (done - warm) / (total - warm)))


def train(run: str, recipe: Recipe, folder: Path) -> None:
    """Train one run and keep its checkpoints in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(recipe.seed)
    model = build_model(run)
    pictures, labels = joined("train")
    shuffler = torch.Generator().manual_seed(recipe.seed)
    optimiser = torch.optim.SGD(
        model.parameters(), recipe.learning_rate, recipe.momentum, weight_decay=recipe.weight_decay
    )
    steps = len(labels) // recipe.batch
    step, warm, total = 0, steps * recipe.warm_epochs, steps * KEPT_EPOCHS[-1]
    save(model, folder, 0, 0)
    for epoch in range(1, KEPT_EPOCHS[-1] + 1):
        model.train()
        # The ragged last batch is left out: BatchNorm on a few samples is noise.
        order = torch.randperm(len(labels), generator=shuffler)[: steps * recipe.batch]
        for rows in order.reshape(steps, recipe.batch).unbind():
            optimiser.param_groups[0]["lr"] = rate(recipe, step, warm, total)
            optimiser.zero_grad()
            torch.autograd.backward(functional.cross_entropy(model(pictures[rows]), labels[rows]))
            optimiser.step()
            step += 1
        if epoch in KEPT_EPOCHS:
            save(model, folder, epoch, step)


def main() -> None:
    """Read the command line and make what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=list(RECIPES), help="runs to train (default: all)")
    parser.add_argument("--scans", type=Path, help="make digits.npz from this file first")
    parser.add_argument("--out", type=Path, default=HERE / "runs", help="where the run folders go")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order, whatever machine this is
    if options.scans:
        write_scans(options.scans, HERE / "digits.npz")
    for run in options.runs:
        train(run, RECIPES[run], options.out / run)


if __name__ == "__main__":
    main()

"""Which rows of a rollout the minibatches of each epoch hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .owned import plain
from .torch_types import Tensor

Row = tuple[float, ...]


@dataclass(frozen=True)
class Epochs:
    """What became of the rows of one rollout."""

    rows: int
    epochs: int
    repeated_frac: float
    """Share of the rows of an epoch that had been in it before; the mean over epochs."""
    unseen_frac: float
    """Share of the rollout's rows that no epoch held."""
    dropped_frac: float
    """Share that an epoch may leave out because its last minibatch would be a partial one."""


def epochs(bench: Bench) -> Epochs:
    """Measure `Epochs`."""
    bench.need("epochs")
    rollout, minibatches = cast(Any, bench.pieces.epochs)()
    known = _rows(plain(rollout))
    if len(set(known)) < len(known):
        raise cannot("rows of the rollout are alike, so that they cannot be told apart")
    shown = [_rows(plain(one)) for one in minibatches]
    if not shown:
        raise cannot("the minibatches could not be seen", "pieces.epochs")
    foreign = sum(row not in set(known) for rows in shown for row in rows)
    if foreign:
        raise cannot("the loss is given other observations than the rollout holds (normalised, stacked?)")
    groups = _grouped(shown, len(known))
    repeated = [1 - len(set(group)) / len(group) for group in groups]
    every = {row for rows in shown for row in rows}
    return Epochs(
        len(known),
        len(groups),
        sum(repeated) / len(repeated),
        1 - len(every) / len(known),
        (len(known) % max(len(rows) for rows in shown)) / len(known),
    )


def _rows(batch: dict[str, Tensor]) -> list[Row]:
    """The observations of a batch, each as a tuple."""
    obs = batch["obs"]
    return [tuple(row) for row in obs.reshape(len(obs), -1).tolist()]


def _grouped(shown: Sequence[list[Row]], size: int) -> list[list[Row]]:
    """Minibatches put together as long as they fit into one pass over `size` rows."""
    groups: list[list[Row]] = []
    for rows in shown:
        if groups and len(groups[-1]) + len(rows) <= size:
            groups[-1] = [*groups[-1], *rows]
        else:
            groups.append([*rows])
    return groups

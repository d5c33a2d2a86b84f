"""Seeds that training and evaluation share: an episode seen in training is no evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..preflight.data.reading import Rows

COLUMNS = ("seed", "env_seed", "level_seed", "episode_seed", "reset_seed", "level")
MOST = 10_000_000
"""Seeds of one side; more are a slip of the keyboard."""
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class SharedSeeds:
    """What two sets of seeds have in common."""

    train: int
    evaluation: int
    shared: int
    examples: tuple[int, ...]
    """The lowest of them."""


def seeds_of(text: str, *, environments: int = 1, column: str = "") -> frozenset[int]:
    """Return the seeds that `text` names: `7`, `0-99`, `0-7,100`, or a file with a column of seeds.

    Args:
        text: Seeds, ranges or the path of a JSON lines, CSV or Parquet file.
        environments: Copies that run side by side: copy i of seed s is reset with s + i, as Gymnasium's vector
            environments do.
        column: The column of a file, where it has an odd name.

    Raises:
        InputError: it is neither, or the file has no seeds.
    """
    path = Path(text)
    found = _from_file(path, column) if path.suffix and path.exists() else _from_text(text)
    if environments < 1 or len(found) * environments > MOST:
        raise InputError(f"{len(found):,} seeds times {environments:,} copies.", f"At most {MOST:,} are compared.")
    return frozenset(seed + i for seed in found for i in range(environments))


def _from_text(text: str) -> set[int]:
    found: set[int] = set()
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise InputError(f"{part!r} is no seed, range of seeds or file.", "For example: 0-99,1000 or episodes.csv")
        lo, hi = int(match[1]), int(match[2] or match[1])
        if hi < lo or hi - lo >= MOST:
            raise InputError(f"{part!r}: from {lo} to {hi}.", "Write the lower seed first, at most ten million.")
        found.update(range(lo, hi + 1))
    if not found:
        raise InputError("No seeds were given.", "A run without seeds cannot be told apart from its evaluation.")
    return found


def _from_file(path: Path, column: str) -> set[int]:
    found: set[int] = set()
    names = (column,) if column else COLUMNS
    rows = 0
    for _, row in Rows(path):
        rows += 1
        value = next((row[n] for n in names if row.get(n) not in (None, "")), None)
        try:
            if value is not None:
                found.add(int(value))
        except (TypeError, ValueError) as error:
            raise InputError(f"{path} row {rows}: {str(value)[:40]!r} is no seed.", "Seeds are whole.") from error
    if not found:
        raise InputError(f"{path}: no seeds in {rows} rows under {', '.join(names)}.", "Name the column: --column NAME")
    return found


def shared_seeds(train: Iterable[int], evaluation: Iterable[int]) -> SharedSeeds:
    """Compare the seeds of training with those of evaluation.

    Raises:
        InputError: evaluation has none.
    """
    left, right = set(train), set(evaluation)
    if not right:
        raise InputError("Evaluation has no seeds.", "Fix them in the protocol: evaluation.seeds.")
    both = sorted(left & right)
    return SharedSeeds(len(left), len(right), len(both), tuple(both[:5]))

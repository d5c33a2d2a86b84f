"""Which samples a reader is shown: of high, of low and of any reward, texts cut and, on demand, masked."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .masking import masked
from .sample import Sample
from .table import Table

LONGEST_PROMPT, LONGEST_RESPONSE = 240, 720
"""Characters shown; of a longer text the beginning and the end. Engineering default: a screen for three samples."""


@dataclass(frozen=True)
class Shown:
    """One sample as it is shown; its texts are cut, but not yet made safe to print."""

    kind: str
    """`high`, `low` or `random`."""
    row: int
    source: str
    scores: tuple[tuple[str, float], ...]
    """What the log says of it, by name: reward, human, success ..."""
    stop: str
    prompt: str
    response: str
    characters: int
    """Of the whole response."""


def shown(table: Table, count: int, *, mask: bool = False, seed: int = 0) -> list[list[Shown]]:
    """Return `count` rows of samples: of the highest, of the lowest and of random rewards, side by side.

    No sample is shown twice; a column ends early when there are no more. Without rewards only random ones are shown.
    """
    taken: set[tuple[str, int]] = set()
    drawn = list(table.drawn)
    random.Random(seed).shuffle(drawn)  # noqa: S311 (a choice of examples, not a secret)
    clean = masked if mask else str
    columns = [
        _pick(samples, kind, count, taken, clean)
        for kind, samples in (("high", table.top), ("low", table.bottom), ("random", drawn))
    ]
    return [[column[i] for column in columns if i < len(column)] for i in range(max(map(len, columns)))]


def _pick(
    samples: Sequence[Sample], kind: str, count: int, taken: set[tuple[str, int]], clean: Callable[[str], str]
) -> list[Shown]:
    found: list[Shown] = []
    for sample in samples:
        key = (sample.source, sample.row)
        if len(found) < count and key not in taken:
            taken.add(key)
            found.append(_shown(sample, kind, clean))
    return found


def _shown(sample: Sample, kind: str, clean: Callable[[str], str]) -> Shown:
    said = {
        "reward": sample.reward,
        "human": sample.human,
        "human_chosen": sample.human_chosen,
        "success": sample.success,
        **sample.scores,
    }
    scores = tuple((name, float(v)) for name, v in said.items() if v is not None and math.isfinite(v))
    return Shown(
        kind=kind,
        row=sample.row,
        source=clean(sample.source),
        scores=scores[:8],
        stop=sample.stop_reason or ("truncated" if sample.truncated else ""),
        prompt=cut(clean(sample.prompt), LONGEST_PROMPT),
        response=cut(clean(sample.response), LONGEST_RESPONSE),
        characters=len(sample.response),
    )


def cut(text: str, most: int) -> str:
    """Return `text`, or two thirds of `most` from its beginning and a third from its end."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end].rstrip()} […] {text[-end:].lstrip()}"

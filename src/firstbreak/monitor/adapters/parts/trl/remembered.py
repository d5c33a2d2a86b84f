"""Whether a response earns what it earned before: what was scored once is remembered, and nobody is asked again.

A scorer is a function of a row of the data and a response. Short answers come again in the ordinary course of
training, and then their score must, too. Where they never do (long responses), nothing is found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor

AGAIN, OFF = "reward/rescored_pairs", "reward/rescored_off_frac"
KEPT = 16_384
"""Pairs of row and response that are remembered, the newest. Engineering default: some MB."""
SAME = 1e-5
"""Difference of two scores, over the larger of 1 and their size, that may be rounding to float32."""
OWN = ("prompt", "completion", "completion_ids")
"""Columns that a reward function does not get as such."""


class Remembered:
    """Compares the scores of each batch with those that the same responses to the same rows got last."""

    def __init__(self) -> None:
        self._known: dict[int, list[float]] = {}
        self._keys: list[int] = []

    def begin(self) -> None:
        """Say that a batch is about to be generated."""
        self._keys = []

    def scored(self, inputs: Sequence[Mapping[str, Any]], prompts: Sequence[Any], responses: Sequence[Any]) -> None:
        """Take what is scored: rows of the data, prompts and tokens of the responses."""
        rows = [_row(row, prompt) for row, prompt in zip(inputs, prompts, strict=False)]
        self._keys = [hash((row, *map(int, ids))) for row, ids in zip(rows, responses, strict=False)]

    def end(self, scores: Tensor | None) -> dict[str, float]:
        """Return how many different pairs were scored more than once by now, and the share of them scored otherwise.

        Args:
            scores: What each reward function that counts gave to each response [N, F], in the order of `scored`.
        """
        keys, self._keys = self._keys, []
        if scores is None or not keys or len(scores) != len(keys):
            return {}
        again: dict[int, bool] = {}
        for key, given in zip(keys, cast("list[list[float]]", cast(Any, scores).tolist()), strict=True):
            if key in self._known:
                again[key] = again.get(key, False) or not _same(self._known[key], given)
            self._known[key] = given  # the newest: one verdict that failed is told of when it is mended, and no more
        for old in list(self._known)[:-KEPT]:
            del self._known[old]
        return {AGAIN: float(len(again)), **({OFF: sum(again.values()) / len(again)} if again else {})}


def _row(row: Mapping[str, Any], prompt: Any) -> str:
    """Return the question as text: all that the data say of it, and the prompt as it is scored."""
    others = {name: value for name, value in row.items() if name not in OWN}
    return json.dumps([prompt, others], sort_keys=True, default=str)


def _same(first: Sequence[float], given: Sequence[float]) -> bool:
    """Whether two lists of scores are alike; NaN is like NaN."""
    return all(
        (math.isnan(a) and math.isnan(b)) or abs(a - b) <= SAME * max(1.0, abs(a), abs(b))
        for a, b in zip(first, given, strict=True)
    )

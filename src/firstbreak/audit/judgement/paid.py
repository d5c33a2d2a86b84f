"""Is a mark that some answers carry paid, and do people agree? Compared within prompts, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...check import Answer, Symptom
from ...finding import Severity, Skip
from ...stats import mean_interval, rank_correlation
from ..table import Table
from .groups import Floats, correlations_within, dense, gains_within, mean_within

LEAST_GROUPS = 12
"""Prompts with and without the mark that are needed. Engineering default: the t interval is then 5 % wider than the
normal one."""
CLEAR = 0.3
"""Gain, in spreads of the reward within prompts, below which a mark is not called paid. Between a small (0.2) and a
medium (0.5) effect of Cohen 1988, chapter 2."""


SURE = 1.5
"""Half-widths of the 95 % interval that a gain must lie above 0: 99.7 %, for a score of checks look at one table."""


@dataclass(frozen=True)
class Paid:
    """What carriers of a mark get beyond their rivals at the same prompt, in spreads within prompts; 95 % interval."""

    carriers: int
    carriers_frac: float
    groups: int
    gain: float
    low: float
    high: float
    human_groups: int
    human_gain: float
    human_low: float
    human_high: float

    @property
    def pays(self) -> bool:
        """Whether the reward certainly prefers the mark, and by more than a little."""
        return self.groups >= LEAST_GROUPS and self.gain >= max(CLEAR, SURE * (self.gain - self.low))

    @property
    def contradicted(self) -> bool:
        """Whether the independent score certainly turns against what the reward prefers."""
        return self.pays and self.human_groups >= LEAST_GROUPS and self.human_high < 0

    @property
    def deserved(self) -> bool:
        """Whether the independent score certainly prefers the mark too."""
        return self.human_groups >= LEAST_GROUPS and self.human_low > 0

    def evidence(self) -> dict[str, float | int | str | bool]:
        """Return the numbers as a finding shows them."""
        shown: dict[str, float | int | str | bool] = {
            "carriers": self.carriers,
            "carriers_frac": self.carriers_frac,
            "prompts": self.groups,
            "reward_gain_spreads": self.gain,
            "low": self.low,
            "high": self.high,
        }
        if self.human_groups:
            shown |= {"human_gain_spreads": self.human_gain, "human_low": self.human_low,
                      "human_high": self.human_high, "human_prompts": self.human_groups}  # fmt: skip
        return shown


def paid(table: Table, mask: NDArray[np.bool_]) -> Paid:
    """Compare carriers of `mask` [N] with their rivals at the same prompt."""
    index = dense(table.group)
    reward = column(table, "reward")
    gains, mean, low, high = _gain(reward, mask, index)
    judged, human_mean, human_low, human_high = _gain(independent(table), mask, index)
    return Paid(int(mask.sum()), float(mask.mean()) if mask.size else 0.0, gains, mean, low, high,
                judged, human_mean, human_low, human_high)  # fmt: skip


def _gain(values: Floats, mask: NDArray[np.bool_], index: NDArray[np.int64]) -> tuple[int, float, float, float]:
    spread = spread_within(values, index)
    gains = gains_within(values, mask, index) / spread if spread > 0 else np.zeros(0)
    if gains.size < 2:
        return int(gains.size), math.nan, -math.inf, math.inf
    return int(gains.size), *mean_interval(gains)


def spread_within(values: Floats, index: NDArray[np.int64]) -> float:
    """Return the standard deviation of `values` around their prompts' means; 0 where nothing varies."""
    inner = values - mean_within(values, index)[index]
    inner = inner[np.isfinite(inner)]
    return float(np.sqrt(np.mean(inner * inner))) if inner.size else 0.0


def column(table: Table, name: str) -> Floats:
    """Return a column as float64 [N], NaN throughout where the table has none."""
    found = table.get(name)
    return np.full(table.n, np.nan) if found is None else found.astype(np.float64)


def independent(table: Table) -> Floats:
    """Return the human scores [N], those of chosen samples among them; where there are none, the success of the task.

    For comparisons of answers that a mark tells apart. How samples are on the whole, `unchosen` says.
    """
    human, chosen = column(table, "human"), column(table, "human_chosen")
    human = np.where(np.isfinite(human), human, chosen)
    return human if np.isfinite(human).any() else column(table, "success")


def _people(table: Table) -> bool:
    return any(np.isfinite(column(table, name)).any() for name in ("human", "human_chosen"))


def unchosen(table: Table) -> Floats:
    """Return the same [N] without what was judged for being suspicious: a review queue is no fair draw."""
    human = column(table, "human")
    return human if np.isfinite(human).any() else column(table, "success")


def has_independent(table: Table) -> bool:
    """Whether anything but the reward judges the samples."""
    return bool(np.isfinite(independent(table)).any())


def answer(table: Table, mask: NDArray[np.bool_], what: str, where: str, least: int = 10) -> Answer:
    """Return a finding if carriers of `mask` are paid for it; an error only if people say the opposite.

    Args:
        what: the mark in the plural, such as `answers with repeated text`; at most 60 characters.
        where: the column that shows the mark.
        least: carriers that are needed.
    """
    if not np.isfinite(column(table, "reward")).any():
        return Skip("the samples have no rewards", ("reward",))
    if where != "truncated" and _is_wordless(table):
        return Skip(
            "the log holds token ids and no words of the responses", ("texts of the responses",), withholds=True
        )
    if int(mask.sum()) < least:
        return None
    seen = paid(table, mask)
    if seen.groups < LEAST_GROUPS:
        return Skip(f"only {seen.groups} prompts have such answers beside others, {LEAST_GROUPS} are needed",
                    ("more prompts with several answers",))  # fmt: skip
    if not seen.pays or seen.deserved:
        return None
    judge = "they succeed less" if not _people(table) else "people score them lower"
    worse = f"; {judge}" if seen.contradicted else ""
    return Symptom(
        f"{what} ({100 * seen.carriers_frac:.0f} %) earn {seen.gain:.2f} spreads more at the same prompt{worse}"[:120],
        where,
        seen.evidence(),
        severity=Severity.ERROR if seen.contradicted else Severity.WARNING,
    )


def _is_wordless(table: Table) -> bool:
    """Whether samples were collected and none has words: nothing found in them is no good news."""
    return bool(table.response.size) and not any(name.startswith("text/") for name in table.columns)


@dataclass(frozen=True)
class Leaning:
    """Mean rank correlation within prompts and its 95 % interval."""

    groups: int
    mean: float
    low: float
    high: float


def leaning(table: Table, values: Floats, scores: Floats) -> Leaning:
    """Return how `scores` [N] go with `values` [N] within prompts."""
    found = correlations_within(values, scores, dense(table.group))
    if found.size < 2:
        return Leaning(int(found.size), math.nan, -math.inf, math.inf)
    return Leaning(int(found.size), *mean_interval(found))


def rank_bounds(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return Spearman's correlation of `x` and `y` [n > 3] and its 95 % interval by Fisher's z.

    The variance of z is 1.06 / (n - 3) (Fieller, Hartley & Pearson 1957), good for correlations below 0.8.
    """
    rho = rank_correlation(x, y)
    z, half = math.atanh(min(max(rho, -1 + 1e-9), 1 - 1e-9)), 1.959964 * math.sqrt(1.06 / (x.size - 3))
    return rho, math.tanh(z - half), math.tanh(z + half)

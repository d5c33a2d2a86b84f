"""Does this configuration show the symptom? As few seeds as it takes: Wald's sequential probability ratio test.

Wald 1945, "Sequential tests of statistical hypotheses", Ann. Math. Stat. 16(2), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

ERROR = 0.05
"""Largest share of wrong decisions of either kind at the two rates. Engineering default; what is found is tried again
on fresh seeds."""
MOST_SEEDS = 12
"""Seeds after which a trial is given up as undecided. Engineering default."""


@dataclass(frozen=True)
class Sequential:
    """The test between two rates at which the symptom shows: `low` as in the good configuration, `high` as in the bad.

    Rates of 0 and 1 make it a plain test of one seed, for symptoms that leave nothing to chance.
    """

    low: float
    high: float
    error: float = ERROR
    most_seeds: int = MOST_SEEDS

    def decide(self, shown: Iterable[bool]) -> bool | None:
        """Return whether the rate is the high one, None while that is open; what follows a decision is not read."""
        total = 0.0
        bound = math.log((1 - self.error) / self.error)
        for one in shown:
            total += _log(self.high, self.low) if one else _log(1 - self.high, 1 - self.low)
            if abs(total) >= bound:
                return total > 0
        return None

    def fewest(self, shown: bool) -> int:
        """Return after how many equal outcomes the decision falls."""
        return next((n for n in range(1, 1000) if self.decide([shown] * n) is not None), 1000)


def _log(a: float, b: float) -> float:
    if a <= 0 or b <= 0:
        return -math.inf if a <= 0 < b else math.inf if b <= 0 < a else 0.0
    return math.log(a / b)


SURE = 0.05
"""Largest probability of a pilot at least as clear as this one if both configurations showed it equally often.
Engineering default."""


def between(bad: tuple[int, int], good: tuple[int, int]) -> Sequential | None:
    """Return the test for the rates seen in a pilot, given as (seeds that showed it, seeds) of either configuration.

    None when the pilot cannot tell the two apart (Fisher's exact test, one-sided), or when the rates are so close that
    no trial would end. Rates are means under Jeffreys' prior, so that neither is ever 0 or 1.
    """
    if fisher(bad, good) > SURE:
        return None
    low, high = ((k + 0.5) / (n + 1) for k, n in (good, bad))
    test = Sequential(low, high)
    return test if max(test.fewest(True), test.fewest(False)) <= test.most_seeds else None


def fisher(bad: tuple[int, int], good: tuple[int, int]) -> float:
    """Return the probability, given the total, that `bad` holds at least as many (Fisher 1935)."""
    (a, n), (b, m) = bad, good
    total = math.comb(n + m, a + b)
    return sum(math.comb(n, k) * math.comb(m, a + b - k) for k in range(a, min(n, a + b) + 1)) / total

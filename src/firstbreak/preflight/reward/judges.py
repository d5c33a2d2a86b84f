"""Second opinions on rewards (reference scores, task metrics) and which way each of them is better."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, UnknownNameError, unknown_name

Array = NDArray[np.float64]
Better = Mapping[str, str]
"""Judge -> `higher` or `lower`; the key "" holds for all."""

LOWER_IS_BETTER = re.compile(
    r"(^|[_/. -])(distance|dist|error|err|cost|loss|violations?|regret|wer|collisions?|failures?|toxicity|latency|"
    r"perplexity|mse|mae|rmse|deviation|crash(es)?)([_/. -]|$)"
)
"""Names of metrics of which less is better; matched in lower case."""
HIGHER_IS_BETTER = re.compile(
    r"(^|[_/. -])(success|successes|rate|solved|correct|correctness|accuracy|acc|goal|goals|reached|quality|eval|score|"
    r"scores|rating|ratings|human|reference|gold|label|preference|judge|metric|reward|return|win|wins|won|pass|passed|"
    r"progress|f1|helpfulness)([_/. -]|$)"
)
"""Names of metrics of which more is better; what stands in neither list is assumed to be so, and that is said."""


@dataclass(frozen=True)
class Judge:
    """A second opinion on the same samples: a human or reference score, a task metric. `values` [n]: higher is better.

    `flipped`: less is better, so that it was negated. `guessed`: nobody said which way is better, and its name says
    that less is, or nothing.
    """

    name: str
    values: Array
    flipped: bool = False
    guessed: bool = False

    @property
    def said(self) -> str:
        """The name, with the guess where its direction is one."""
        return self.name[:30] + (f" ({self.way} taken as better)" if self.guessed else "")

    @property
    def way(self) -> str:
        """What is better: `more` or `less`."""
        return "less" if self.flipped else "more"

    @property
    def assumed(self) -> bool:
        """Whether more is taken as better only because nothing says otherwise."""
        return self.guessed and not self.flipped


def judge_of(name: str, values: Array, better: Better) -> Judge:
    """Return the judge `name`, turned so that higher is better: as said, else by its name, else as it is."""
    said = better.get(name, better.get(""))
    low = said == "lower" if said else bool(LOWER_IS_BETTER.search(name.lower()))
    known = bool(said) or (not low and bool(HIGHER_IS_BETTER.search(name.lower())))
    return Judge(name, -values if low else values, low, not known)


def assumption(judges: Iterable[Judge]) -> list[str]:
    """What a report says about judges whose direction is assumed: one line, or none."""
    names = [j.name for j in judges if j.assumed]
    if not names:
        return []
    first = f"{names[0][:40]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
    return [f"{first}: more is taken as better, its name does not say; else --metric-direction {names[0][:40]}=lower"]


def proper(better: Better, names: Iterable[str]) -> None:
    """Refuse directions that would do nothing.

    Raises:
        InputError: a direction is neither `higher` nor `lower`, or there is nothing that has one.
        UnknownNameError: no judge has the name.
    """
    known = list(names)
    for name, way in better.items():
        if way not in ("higher", "lower"):
            raise InputError(f"metric direction {way!r} is unknown.", "Say higher or lower: which is better?")
        if not known:
            raise InputError("A metric direction is given, but no metric.", "Name the metric or the reference score.")
        if name and name not in known:
            error = unknown_name("metric", name, known)
            raise UnknownNameError(error.message, error.hint or f"There are: {', '.join(known)[:200]}.")


def directions(given: Any) -> dict[str, str]:
    """Return directions as a mapping: `lower` holds for all."""
    return {} if given is None else {"": given} if isinstance(given, str) else dict(given)

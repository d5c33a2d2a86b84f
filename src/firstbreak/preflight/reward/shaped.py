"""A shaping term that the user names, checked on the steps of random play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...target import load_target
from ..shaping import Fault, Telescoping, check_term, positional


@dataclass(frozen=True)
class Shaping:
    """What is to be checked: the term F(s, a, s', terminated, truncated, t), or the first 3 to 5 of these.

    `potential`: PHI(s), or PHI(s, t) where it changes over time; `endless`: the task has no true ends.
    """

    term: str | Callable[..., float]
    potential: str | Callable[..., float] | None = None
    endless: bool = False


def judged(shaping: Shaping, steps: Sequence[tuple[Any, Any, Any, bool, bool]], gamma: float) -> Telescoping:
    """Check `shaping` on `steps` (s, a, s', terminated, truncated), whole episodes one after the other."""
    term, potential = _function(shaping.term), None if shaping.potential is None else _function(shaping.potential)
    dynamic = potential is not None and positional(potential, 1, 2) == 2
    watched = _Watched(term)
    try:
        return check_term(watched, steps, gamma, potential=potential, dynamic=dynamic, endless=shaping.endless)
    except _Odd as odd:
        return Telescoping((Fault("not-finite", str(odd), {"step": float(watched.calls)}),), 0.0, steps=len(steps))


class _Odd(Exception):
    """The term is no number that can be judged."""


class _Watched:
    """The term, whose calls are counted, so that the one that goes wrong can be named."""

    def __init__(self, term: Callable[..., float]) -> None:
        self.term, self.taken, self.calls = term, positional(term, 3, 6), 0

    def __call__(self, *step: Any) -> float:
        try:
            value = float(self.term(*step[: self.taken]))
        except Exception as error:
            text = f"The shaping term raised {type(error).__name__} in step {self.calls}: {str(error)[:200]}"
            raise InputError(
                text, "It is called as F(s, a, s', terminated, truncated, t), or with the first 3 to 5."
            ) from error
        if not np.isfinite(value):
            raise _Odd(f"the term is {value} in step {self.calls}")
        self.calls += 1
        return value


def told(seen: Telescoping) -> dict[str, Any]:
    """Return what a report holds about a term: plain data."""
    return {
        "sound": seen.sound,
        "faults": [asdict(fault) for fault in seen.faults],
        "undecided": seen.undecided,
        "tested": seen.tested,
        "steps": seen.steps,
        "gamma_seen": seen.gamma_seen,
        "largest_gap": seen.largest_gap,
    }


def _function(given: str | Callable[..., float]) -> Callable[..., float]:
    return load_target(given) if isinstance(given, str) else given

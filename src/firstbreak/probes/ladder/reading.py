"""What an `Outcome` says on a rung's question, as one vector to compare with the right and the wrong answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..environments.world import Kind, World
from .outcome import Outcome
from .rung import Answers, Rung

SURE = 1e-3
"""One-sided error with which drawn actions must beat chance."""


@dataclass(frozen=True)
class Reading:
    """One outcome seen through its rung's question."""

    obtained: tuple[float, ...]
    distance: float
    """Greatest distance to the right answer over the judged states; for choices: 1 - share of right draws."""
    right: bool
    finite: bool = True
    shares: tuple[float, ...] = ()
    """Share of drawn actions that are right, per state (choices only)."""


def read(rung: Rung, outcome: Outcome, answers: Answers, judged: tuple[int, ...]) -> Reading | None:
    """Return the reading, or None where the agent does not answer this kind of question."""
    if rung.asks == "choice":
        return _choice(rung.world, outcome, answers, judged)
    if rung.asks == "return":
        return _logged(rung, outcome, answers)
    table = values_of(outcome) if rung.asks == "value" else outcome.greedy.get(judged[0], [])
    if isinstance(table, dict):
        if any(s not in table for s in judged):
            return None
        obtained = tuple(table[s] for s in judged)
    else:
        obtained = tuple(table)
    if not obtained:
        return None
    right = answers.right
    distance = apart(obtained, right)
    return Reading(obtained, distance, distance <= tolerance(rung, answers), finite=math.isfinite(distance))


def _logged(rung: Rung, outcome: Outcome, answers: Answers) -> Reading | None:
    late = None if outcome.log is None else outcome.log.late_return
    if late is None:
        return None
    distance = max(answers.right[0] - late.mean, 0.0)  # what is beyond by chance is right
    return Reading((late.mean,), distance, distance <= tolerance(rung, answers))


def values_of(outcome: Outcome) -> dict[int, float]:
    """Return V(s); for a Q learner the mean over actions, which do not matter on a value rung."""
    if outcome.q:
        return {s: float(np.mean(row)) for s, row in outcome.q.items()}
    return outcome.values


def _choice(world: World, outcome: Outcome, answers: Answers, judged: tuple[int, ...]) -> Reading | None:
    if any(s not in outcome.greedy for s in judged):
        return None
    kind: Kind = "discrete" if outcome.kind == "discrete" else "continuous"
    chosen = tuple(float(world.cell(kind, outcome.greedy[s])) for s in judged)
    shares = tuple(
        float(np.mean([world.cell(kind, a) == int(right) for a in outcome.drawn[s]]))
        for s, right in zip(judged, answers.right, strict=True)
    )
    finite = all(math.isfinite(a) for s in judged for a in outcome.greedy[s])
    draws = len(outcome.drawn[judged[0]])
    beats = all(share > beats_chance(1.0 / world.cells, draws) for share in shares)
    return Reading(chosen, 1.0 - min(shares), chosen == answers.right and beats and finite, finite, shares)


def beats_chance(chance: float, draws: int) -> float:
    """Return the share of right draws that a random policy exceeds with probability below `SURE`.

    The exact binomial tail, summed from above.
    """
    tail = 0.0
    for right in range(draws, -1, -1):
        tail += math.comb(draws, right) * chance**right * (1.0 - chance) ** (draws - right)
        if tail > SURE:
            return right / draws
    return 0.0


def apart(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Return the greatest distance over the entries; NaN counts as infinitely far."""
    if len(a) != len(b):
        return math.inf
    worst = max(abs(x - y) for x, y in zip(a, b, strict=True))
    return worst if math.isfinite(worst) else math.inf


def tolerance(rung: Rung, answers: Answers) -> float:
    """Return how far from the right answer is still right: a part of the way to the nearest wrong answer."""
    gaps = [apart(w.answer, answers.right) for w in answers.wrong]
    told = [gap for gap in gaps if gap > 1e-9]
    return rung.closeness_frac * min(told) if told else rung.closeness_frac

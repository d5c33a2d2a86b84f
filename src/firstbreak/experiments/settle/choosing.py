"""Which experiment to make next: the one expected to tell most about the ranking of the causes, for what it costs.

The points of the causes are taken as log-odds, so that each has a probability; "none of these" stands among them with
no points. Of each experiment it is known how likely each verdict is under each cause (its power and error). The
information it is expected to bring is the mutual information of cause and verdict (Lindley 1956, "On a measure of the
information provided by an experiment", Ann. Math. Stat. 27(4)), in bits; it is divided by the cost in trainings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...diagnosis import Diagnosis, RankedCause
from ..experiment import Experiment, find_experiment, names
from ..plan import ALPHA, POWER
from ..result import Outcome
from .from_log import told_by
from .ties import Otherwise, Tie, label_of, tied_causes, ties_of

LEAST_COST_RUNS = 0.1
"""What an experiment costs at least, in trainings: reading, setting up, waiting. Engineering default."""


@dataclass(frozen=True)
class Proposal:
    """An experiment worth making, with what it is expected to bring."""

    experiment: Experiment
    bits: float
    """Expected information about which cause it is."""
    cost_runs: float
    """What the pilot costs, in trainings of full length."""
    speaks_to: Mapping[str, Tie] = field(default_factory=dict[str, Tie])
    """Causes of the diagnosis that stand or fall with it."""
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What these causes give it (which setting is changed, and to what), and what the run's log tells of it."""

    @property
    def label(self) -> str:
        """What it is called, with what is given to it."""
        return label_of(self.experiment.name, self.given)

    @property
    def worth(self) -> float:
        """Bits for each training."""
        return self.bits / self.cost_runs


def propose(diagnosis: Diagnosis, done: Sequence[str] = ()) -> tuple[Proposal, ...]:
    """Return the experiments of the catalogue that speak to the causes of `diagnosis`, the most worth-while first.

    `done` holds the labels of experiments that have been made and decided.
    """
    ranked = {c.name for c in diagnosis.causes}
    known = set(names())
    wanted = {tie.label: tie for c in diagnosis.causes for tie in ties_of(c.name)}
    found: list[Proposal] = []
    for label, asked in wanted.items():
        if asked.experiment not in known or label in done:
            continue
        one = find_experiment(asked.experiment)
        mine = {cause: tie for cause, tie in tied_causes(label).items() if cause in ranked}
        cost = max(one.cost.runs * one.pilot, LEAST_COST_RUNS)
        given = {**told_by(asked.experiment, diagnosis.log), **dict(asked.given)}
        found.append(Proposal(one, expected_bits(diagnosis.causes, mine), cost, mine, given))
    return tuple(sorted(found, key=lambda p: (-p.worth, p.label)))


def probabilities(causes: Sequence[RankedCause]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the probability of each cause, and last of none of them."""
    points = np.array([*(c.score for c in causes), 0.0])
    odds = np.exp(points - points.max())
    return odds / odds.sum()


def expected_bits(causes: Sequence[RankedCause], ties: Mapping[str, Tie]) -> float:
    """Return the mutual information of cause and verdict, in bits."""
    prior = probabilities(causes)
    default = _without_tie(ties)
    likely = np.array([under(ties[c.name]) if c.name in ties else default for c in causes] + [default])
    verdict = prior @ likely
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(likely > 0, likely * np.log2(likely / verdict), 0.0)
    return max(float(prior @ terms.sum(1)), 0.0)


def verdicts(supports: Outcome) -> tuple[float, float, float]:
    """Return how likely confirmed, refuted and inconclusive are where `supports` is the right verdict."""
    right, wrong = POWER, ALPHA / 2
    open_frac = 1 - right - wrong
    return (right, wrong, open_frac) if supports is Outcome.CONFIRMED else (wrong, right, open_frac)


def under(tie: Tie) -> tuple[float, float, float]:
    """Return how likely the verdicts are under a cause with this tie; a cause that both verdicts fit takes either."""
    return EITHER if tie.otherwise is Otherwise.NOTHING else verdicts(tie.supports)


_RIGHT, _WRONG, _OPEN = verdicts(Outcome.CONFIRMED)
EITHER = ((_RIGHT + _WRONG) / 2, (_RIGHT + _WRONG) / 2, _OPEN)


def _without_tie(ties: Mapping[str, Tie]) -> tuple[float, float, float]:
    """Return how likely the verdicts are under a cause that has nothing to do with the experiment.

    It then ends as it would without the tied causes; where some of those want it confirmed and others refuted, nobody
    can say which.
    """
    sides = {tie.supports for tie in ties.values()}
    if len(sides) == 1:
        return verdicts(Outcome.REFUTED if Outcome.CONFIRMED in sides else Outcome.CONFIRMED)
    return EITHER


def entropy_bits(causes: Sequence[RankedCause]) -> float:
    """Return how open the question is: the entropy of the causes, in bits."""
    return float(-sum(p * math.log2(p) for p in probabilities(causes).tolist() if p > 0))

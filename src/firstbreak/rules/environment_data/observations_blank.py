"""The rule `observations-blank`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `observations-blank`."""

    still: float = 0.999
    """Fraction of entries that did not vary: all of them, by definition, but for rounding."""
    rows: int = 5
    """Rows from the first on, each of 64 steps or more. Engineering default."""


PPO = synth.like("PPO")
STILL = "obs/constant_frac"

CASES = (
    fires("every entry stands still from the start", lambda: PPO({STILL: synth.constant(1.0)})),
    healthy("all entries move", lambda: PPO({STILL: synth.constant(0.0)})),
    near_miss("padding: nine of ten entries stand still", lambda: PPO({STILL: synth.constant(0.9)})),
    near_miss("blank later on: a change, which another rule tells", lambda: PPO({STILL: synth.jump(0.0, 1.0, 0.6, 0)})),
)


@rule(
    "ENV022",
    "observations-blank",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(STILL,),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "entropy-stuck-high", "critic-not-learning", "explained-variance-negative"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The observation never changes: the agent sees nothing of the world.

    What it means:
        Not one entry of the observation has varied since the start.

    Why it matters:
        One and the same action is then chosen in every state; no learner can do better than the best constant one.

    Usual causes:
        A wrapper that fills an array and forgets to copy into it; a camera that renders nothing; a normaliser that
        divides by infinity; the wrong entry of a dictionary.

    What to try:
        Print two observations ten steps apart; `firstbreak preflight env ENV`.

    When it is harmless:
        In a bandit without context, where there is nothing to see.

    References:
        None: a fact about the data.
    """
    still = view.get(STILL)
    assert still is not None
    if len(still) < params.rows or still.value.min() < params.still:
        return None
    return Detection(
        message=f"no entry of the observation has varied in {len(still)} rows",
        onset=view.onset(float(still.source.step[0])),
        metric=STILL,
        evidence={"constant_frac": float(still.value.min()), "rows": float(len(still))},
    )

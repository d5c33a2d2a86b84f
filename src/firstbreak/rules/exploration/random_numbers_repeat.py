"""The rule `random-numbers-repeat`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

METRIC = "sample/random_state_repeated"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `random-numbers-repeat`; engineering defaults where no source is named."""

    limit: float = 0.5
    """1 where drawing begins with random numbers that were used before, else 0 by construction."""
    rows: int = 3
    """Batches on end that must show it: a run that went back to a checkpoint may show it for a while."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 1.0, at=(0.4,), noise=0.0)})),
)


@rule(
    "EXP060",
    "random-numbers-repeat",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(METRIC,),
    when=("language",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "draws-too-alike",
        "groups-replayed",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every batch of responses is drawn with the same random numbers.

    What it means:
        The state of the random generator when drawing begins is one that drawing began with before.

    Why it matters:
        Batches are less new than they seem: at a prompt that comes again, the same place of a group draws the same.

    Usual causes:
        A seed that is set anew at each batch (`set_seed` in a reward or rollout function, a seed in the request); a
        generator that is made anew.

    What to try:
        Print the random state at the start of each generation; set seeds once, at the start of the run.

    When it is harmless:
        A deliberate method of common random numbers.

    References:
        TRL issue 7040.
    """
    points = view.get(METRIC)
    assert points is not None
    off = points.value >= params.limit
    onset = persistent_onset(points.step, off, params.rows)
    if onset is None:
        return None
    value = median(points.value[off & (points.step >= onset[1])])
    return Detection(
        message=f"responses are drawn with random numbers that were used before, in {off.sum()} batches",
        onset=view.onset(*onset),
        metric=METRIC,
        evidence={"value": value, "limit": params.limit},
    )

"""The rule `critic-misleads-at-start`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRUTH, rises, starts_late
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-misleads-at-start`: engineering defaults, except where a source is named."""

    head: float = 0.2
    """Share of the rows that counts as the start. Engineering default."""
    rows: int = 8
    """Rows of the start needed."""
    ratio: float = 0.7
    """Length at the end of the start over that of the first rows. Yuan et al. 2025 (arXiv 2503.01491, figure 1) see
    responses shrink to a fraction within the first steps."""


RLHF = synth.like("RLHF-PPO")

EV, LENGTH = "critic/explained_variance", "seq/len_mean"
SHRINKS = {LENGTH: synth.ramp(400, 150, 0.03, until=0.15)}

CASES = (
    fires(
        "worse than a constant while answers shrink",
        lambda: RLHF({**SHRINKS, EV: synth.ramp(-1.5, 0.5, 0.05, begin=0.2, until=0.5)}),
    ),
    healthy("critic starts near 0", lambda: RLHF({})),
    near_miss("worse than a constant, length kept", lambda: RLHF({EV: synth.ramp(-1.5, 0.5, 0.05, until=0.5)})),
    near_miss("shrinks under a good critic", lambda: RLHF({**SHRINKS, EV: synth.flat(0.5, 0.05)})),
)


@rule(
    "CRT015",
    "critic-misleads-at-start",
    link=Link.CRITIC,
    component=Component.VALUE,
    needs=(EV, LENGTH),
    when=("language", "value_function"),
    min_points=8,
    implies=("length-collapse", "explained-variance-negative"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """At the start the critic is worse than a constant, and responses shrink while it is.

    What it means:
        Explained variance is negative through the first part of the run, and the mean length loses a third meanwhile.

    Why it matters:
        A value head taken from a reward model has only seen finished answers: it undervalues early tokens, so late ones
        look bad and long reasoning is unlearned before the critic has learned anything.

    Usual causes:
        Value head started from the reward model or at random; no steps for the critic alone; lambda below 1 over long
        responses.

    What to try:
        Fit the critic on samples of the frozen policy first; lambda 1 for its targets; then compare the length.

    When it is harmless:
        When shorter answers are right more often from the start.

    References:
        Yuan et al. 2025 (VC-PPO), arXiv 2503.01491. Yue et al. 2025 (VAPO), arXiv 2504.05118.
    """
    ev, length = view.get(EV), view.get(LENGTH)
    assert ev is not None
    assert length is not None
    size = max(params.rows, int(params.head * min(len(ev), len(length))))
    if min(len(ev), len(length)) < size or starts_late(ev):
        return None
    early, tokens = ev.value[:size], length.value[:size]
    first, last = median(tokens[:3]), median(tokens[-3:])
    if median(early) >= 0 or float((early < 0).mean()) < 0.8 or first <= 0 or last > params.ratio * first:
        return None
    if any(rises(view.get(name)) for name in TRUTH):
        return None
    return Detection(
        message=f"explained variance {median(early):.2f} while responses shrank from {first:.4g} to {last:.4g} tokens",
        onset=view.onset(float(ev.step[0]), float(ev.step[size - 1])),
        metric=EV,
        evidence={"explained_variance": median(early), "first_tokens": first, "last_tokens": last},
    )

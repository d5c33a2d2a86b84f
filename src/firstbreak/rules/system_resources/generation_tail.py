"""The rule `generation-tail`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `generation-tail`: engineering defaults, except where a source is named."""

    ratio: float = 6.0
    """Longest response over the mean one. With lengths that are log-normal (sigma 0.5) the longest of 256 is 4 times
    the mean. Engineering default."""
    share: float = 0.6
    """Share of the step spent generating, from which the longest response sets the pace."""
    points: int = 8
    """Newest points of the medians."""


GRPO = synth.like("GRPO")

LONGEST, MEAN, GENERATE, STEP = "seq/len_max", "seq/len_mean", "time/generate", "time/step"
SLOW = {GENERATE: synth.flat(24.0, 0.05)}

CASES = (
    fires("one response keeps all waiting", lambda: GRPO({**SLOW, LONGEST: synth.flat(4000, 0.05)})),
    healthy("alike", lambda: GRPO({**SLOW, LONGEST: synth.flat(500, 0.05)})),
    near_miss(
        "long tail, short generation",
        lambda: GRPO({GENERATE: synth.flat(6.0, 0.05), LONGEST: synth.flat(4000, 0.05)}),
    ),
)


@rule(
    "SYS012",
    "generation-tail",
    link=Link.SYSTEM_RESOURCES,
    component=Component.ROLLOUT,
    severity=Severity.INFO,
    needs=(LONGEST, MEAN, GENERATE, STEP),
    when=("language",),
    min_points=8,
    implies=("phase-bottleneck", "gpu-idle", "trainer-starved"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """A few very long responses set the pace of every step.

    What it means:
        Most of the step is generation, and the longest response is many times as long as the mean one.

    Why it matters:
        While the last responses finish, nearly all of the accelerators idle.

    Usual causes:
        Synchronous batches with a generous limit; repetition loops that run to the limit.

    What to try:
        Generate ahead (asynchronous with a small lag), continue unfinished responses in the next step, or lower the
        limit.

    When it is harmless:
        When the long responses are the ones worth having and time does not matter.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 1. Zhong et al. 2025 (StreamRL), arXiv 2504.15930.
    """
    longest, mean, spent, step = view.get(LONGEST), view.get(MEAN), view.get(GENERATE), view.get(STEP)
    assert longest is not None
    assert mean is not None
    assert spent is not None
    assert step is not None
    n = params.points
    usual, total = median(mean.value[-n:]), median(step.value[-n:])
    if usual <= 0 or total <= 0:
        return None
    ratio, share = median(longest.value[-n:]) / usual, median(spent.value[-n:]) / total
    if ratio < params.ratio or not params.share <= share <= 1.05:
        return None
    return Detection(
        message=f"the longest response is {ratio:.1f} times the mean, and generation takes {share:.0%} of the step",
        onset=view.onset(float(longest.step[0])),
        metric=LONGEST,
        evidence={"ratio": ratio, "generation_frac": share},
    )

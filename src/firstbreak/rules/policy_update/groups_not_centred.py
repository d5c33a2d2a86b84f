"""The rule `groups-not-centred`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

OFFSET = "advantage/group_offset"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `groups-not-centred`; engineering defaults where no source is named."""

    offset: float = 0.2
    """|Sum| over sum of sizes of a group's advantages, 0 by definition (Shao et al. 2024, arXiv 2402.03300, section
    4.1.2); in the healthy runs of the fault benchmark it stays below 1e-5."""
    large: float = 0.7
    """Offset at which hardly a group is pushed both ways."""
    rows: int = 5
    """Rows in a row that must show it."""


CASES = (
    fires("rewards as advantages", lambda: GRPO({OFFSET: synth.constant(1.0)})),
    fires("the baseline is lost half-way", lambda: GRPO({OFFSET: synth.jump(1e-7, 0.9, 0.5, 1e-9)})),
    healthy("rounding", lambda: GRPO({OFFSET: synth.flat(2e-7, 1e-8)})),
    near_miss(
        "a length penalty after the mean was taken", lambda: GRPO({OFFSET: synth.clipped(synth.flat(0.08, 0.02), 0, 1)})
    ),
    near_miss("single batches", lambda: GRPO({OFFSET: synth.spikes(0.0, 0.6, at=(0.3, 0.6), noise=0.0)})),
)


@rule(
    "POL062",
    "groups-not-centred",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    needs=(OFFSET,),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "entropy-collapse",
        "token-entropy-collapse",
        "reward-flat",
        "advantage-mean-biased",
        "zero-std-groups",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The advantages of a group do not sum to 0: they lack the baseline that makes them advantages.

    What it means:
        A group's advantage is the reward less the mean of the group, so that its sum is 0. Here most of a group
        is pushed the same way.

    Why it matters:
        All responses to an easy prompt are made likelier, right or wrong, and the gradient is mostly noise:
        variance without a lesson.

    Usual causes:
        Rewards handed on as advantages; a mean over the batch or a running one in the place of the group's;
        groups that were torn apart before the mean was taken.

    What to try:
        Print rewards and advantages of one group side by side, and their sums.

    When it is harmless:
        Where the method has another baseline on purpose: REINFORCE++ and PPO take one over the batch.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1.2. Ahmadian et al. 2024, arXiv 2402.14740 (RLOO's sums
        to 0, too).
    """
    offset = view.get(OFFSET)
    assert offset is not None
    off = offset.value >= params.offset
    onset = persistent_onset(offset.step, off, params.rows)
    if onset is None:
        return None
    share = median(offset.value[off & (offset.step >= onset[1])])
    return Detection(
        message=f"advantages of a group sum to {share:.0%} of their sizes; without its mean they do, with it to 0",
        onset=view.onset(*onset),
        metric=OFFSET,
        evidence={"offset": share},
        severity=Severity.ERROR if share >= params.large else None,
    )

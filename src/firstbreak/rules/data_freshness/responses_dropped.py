"""The rule `responses-dropped`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

DROPPED, LENGTH = "seq/dropped_frac", "seq/dropped_len_ratio"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `responses-dropped`; engineering defaults where no source is named."""

    frac: float = 0.05
    """Share of the responses whose reward differs from their group's mean, and whose advantage is 0 all the same: 0 by
    definition."""
    rows: int = 4
    """Batches on end that must show it."""
    longer: float = 1.1
    """Length of what is dropped over that of the rest, or the inverse, at which the drop is one by length."""
    many: float = 0.2
    """Share that makes a drop by length an error."""


CASES = (
    fires(
        "the longer half is dropped",
        lambda: GRPO({DROPPED: synth.clipped(synth.flat(0.4, 0.05), 0, 1), LENGTH: synth.flat(1.5, 0.05)}),
    ),
    fires("some, from half-way on", lambda: GRPO({DROPPED: synth.jump(0.0, 0.15, 0.5, 0.0)})),
    healthy("none", lambda: GRPO({DROPPED: synth.constant(0.0)})),
    near_miss("single batches", lambda: GRPO({DROPPED: synth.spikes(0.0, 0.5, at=(0.3, 0.6), noise=0.0)})),
    near_miss("a response now and then", lambda: GRPO({DROPPED: synth.clipped(synth.flat(0.01, 0.01), 0, 1)})),
)


@rule(
    "DAT032",
    "responses-dropped",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(DROPPED,),
    when=("language",),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "length-collapse",
        "survivors-are-short",
        "advantage-mean-biased",
        "groups-not-centred",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses that were generated and paid never reach the loss.

    What it means:
        Their reward differs from the mean of their group, so that their advantage cannot be 0; but it is.

    Why it matters:
        What is left is a biased sample: where the long ones are dropped the policy learns to be short, and
        group means belong to other responses than those that are trained on.

    Usual causes:
        Late responses that are dropped; a filter that zeroes advantages; a mask over truncated ones; a bound on
        staleness.

    What to try:
        Count what is dropped by length and by reward; draw again instead, or train on groups in the order in
        which they began.

    When it is harmless:
        A filter that belongs to the method, such as one of truncated responses (Yu et al. 2025).

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.4; Fu et al. 2025 (AReaL), arXiv 2505.24298, section
        4.1.
    """
    dropped, length = view.get(DROPPED), view.get(LENGTH)
    assert dropped is not None
    lost = dropped.value >= params.frac
    onset = persistent_onset(dropped.step, lost, params.rows)
    if onset is None:
        return None
    share = median(dropped.value[lost & (dropped.step >= onset[1])])
    ratios = None if length is None else length.value[length.step >= onset[1]]
    ratio = 1.0 if ratios is None or not ratios.size else median(ratios)
    by_length = ratio >= params.longer or ratio <= 1 / params.longer
    words = f"; they are {ratio:.2g} times as long as the others" if by_length else ""
    return Detection(
        message=f"{share:.0%} of the responses are paid unlike their group and not trained on{words}",
        onset=view.onset(*onset),
        metric=DROPPED,
        evidence={"dropped_frac": share, "length_ratio": ratio},
        severity=Severity.ERROR if by_length and share >= params.many else None,
    )

"""The rule `weight-sync-fault`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, step_change
from firstbreak.stats.level import opening
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `weight-sync-fault`: engineering defaults, except where a source is named."""

    factor: float = 4.0
    """Level of the log-prob gap after the step over the level before. A failed sync reported in public took it from
    0.018 to 0.201 nats (huggingface/trl issue 5312)."""
    least_nats: float = 0.05
    """Level after the step worth an alarm; precision alone gives 0.01 to 0.02 nats."""
    points: int = 5
    """Consecutive newest points that stay up."""
    z: float = 6.0
    """z of the step."""
    absurd_nats: float = 0.5
    """Gap from the first row that no numerics explain: the mean token has half again its probability."""


GRPO = synth.like("GRPO")
ROW = synth.like("GRPO", n=1)

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""

CASES = (
    fires("gap steps up and stays", lambda: GRPO({"async/logprob_mismatch": synth.jump(0.015, 0.2, at=0.5)})),
    fires(
        "gap steps up and grows",
        lambda: GRPO({"async/logprob_mismatch": synth.after(0.5, synth.ramp(-0.5, 0.9), synth.flat(0.015))}),
    ),
    fires("absurd gap in one row", lambda: ROW({"async/logprob_mismatch": synth.constant(0.87)})),
    healthy("precision noise", lambda: GRPO({"async/logprob_mismatch": synth.flat(0.015, 0.1)})),
    near_miss("one bad batch", lambda: GRPO({"async/logprob_mismatch": synth.spikes(0.015, 0.4, at=(0.5,))})),
    near_miss("high but flat from the start", lambda: GRPO({"async/logprob_mismatch": synth.flat(0.15, 0.05)})),
)


@rule(
    "DAT010",
    "weight-sync-fault",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=("async/logprob_mismatch",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "logprob-mismatch",
        "behaviour-weight-off-one",
        "behaviour-ess-low",
        "behaviour-cap-saturated",
        "grad-norm-explosion",
        "return-collapse",
        "policy-frozen",
        "ratio-tail",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one weight sync on, the sampler no longer holds the learner's weights.

    What it means:
        The gap between log-probs of trainer and sampler steps up at once and stays up or grows. Precision is flat
        from the start, staleness grows with the version lag: this is neither.

    Why it matters:
        Everything sampled comes from another policy; rewards still look plausible for a while.

    Usual causes:
        A weight update that failed or was partial; stale prefix or encoder cache; wrong names or shards of
        parameters.

    What to try:
        Compare a checksum of the weights on both sides after a sync; reset caches after each update; run with
        learning rate 0.

    When it is harmless:
        A change of sampling precision on purpose at that step.

    References:
        huggingface/trl issue 5312; NovaSky-AI/SkyRL pull request 2246; NVIDIA-NeMo/RL issue 4018.
    """
    gap = view.get("async/logprob_mismatch")
    assert gap is not None
    if not len(gap) or _stale(view):
        return None
    if len(gap.source) < SHORT:
        return _as_whole(view, gap, params) if view.log.state != "running" else None
    count = params.points
    if len(gap) >= count and float(gap.value[:count].min()) >= params.absurd_nats:
        return _fire(view, gap, (float(gap.step[0]), float(gap.step[0])), float("nan"), median(gap.value[-count:]))
    change = step_change(gap.step, gap.value)
    if change is None or change.z < params.z or change.before <= 0:
        return None
    stays = bool((gap.value[-count:] >= 0.5 * params.factor * change.before).all())
    steps_up = change.after >= max(params.factor * change.before, params.least_nats)
    # A ramp is not a sync: the first points after the change must already be up.
    after = gap.value[gap.step >= change.hi][:count]
    sudden = after.size >= count and median(after) >= 0.5 * params.factor * change.before
    early = gap.value[gap.step <= change.lo]
    calm = early.size >= 4 and (opening(early) > 0 and median(early[-4:]) <= 2 * opening(early))
    if not (stays and steps_up and sudden and calm):
        return None
    return _fire(view, gap, (change.lo, change.hi), change.before, change.after)


def _stale(view: RunView) -> bool:
    """Whether the samples are known to be several versions old, which explains a gap by itself."""
    lag = view.get("async/staleness_mean")
    return lag is not None and len(lag) > 0 and median(lag.value[-8:]) >= 2


def _as_whole(view: RunView, gap: Points, params: Params) -> Answer:
    """Judge a log of a few rows: an absurd level, or a last row far above the first."""
    jumped = len(gap) >= 2 and gap.last >= max(params.factor * gap.first, 2 * params.least_nats)
    if gap.last < params.absurd_nats and not jumped:
        return None
    before = gap.first if jumped else float("nan")
    return _fire(view, gap, (float(gap.step[0]), float(gap.step[-1])), before, gap.last)


def _fire(view: RunView, gap: Points, onset: tuple[float, float], before: float, after: float) -> Detection:
    """Build the finding; `before` is NaN where the gap was there from the first row."""
    start = "from the first row" if np.isnan(before) else f"up from {before:.3g}"
    return Detection(
        message=f"Log-prob gap between trainer and sampler is {after:.3g} nats, {start}",
        onset=view.onset(*onset),
        metric=gap.metric,
        evidence={"before_nats": before, "after_nats": after},
    )

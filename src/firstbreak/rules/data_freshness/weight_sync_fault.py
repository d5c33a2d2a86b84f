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
    none_nats: float = 1e-3
    """Gap that counts as none: sampler and trainer that run the same code agree but for rounding."""
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
    fires("one engine, in which the gap was 0", lambda: GRPO({"async/logprob_mismatch": synth.jump(0.0, 0.2)})),
    fires("gap steps up and stays", lambda: GRPO({"async/logprob_mismatch": synth.jump(0.015, 0.2, at=0.5)})),
    fires(
        "gap steps up and grows",
        lambda: GRPO({"async/logprob_mismatch": synth.after(0.5, synth.ramp(-0.5, 0.9), synth.flat(0.015))}),
    ),
    fires("absurd gap in one row", lambda: ROW({"async/logprob_mismatch": synth.constant(0.87)})),
    healthy("precision noise", lambda: GRPO({"async/logprob_mismatch": synth.flat(0.015, 0.1)})),
    near_miss("one bad batch", lambda: GRPO({"async/logprob_mismatch": synth.spikes(0.015, 0.4, at=(0.5,))})),
    fires(
        "gap steps up at an unchanged lag",
        lambda: GRPO({"async/logprob_mismatch": synth.jump(0.04, 0.4), "async/staleness_mean": synth.flat(3.0, 0.1)}),
    ),
    near_miss(
        "gap steps up with the lag",
        lambda: GRPO({"async/logprob_mismatch": synth.jump(0.02, 0.2), "async/staleness_mean": synth.jump(1.0, 6.0)}),
    ),
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
    if not len(gap) or _stale(view, gap):
        return None
    if len(gap.source) < SHORT:
        return _as_whole(view, gap, params) if view.log.state != "running" else None
    count = params.points
    if len(gap) >= count and float(gap.value[:count].min()) >= params.absurd_nats:
        return _fire(view, gap, (float(gap.step[0]), float(gap.step[0])), float("nan"), median(gap.value[-count:]))
    change = step_change(gap.step, gap.value)
    if change is None or change.z < params.z:
        return None
    usual = max(change.before, params.none_nats)
    stays = bool((gap.value[-count:] >= 0.5 * params.factor * usual).all())
    steps_up = change.after >= max(params.factor * usual, params.least_nats)
    # A ramp is not a sync: the first points after the change must already be up.
    after = gap.value[gap.step >= change.hi][:count]
    sudden = after.size >= count and median(after) >= 0.5 * params.factor * usual
    early = gap.value[gap.step <= change.lo]
    calm = early.size >= 4 and median(early[-4:]) <= 2 * max(opening(early), params.none_nats)
    if not (stays and steps_up and sudden and calm):
        return None
    return _fire(view, gap, (change.lo, change.hi), change.before, change.after)


def _stale(view: RunView, gap: Points) -> bool:
    """Whether the age of the samples may explain the gap: they are several versions old, and got older with it.

    A lag that stays what it was cannot make the gap step up.
    """
    lag = view.get("async/staleness_mean")
    if lag is None or not len(lag) or median(lag.value[-8:]) < 2:
        return False
    change = step_change(gap.step, gap.value)
    if change is None:
        return True
    before, after = lag.value[lag.step <= change.lo], lag.value[lag.step >= change.hi]
    if min(before.size, after.size) < 4:
        return True
    return median(after) > 1.25 * median(before)


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

"""The rule `sampler-left-behind`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import compare, median, rank_correlation
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampler-left-behind`: engineering defaults, except where a source is named."""

    least_nats: float = 0.02
    """Gap worth a word; precision alone gives 0.01 to 0.02 nats in bf16 engines (Yao et al. 2025)."""
    high_nats: float = 0.1
    """Gap that makes it an error (verl suggests an alarm at 0.1)."""
    growth: float = 5.0
    """Gap of the newest rows over its lowest level so far."""
    at_floor: float = 2.0
    """Gap over its lowest level up to which it still counts as closed: its own noise."""
    ordered: float = 0.6
    """Rank correlation of gap and time since that lowest level: it grows, rather than having stepped up."""
    rows: int = 20
    """Rows of growth."""
    still_z: float = 2.5
    """Standard errors within which the reward has not risen while the gap grew."""
    left: float = 0.3
    """Share of the gap that a sync leaves, in the other sign: a gap that falls back at once, again and again."""
    teeth: int = 2
    """Falls of that kind."""


GAP = "async/logprob_mismatch"
REWARD = ("reward/train_mean", "reward/rollout_mean")
GRPO = synth.like("GRPO")


def saw(t: Floats, rng: np.random.Generator) -> Floats:
    """A gap [n] that grows and falls back to its floor, five times over."""
    return 0.002 + 0.08 * np.mod(5 * t, 1.0)


FLAT = {REWARD[0]: synth.flat(0.4, 0.05)}
CASES = (
    fires("the gap grows, and the samples get no better", lambda: GRPO(FLAT | {GAP: synth.geometric(0.002, 0.6)})),
    fires("weights arrive every now and then", lambda: GRPO({GAP: saw})),
    healthy("precision", lambda: GRPO({GAP: synth.flat(0.01, 0.1)})),
    near_miss(
        "the gap grows with the policy, and the samples get better", lambda: GRPO({GAP: synth.ramp(0.004, 0.03)})
    ),
    near_miss("single batches with a large gap", lambda: GRPO({GAP: synth.spikes(0.01, 0.2, at=(0.3, 0.6, 0.8))})),
)


@rule(
    "DAT016",
    "sampler-left-behind",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(GAP,),
    any_of=(REWARD,),
    when=("language",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=(
        "logprob-mismatch",
        "behaviour-weight-off-one",
        "behaviour-ess-low",
        "behaviour-cap-saturated",
        "reward-flat",
        "zero-std-groups",
        "grad-norm-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learner moves away from the sampler: their log-probs part steadily, or come together only now and then.

    What it means:
        Either the gap grows from update to update while the samples get no better, as those of fixed weights do not;
        or it grows and falls back to its floor at once, again and again, as it does when weights arrive seldom.

    Why it matters:
        The learner trains on answers of an old policy. Importance weights correct little of it once the two are far
        apart, and the reward that is logged is not that of the policy which is trained.

    Usual causes:
        A sync that fails without a word; adapters or tied weights that are left out of it; a sync every n updates.

    What to try:
        Compare a checksum of the weights on both sides after each sync.

    When it is harmless:
        In asynchronous training as configured; where the age of samples is logged the other rules judge by it.

    References:
        Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training".
    """
    gap, reward = view.get(GAP), view.get(*REWARD)
    assert gap is not None
    assert reward is not None
    if view.has("async/staleness_mean"):
        return None
    size = np.abs(gap.value)
    drops = falls_back(size, params)
    if len(drops) >= params.teeth:
        top = max(float(size[i - 1]) for i in drops)
        text = f"the gap to the sampler fell back {len(drops)} times, from {top:.3g} nats"
        return _fire(view, gap, 0, drops[0], text, top, params)
    start = growing(size, params)
    if start is None or improves(reward, float(gap.step[start]), params):
        return None
    now, floor = median(size[-5:]), float(size[start])
    known = start + int(np.argmax(size[start:] >= 2 * max(floor, 1e-4)))
    text = f"the gap to the sampler grew from {floor:.2g} to {now:.3g} nats while the samples got no better"
    return _fire(view, gap, start, known, text, now, params)


def _fire(view: RunView, gap: Points, start: int, known: int, text: str, size: float, params: Params) -> Detection:
    return Detection(
        message=text,
        onset=view.onset(float(gap.step[start]), float(gap.step[known])),
        metric=GAP,
        evidence={"gap_nats": size, "rows": len(gap)},
        severity=Severity.ERROR if size >= params.high_nats else None,
    )


def falls_back(size: Floats, params: Params) -> list[int]:
    """Return the places at which a gap [n] that had grown for some rows fell back at once, and stayed down a while."""
    found: list[int] = []
    for i in range(4, size.size - 1):
        before, after = size[i - 3 : i], size[i : i + 2]
        high = float(before.min()) >= 0.5 * params.least_nats
        if high and bool((after <= params.left * median(before)).all()) and (not found or i - found[-1] > 3):
            found.append(i)
    return found


def growing(size: Floats, params: Params) -> int | None:
    """Return the place from which a gap [n] grows to the end."""
    means = np.convolve(size, np.ones(3) / 3, mode="valid")
    if means.size < params.rows:
        return None
    low = float(means[: means.size - params.rows + 1].min())
    # The last place at the floor, so that what the policy learned before the gap opened is not held against it.
    start = int(np.flatnonzero(means <= params.at_floor * low)[-1])
    tail, now = size[start:], median(size[-5:])
    if tail.size < params.rows or now < max(params.least_nats, params.growth * float(means[start])):
        return None
    return start if rank_correlation(np.arange(tail.size, dtype=float), tail) >= params.ordered else None


def improves(reward: Points, since: float, params: Params) -> bool:
    """Whether the samples got better since then."""
    later = reward.value[reward.step >= since]
    if later.size < 16:
        return True
    size = min(max(8, later.size // 4), 32)
    return compare(later[:size], later[-size:]).z > params.still_z

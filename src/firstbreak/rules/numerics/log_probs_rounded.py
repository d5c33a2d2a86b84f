"""The rule `log-probs-rounded`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken, median
from firstbreak.view import RunView

GAP = "policy/player_gap_nats"


@dataclass(frozen=True)
class Params:
    """Thresholds of `log-probs-rounded`: engineering defaults; right is 0 by definition."""

    exact: float = 1e-5
    """Nats up to which both are the same: single precision leaves at most 6e-6 in the recorded trainings that are
    sound (tenth list, 2026-11-27), and 0 in most."""
    limit: float = 5e-5
    """Nats from which on a number was rounded on the way: a probability that is kept in float16 is off by 2e-4 of its
    size in the mean, in bfloat16 by 1e-3."""
    most: float = 0.02
    """Nats from which on it is another network: `played-by-another` says so."""
    held: int = 8
    """Rows on end in which they were the same: a trainer of mixed precision always differs."""
    rows: int = 2
    """Rows on end in which they are not."""


PPO = synth.like("PPO")
SAME = synth.clipped(synth.flat(1e-6, 0.5), 0, 1)
CASES = (
    fires("a probability in half precision", lambda: PPO({GAP: synth.after(0.5, synth.flat(2e-4, 0.1), SAME)})),
    healthy("the same", lambda: PPO({GAP: synth.constant(0.0)})),
    healthy("rounding", lambda: PPO({GAP: SAME})),
    near_miss("mixed precision, all along", lambda: PPO({GAP: synth.flat(2e-3, 0.1)})),
    near_miss("one row", lambda: PPO({GAP: synth.spikes(0.0, 2e-4, (0.6,))})),
    near_miss("another network plays", lambda: PPO({GAP: synth.after(0.5, synth.flat(0.8, 0.1), SAME)})),
)


@rule(
    "NUM056",
    "log-probs-rounded",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(GAP,),
    min_points=10,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("ratio-off-at-first-minibatch", "ratio-tail", "clip-fraction-high"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The log-probabilities that an update is made of are rounded more coarsely than those that the rollout stored.

    What it means:
        The same network gives the same actions, in the same states, log-probabilities that differ in the fourth digit;
        before, they were the same to single precision.

    Why it matters:
        Small probabilities become 0 in half precision, and their logarithm infinite; ratios jump in steps, and what is
        below a step has no gradient.

    Usual causes:
        A probability in half precision before its logarithm is taken; autocast around the loss alone; a softmax and a
        logarithm where one `log_softmax` belongs.

    What to try:
        Compute log-probabilities in single precision from logits or from the density's own logarithm, and compare.

    When it is harmless:
        Where mixed precision is switched on in the middle of a run on purpose.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740 (what float16 loses). IEEE 754-2019 (its 11 bits).
    """
    lag = view.get("async/staleness_max", "async/staleness_mean")
    if (view.number("max_staleness") or 0) > 0 or (lag is not None and lag.max > 0):
        return Skip("asynchronous data: who plays is behind who is trained", ("async/behave_ratio_mean",))
    gap = view.get(GAP)
    assert gap is not None
    off = (gap.value >= params.limit) & (gap.value < params.most)
    found = identity_broken(gap.step, gap.value <= params.exact, off, held=params.held, lasts=params.rows)
    if found is None:
        return None
    value = median(gap.value[off & (gap.step >= found[1])])
    return Detection(
        message=f"log-probabilities of stored actions are {value:.2g} nats off, where they had been the same",
        onset=view.onset(*found),
        metric=GAP,
        evidence={"gap_nats": value},
    )

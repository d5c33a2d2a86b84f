"""The rule `played-by-another`."""

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
    """Thresholds of `played-by-another`: engineering defaults; right is 0 by definition."""

    exact: float = 1e-3
    """Nats up to which both are the same: single precision makes it 1e-5."""
    limit: float = 0.02
    """Nats from which on they are not. A copy in bfloat16 is off by about 0.01 nats (as in
    `ratio-off-at-first-minibatch`)."""
    held: int = 4
    """Rows on end in which they were the same: a sampler that differs by design always does."""
    rows: int = 2
    """Looks on end at which they are not."""


PPO = synth.like("PPO")
SAME = synth.clipped(synth.flat(1e-6, 0.5), 0, 1)
CASES = (
    fires(
        "a copy that is written the wrong way round", lambda: PPO({GAP: synth.after(0.5, synth.flat(0.8, 0.1), SAME)})
    ),
    fires("a rounded copy", lambda: PPO({GAP: synth.after(0.6, synth.flat(0.05, 0.004), SAME)})),
    healthy("the same network", lambda: PPO({GAP: synth.constant(0.0)})),
    healthy("rounding", lambda: PPO({GAP: SAME})),
    near_miss("a sampler in half precision, all along", lambda: PPO({GAP: synth.flat(0.03, 0.005)})),
    near_miss("one look", lambda: PPO({GAP: synth.spikes(0.0, 0.5, (0.6,))})),
    near_miss(
        "a stale sampler on purpose",
        lambda: synth.like("PPO", config={"max_staleness": 4})({GAP: synth.after(0.5, synth.flat(0.8, 0.1), SAME)}),
    ),
)


@rule(
    "DAT080",
    "played-by-another",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(GAP,),
    min_points=6,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "ratio-off-at-first-minibatch",
        "kl-overshoot",
        "clip-fraction-high",
        "ratio-tail",
        "ratio-off-one",
        "kl-clip-inconsistent",
        "policy-moves-at-once",
        "return-falls-at-once",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Who plays the rollouts is no longer who is trained.

    What it means:
        The same actions, in the states in which they were drawn, have another probability under the network that plays
        than under the one whose weights the optimiser holds. Both were the same in the rows before.

    Why it matters:
        The policy gradient is that of another policy: importance ratios are off before the first step, and what is
        learned shows in nothing that is played.

    Usual causes:
        A copy of the weights that is stale, rounded, transposed or partly loaded; a sampler in another precision or at
        another temperature.

    What to try:
        Compare, before the next rollout, each tensor of the network that plays with that of the learner.

    When it is harmless:
        In asynchronous training, where the sampler is a few versions behind on purpose (`max_staleness`).

    References:
        Espeholt et al. 2018, arXiv 1802.01561 (what a lag between actor and learner does).
    """
    lag = view.get("async/staleness_max", "async/staleness_mean")
    if (view.number("max_staleness") or 0) > 0 or (lag is not None and lag.max > 0):
        return Skip("asynchronous data: who plays is behind who is trained", ("async/behave_ratio_mean",))
    gap = view.get(GAP)
    assert gap is not None
    off = gap.value >= params.limit
    found = identity_broken(gap.step, gap.value <= params.exact, off, held=params.held, lasts=params.rows)
    if found is None:
        return None
    value = median(gap.value[off & (gap.step >= found[1])])
    return Detection(
        message=f"who plays and who is trained give the same actions log-probabilities {value:.2g} nats apart",
        onset=view.onset(*found),
        metric=GAP,
        evidence={"gap_nats": value},
    )

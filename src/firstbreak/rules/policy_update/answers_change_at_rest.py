"""The rule `answers-change-at-rest`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken
from firstbreak.view import RunView

MOVED = "policy/answers_moved_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `answers-change-at-rest`: engineering defaults; right is 0 by definition."""

    exact: float = 1e-4
    """Change of the answers, over their size, up to which they are the same: single precision makes it 1e-6."""
    limit: float = 0.02
    """Change from which on they are not: half precision makes it 4e-3."""
    held: int = 4
    """Rows on end in which they were the same: a network that answers otherwise by design does so all along."""
    rows: int = 1
    """Rows that must show it. Each look that finds a change asks a second time before it says so."""


PPO = synth.like("PPO")
SAME = synth.clipped(synth.flat(1e-7, 0.5), 0, 1)
CASES = (
    fires("logits are bounded from here on", lambda: PPO({MOVED: synth.after(0.5, synth.flat(0.7, 0.1), SAME)})),
    fires("once, and it stays", lambda: PPO({MOVED: synth.spikes(0.0, 0.4, (0.6,))})),
    healthy("the same answers", lambda: PPO({MOVED: synth.constant(0.0)})),
    healthy("rounding", lambda: PPO({MOVED: SAME})),
    near_miss("half precision from here on", lambda: PPO({MOVED: synth.after(0.5, synth.flat(4e-3, 1e-4), SAME)})),
    near_miss("statistics in the network that move with what it is shown", lambda: PPO({MOVED: synth.flat(0.1, 0.05)})),
)


@rule(
    "POL140",
    "answers-change-at-rest",
    link=Link.POLICY_UPDATE,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(MOVED,),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "played-by-another",
        "acts-unlike-network",
        "ratio-off-at-first-minibatch",
        "kl-overshoot",
        "clip-fraction-high",
        "ratio-tail",
        "ratio-off-one",
        "kl-clip-inconsistent",
        "policy-moves-at-once",
        "exploration-moves-at-once",
        "policy-turns-uniform",
        "entropy-climbs-back",
        "reward-redefined",
        "return-falls-at-once",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy answers otherwise than it did, in the same states and with the same weights.

    What it means:
        After an update the policy was asked about some states. Asked again before anybody wrote to its weights, while
        the next rollout was played or before it, it gave another distribution.

    Why it matters:
        Something other than its weights decides what the policy does: what was learned is lost at once, or it acts and
        learns with two different functions.

    Usual causes:
        A bound, mask or temperature that was put on its outputs on the way; dropout or noise that was switched on; a
        wrapper or hook that turns signs or columns; a mode that differs between acting and learning.

    What to try:
        Print the policy's output for one fixed state after each update and before each rollout; take hooks and wrappers
        off one by one.

    When it is harmless:
        A schedule outside of the weights, of a temperature for instance, that takes such a step on purpose.

    References:
        None; a function of the same weights and states is the same by definition.
    """
    moved = view.get(MOVED)
    assert moved is not None
    off = moved.value >= params.limit
    found = identity_broken(moved.step, moved.value <= params.exact, off, held=params.held, lasts=params.rows)
    if found is None:
        return None
    value = float(moved.value[off & (moved.step >= found[1])].max())
    return Detection(
        message=f"with the same weights the policy answers otherwise: by {value:.2g} of its answers' size",
        onset=view.onset(*found),
        metric=MOVED,
        evidence={"moved_frac": value},
    )

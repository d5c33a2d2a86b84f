"""The rule `targets-broadcast`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

SHARE = "critic/target_broadcast_frac"


@dataclass(frozen=True)
class Params:
    """No threshold: the share is 0 where values and targets have one shape."""


SAC = synth.like("SAC")
CASES = (
    fires("[B, B] from the middle on", lambda: SAC({SHARE: synth.jump(0.0, 63 / 64, noise=0.0)})),
    fires("from the start", lambda: SAC({SHARE: synth.constant(255 / 256)})),
    healthy("one target a value", lambda: SAC({SHARE: synth.constant(0.0)})),
    near_miss(
        "a loss that explodes for another reason",
        lambda: SAC({SHARE: synth.constant(0.0), "critic/loss": synth.geometric(0.2, 2000.0)}),
    ),
)


@rule(
    "CRT051",
    "targets-broadcast",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(SHARE,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-loss-not-its-targets",
        "critic-not-learning",
        "critic-leaves-past",
        "critic-moves-at-once",
        "value-loss-explosion",
        "values-jump",
        "return-collapse",
        "reward-flat",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Values and targets of a batch have two shapes: each value is drawn to the targets of all rows.

    What it means:
        One of them is [B], the other [B, 1], or both have grown to [B, B] on the way. A difference of the two is then a
        table of every value against every target, and PyTorch only warns.

    Why it matters:
        The loss is least where every value is the mean target of the batch: the critic no longer tells states apart.

    Usual causes:
        Rewards, ends or discounts that have lost their last dimension (`flatten`, `squeeze`, a buffer of one's own); a
        network's last dimension that was kept on one side alone.

    What to try:
        Print the shapes of rewards, ends, next values, targets and values in one update.

    When it is harmless:
        Never: it is arithmetic.

    References:
        NumPy's and PyTorch's rules of broadcasting.
    """
    share = view.get(SHARE)
    assert share is not None
    beyond = share.value > 0
    if not beyond.any():
        return None
    place = int(beyond.argmax())
    pairs = float(share.value[place])
    return Detection(
        message=f"targets are broadcast: {pairs:.1%} of the pairs in the loss set a value beside another row's target",
        onset=view.onset(float(share.step[max(0, place - 1)]), float(share.step[place])),
        metric=SHARE,
        evidence={"share": pairs},
    )

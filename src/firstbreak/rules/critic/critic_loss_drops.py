"""The rule `critic-loss-drops`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of

LOSS = "critic/loss"
RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-loss-drops`."""

    rows: int = 6
    """Rows before and after the drop, with two between. Engineering default."""
    left: float = 0.3
    """Highest loss after it over the lowest before it. In the healthy runs of Q learners among ordinary logs and in the
    fault benchmark's development half (2026-11-26) it is 0.41 at least where the return did not rise with it."""
    scatter: float = 4.0
    """Highest over lowest loss of the rows before, above which it says nothing. Engineering default."""
    better: float = 0.05
    """Share of its size by which the return may be higher after it. Engineering default."""
    begun: int = 8
    """Rows of the loss before which it may still be falling from where it began. Engineering default."""


DQN = synth.like("DQN")
RETURN = RETURNS[0]
CASES = (
    fires(
        "to a quarter from one row to the next",
        lambda: DQN({LOSS: synth.jump(3.2, 0.6, noise=0.1), RETURN: synth.jump(300, 120, noise=0.1)}),
    ),
    healthy("as it goes", lambda: DQN({})),
    near_miss(
        "the return rises with it",
        lambda: DQN({LOSS: synth.jump(3.2, 0.6, noise=0.1), RETURN: synth.jump(120, 300, noise=0.1)}),
    ),
    near_miss("over many rows", lambda: DQN({LOSS: synth.ramp(3.2, 0.6, 0.1), RETURN: synth.flat(300, 0.1)})),
    near_miss("a loss that scatters", lambda: DQN({LOSS: synth.flat(1.0, 3.0), RETURN: synth.flat(300, 0.1)})),
)


@rule(
    "CRT047",
    "critic-loss-drops",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(LOSS,),
    any_of=(RETURNS,),
    when=("control", "q_function"),
    min_points=20,
    params=Params(),
    cases=CASES,
    # It warned on all three logs of a public project whose returns rose (2026-11-26): losses of single steps fall
    # tenfold by chance.
    status=Status.PREVIEW,
    implies=("return-collapse", "return-falls-at-once", "greedy-below-random"),
)
def detect(view: RunView, params: Params) -> Answer:
    """What the critic fits became much easier from one row to the next, and nothing was gained by it.

    What it means:
        The loss fell at once to a third or less and stayed there, while the return did not rise. Learning lowers a loss
        over many rows; targets that hold less than before lower it in one.

    Why it matters:
        The critic is right about something that is not the value.

    Usual causes:
        A terminal mask that is inverted or all ones, so that nothing is bootstrapped any more; a discount that was set
        anew; the same few rows drawn again and again; a reward that fell silent.

    What to try:
        Print reward, mask, bootstrap and target of ten rows of one batch before and after.

    When it is harmless:
        When loss or batch were changed on purpose.

    References:
        None; the loss is compared with its own past.
    """
    loss, returns = view.get(LOSS), view.get(*RETURNS)
    assert loss is not None
    assert returns is not None
    if "q_function" not in traits_of(view.algorithm):
        return Skip("the algorithm is not known: another loss may fall as the policy settles", ("config algorithm",))
    value = np.abs(loss.value)
    for place in dropped(value, params):
        start, end = loss.step[place - params.rows - 2], loss.step[min(place + params.rows + 1, value.size - 1)]
        at = float(loss.step[place])
        earlier = returns.value[(returns.step > start) & (returns.step < at)]
        later = returns.value[(returns.step > at) & (returns.step <= end)]
        if not earlier.size or not later.size:
            continue
        if median(later) > median(earlier) + params.better * abs(median(earlier)):
            continue
        before, after = median(value[place - params.rows : place]), median(value[place + 2 : place + 2 + params.rows])
        return Detection(
            message=f"the critic's loss went from {before:.3g} to {after:.3g} at once, and the return did not rise",
            onset=view.onset(float(loss.step[place - 1]), at),
            metric=LOSS,
            evidence={"before": before, "after": after},
        )
    return None


def dropped(value: Floats, params: Params) -> list[int]:
    """Return the places after which all of `value` [n] lie far below all just before."""
    rows, found = params.rows, list[int]()
    for place in range(params.begun, value.size - rows - 1):
        before, after = value[place - rows : place], value[place + 2 : place + 2 + rows]
        low = float(before.min())
        if low > 0 and before.max() <= params.scatter * low and after.max() <= params.left * low:
            found.append(place)
    return found

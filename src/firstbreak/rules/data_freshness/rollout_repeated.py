"""The rule `rollout-repeated`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

EV, LOSS = "critic/explained_variance", "critic/loss"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rollout-repeated`. Engineering defaults where no source is named."""

    rows: int = 12
    """Latest rows that must be alike."""
    alike: float = 0.2
    """Range of explained variance over them, as a share of its level or of what is left unexplained, the smaller."""
    least: float = 2e-4
    """Least size of that level: values that are one constant explain 0 of any batch, but for rounding and epsilon."""
    most: float = 0.5
    """Size of that level above which long rollouts of a settled policy share it, too."""
    fitted: float = 0.5
    """Share of its level at the first such batch to which the critic's loss has fallen: it fits what it was shown."""


PPO = synth.like("PPO")
CASES = (
    fires(
        "the same rollout throughout",
        lambda: PPO({EV: synth.flat(-0.06, 0.02), LOSS: synth.geometric(30, 2, 0.05, until=0.5)}),
    ),
    fires(
        "from the middle on",
        lambda: PPO(
            {
                EV: synth.after(0.5, synth.flat(-0.012, 0.005), synth.walk(0.1, 0.1)),
                LOSS: synth.after(0.5, synth.geometric(4000, 0.3, 0.05), synth.flat(40, 0.2)),
            }
        ),
    ),
    healthy("rises", lambda: PPO({})),
    near_miss("a critic that stays bad", lambda: PPO({EV: synth.walk(-0.05, 0.03), LOSS: synth.geometric(30, 2)})),
    near_miss("a good critic", lambda: PPO({EV: synth.flat(0.88, 0.02), LOSS: synth.geometric(30, 2)})),
    near_miss(
        "long rollouts of a settled policy",
        lambda: PPO({EV: synth.flat(0.6, 0.005), LOSS: synth.geometric(30, 2, 0.05, until=0.5)}),
    ),
    near_miss("a perfect critic", lambda: PPO({EV: synth.constant(1.0), LOSS: synth.geometric(30, 2)})),
    near_miss("values that are one constant", lambda: PPO({EV: synth.constant(1e-6), LOSS: synth.geometric(30, 2)})),
)


@rule(
    "DAT033",
    "rollout-repeated",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    needs=(EV, LOSS),
    when=("on_policy", "control"),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=(
        "ratio-off-at-first-minibatch",
        "critic-not-learning",
        "explained-variance-negative",
        "clip-fraction-high",
        "reward-flat",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The values at collection explain exactly as little of every new rollout, while the critic's loss falls.

    What it means:
        Explained variance compares the returns of a rollout with the values stored when it was collected. No two
        rollouts share that number to a few percent, row after row, unless they are one rollout; and a critic whose
        loss falls would explain more of a new one.

    Why it matters:
        The policy of now is never tried in the data: updates drift away from what was collected once.

    Usual causes:
        A buffer that is filled once; a view of the first rollout that is handed on; a collector that returns its cache;
        an index that no longer advances.

    What to try:
        Hash the observations of two updates in a row.

    When it is harmless:
        An environment and a policy without any chance, in a state that repeats.

    References:
        None; two independent rollouts are compared.
    """
    ev, loss = view.get(EV), view.get(LOSS)
    assert ev is not None
    assert loss is not None
    start = alike_since(ev.value, params)
    if ev.value.size - start < params.rows:
        return None
    level = median(ev.value[start:])
    fitted = loss.value[loss.step >= ev.step[start]]
    if not params.least <= abs(level) <= params.most or fitted.size < params.rows:
        return None
    before = loss.value[loss.step <= ev.step[start]][-3:]
    first = max(median(before) if before.size else 0.0, float(fitted[0]))
    if median(fitted[-3:]) > params.fitted * first:
        return None
    return Detection(
        message=f"explained variance is {level:.3g} of all of the last {ev.value.size - start} rollouts; the loss fell",
        onset=view.onset(float(ev.step[max(start - 1, 0)]), float(ev.step[start])),
        metric=EV,
        evidence={
            "explained_variance": level,
            "rows": int(ev.value.size - start),
            "loss_left": float(fitted[-1] / first),
        },
    )


def alike_since(value: Floats, params: Params) -> int:
    """Return the place from which on all of `value` [n] lie within `alike` of the level of the newest rows."""
    level = median(value[-params.rows :])
    apart = np.abs(value - level) > 0.5 * params.alike * min(abs(level), abs(1.0 - level))
    return int(np.flatnonzero(apart)[-1]) + 1 if apart.any() else 0

"""The rule `gradient-clipped-away`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

NORM, LIMIT = "optim/grad_norm", "optim/max_grad_norm"
GRPO = synth.like("GRPO", config={"max_grad_norm": 1.0})
TIGHT = synth.like("GRPO", config={"max_grad_norm": 1e-6})


@dataclass(frozen=True)
class Params:
    """Thresholds of `gradient-clipped-away`; engineering defaults where no source is named."""

    left: float = 1e-3
    """What clipping leaves of the gradient. RLHF lives with norms of 100 at a limit of 1; a thousandth is a slip."""
    rows: int = 8
    """Updates on end."""
    small: float = 5e-3
    """A limit that is a slip: a hundredth of the smallest default of Stable-Baselines3, CleanRL, TRL and verl (0.5)."""
    fell: float = 10.0
    """Factor by which a limit in force fell that is a slip, too. Any other one is a note: what is large is the
    gradient, of rewards that are not scaled or of what broke elsewhere."""


CASES = (
    fires("a limit of 1e-6", lambda: TIGHT({})),
    fires("the limit in force falls half-way", lambda: GRPO({LIMIT: synth.jump(1.0, 1e-6, 0.5, 0.0)})),
    fires("a note: rewards in the thousands under a limit of 1", lambda: GRPO({NORM: synth.flat(5000.0, 0.1)})),
    healthy("a limit of 1", lambda: GRPO({LIMIT: synth.constant(1.0)})),
    near_miss("norms of 100 at a limit of 1", lambda: GRPO({NORM: synth.flat(100.0, 10.0)})),
    near_miss("a limit of 0: no clipping", lambda: synth.like("GRPO", config={"max_grad_norm": 0.0})({})),
    near_miss("one huge gradient", lambda: GRPO({NORM: synth.spikes(0.3, 1e5, at=(0.5,))})),
)


@rule(
    "POL065",
    "gradient-clipped-away",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(NORM,),
    any_of=((LIMIT, "optim/grad_norm"),),
    min_points=8,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "epsilon-outweighs-gradient",
        "weights-hardly-move",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The gradient is clipped to next to nothing at every update.

    What it means:
        The norm at which gradients are clipped is a thousandth of their usual norm, or less.

    Why it matters:
        Adam divides by the gradient's own size and hides it, until the size comes near its epsilon; weight
        decay and momentum of other steps then outweigh it. Plain SGD stands still.

    Usual causes:
        A limit meant for another loss; a limit per element taken for one of the norm; a loss that became a sum.

    What to try:
        Set the limit to the median norm of the run before, and compare the change of the weights per step.

    When it is harmless:
        With Adam where every gradient is clipped alike and is still far above epsilon: then it costs little. Where
        the limit is a usual one and the gradient is large, as with rewards in the hundreds, it is a note.

    References:
        Pascanu et al. 2013, arXiv 1211.5063, section 3.2 (a limit near the usual norm). Kingma and Ba 2015,
        arXiv 1412.6980.
    """
    norm, force, given = view.get(NORM), view.get(LIMIT), view.number("max_grad_norm")
    assert norm is not None
    if force is not None and len(force):
        limit = np.interp(norm.step, force.step, force.value)
    elif given is not None:
        limit = np.full(len(norm), given)
    else:
        return Skip("the norm at which gradients are clipped is not known", ("config max_grad_norm",))
    over = (limit > 0) & (norm.value * params.left > limit)
    onset = persistent_onset(norm.step, over, params.rows)
    if onset is None:
        return None
    left, now = median(limit[over] / norm.value[over]), float(limit[over][-1])
    slip = now <= params.small or now * params.fell <= float(limit.max())
    return Detection(
        message=f"clipping at {now:.2g} leaves {left:.1g} of the gradient",
        onset=view.onset(*onset),
        metric=NORM,
        evidence={"left_frac": left, "max_grad_norm": now},
        severity=None if slip else Severity.INFO,
    )

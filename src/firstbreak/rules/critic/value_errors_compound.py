"""The rule `value-errors-compound`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import reward_scale_mismatch
from firstbreak.rules.reward_signal.reward_scale_mismatch import compounded, compounds
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `value-errors-compound`; what compounds is set in `reward-scale-mismatch`."""

    factor: float = 10.0
    """Error over the most that any discount below `gamma_unknown` makes of the largest logged return. Engineering
    default, as in `reward-scale-mismatch`."""
    gamma_unknown: float = 0.999
    """Discount that is assumed where none below 1 is known: larger ones are rare. Engineering default."""
    least: int = 12
    """Rows that tell one factor from what compounds. Engineering default."""
    rows: int = 3
    """Rows in a row beyond it. Engineering default."""


PPO = synth.like("PPO")
LOSS = "critic/loss"
CASES = (
    fires("powers of ten from row to row, since the first", lambda: PPO({LOSS: compounded})),
    fires("grows by powers of ten", lambda: PPO({LOSS: synth.geometric(4e9, 4e16, 0.1)})),
    healthy("errors of the size of the returns", lambda: PPO({})),
    near_miss("reward a thousandfold: one factor", lambda: PPO({LOSS: synth.geometric(4e7, 9e7, 0.1)})),
    near_miss("errors as large as returns allow", lambda: PPO({LOSS: synth.geometric(20.0, 2e4, 0.5)})),
)


@rule(
    "CRT027",
    "value-errors-compound",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(LOSS,),
    any_of=(RETURN,),
    when=("on_policy", "control", "value_function"),
    min_points=6,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=(
        "value-loss-explosion",
        "q-divergence",
        "reward-scale-mismatch",
        "explained-variance-negative",
        "explained-variance-collapse",
        "critic-not-learning",
        "critic-gradient-explosion",
        "grad-norm-explosion",
        "loss-explosion",
        "nonfinite-metric",
        "policy-frozen",
        "entropy-stuck-high",
        "return-scale-unnormalised",
        "return-collapse",
        "reward-flat",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Errors of the value function are beyond any discounted sum of the rewards, and grow or scatter by powers of ten.

    What it means:
        No discount below 1 makes such values of the returns that are logged; and a factor on the reward would leave
        the errors in proportion, row after row. Something multiplies along each episode.

    Why it matters:
        Advantages are differences of such numbers: their sign is that of the largest error.

    Usual causes:
        A discount, or discount times lambda, of 1 or more; returns added up over a trace that is never cut; a target
        that is made of the network's own newest output.

    What to try:
        Print gamma and lambda where the returns are computed; compute those of one short rollout by hand.

    When it is harmless:
        Never at this size. Where each reward is scaled by one number, see `reward-scale-mismatch`.

    References:
        Sutton and Barto 2018, "Reinforcement Learning", section 3.3 (a return is finite for a discount below 1).
    """
    loss, returns = view.get(LOSS), view.get(*RETURN)
    assert loss is not None
    assert returns is not None
    if (
        not len(returns)
        or len(loss) < params.least
        or not compounds(view, loss, returns, reward_scale_mismatch.Params())
    ):
        return None
    largest = max(abs(returns.max), abs(returns.min)) * max(abs(view.number("reward_scale") or 1.0), 1.0)
    gamma = view.number("gamma")
    known = gamma is not None and 0 <= gamma < 1
    bound = largest / (1 - (gamma if known and gamma is not None else params.gamma_unknown))
    root = np.sqrt(np.abs(loss.value))
    over = persistent_onset(loss.step, root > params.factor * bound, params.rows)
    if bound <= 0 or over is None or median(root) <= bound:
        return None
    return Detection(
        message=f"value errors reach {root.max():.3g}; any discount below 1 allows {bound:.3g}, and they compound",
        onset=view.onset(*over),
        metric=loss.metric,
        evidence={"error_max": float(root.max()), "bound": bound, "return_abs_max": largest},
    )

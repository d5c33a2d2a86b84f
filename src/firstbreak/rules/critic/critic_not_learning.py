"""The rule `critic-not-learning`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median
from firstbreak.view import RunView

from .explained_variance_negative import RETURNS, informative


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-not-learning`; engineering defaults where no source is named."""

    level: float = 0.05
    """Explained variance that the later half's median must stay under; a constant scores 0. Engineering default."""
    top: float = 0.2
    """Explained variance that nine tenths of the later half must stay under. Engineering default."""
    share: float = 0.2
    """Share of the planned steps from which on it is more than a hint."""
    many: int = 300
    """Updates from which on it is more than a hint where the planned steps are not known."""
    z: float = 3.0
    """A rise of explained variance or return by this many standard errors counts as learning."""


PPO = synth.like("PPO")
STUCK = {
    "critic/explained_variance": synth.flat(0.0, 0.02),
    "critic/loss": synth.flat(60, 0.1),
    "reward/episode_return_mean": synth.flat(22, 0.05),
}

CASES = (
    fires("explains nothing, return flat", lambda: PPO(STUCK)),
    fires("for 400 updates", lambda: synth.like("PPO", n=400)(STUCK)),
    healthy("learns", lambda: PPO({})),
    near_miss("slow critic, return rising", lambda: PPO({**STUCK, "reward/episode_return_mean": synth.ramp(20, 200)})),
    near_miss(
        "explained variance creeps up", lambda: PPO({**STUCK, "critic/explained_variance": synth.ramp(0.0, 0.15, 0.1)})
    ),
    near_miss("loss falls", lambda: PPO({**STUCK, "critic/loss": synth.geometric(60, 5)})),
)


@rule(
    "CRT004",
    "critic-not-learning",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=("critic/explained_variance",),
    when=("value_function",),
    min_points=100,
    params=Params(),
    cases=CASES,
    implies=("reward-flat",),
)
def detect(view: RunView, params: Params) -> Answer:
    """After many updates the critic still explains nothing, its loss has not fallen and the return has not risen.

    What it means:
        Explained variance stays at the score of a constant although returns vary.

    Why it matters:
        Without a baseline the policy gradient keeps the full variance of the returns; learning stalls.

    Usual causes:
        Value loss switched off or its gradient detached; value targets shuffled against states; observations without
        the needed information; learning rate far too small; return scale far from the network's output.

    What to try:
        Fit the critic alone on one stored batch: a sound critic over-fits it within some hundred steps.

    When it is harmless:
        Early in a long run: without the planned length it stays a hint for 300 updates. Where rewards are mostly
        noise there is little to explain; a bigger critic fitted offline shows the ceiling.

    References:
        Schulman et al. 2016, arXiv 1506.02438. Engstrom et al. 2020, arXiv 2005.12729.
    """
    ev = view.get("critic/explained_variance")
    assert ev is not None
    usable = informative(view, ev)
    half = len(ev) // 2
    late = ev.value[half:]
    if usable[half:].mean() < 0.9:
        return Skip("returns hardly vary, so explained variance is undefined", ("return/std",))
    trend = linear_trend(ev.step, ev.value)
    if median(late) > params.level or float(np.quantile(late, 0.9)) > params.top or trend.z > params.z:
        return None
    loss = view.get("critic/loss")
    if loss is not None and len(loss) >= 8 and median(np.abs(loss.value[-8:])) < 0.7 * median(np.abs(loss.value[:8])):
        return None
    returns = view.get(*RETURNS)
    if returns is not None and len(returns) >= 8:
        if returns.max == returns.min:
            return Skip("the return never varies, so there is nothing to explain", ("reward/episode_return_mean",))
        if linear_trend(returns.step, returns.value).z > params.z:
            return None
    total = view.number("total_steps") if view.clock == "env_steps" else None
    done = float(ev.step[-1]) / total >= params.share if total else ev.total >= params.many
    return Detection(
        message=f"explained variance still {median(late):.2g} after {ev.total} updates; loss and return stand still",
        onset=view.onset(ev.step[0], ev.step[half]),
        metric=ev.metric,
        evidence={"late_median": median(late), "updates": ev.total, "trend_z": trend.z},
        severity=None if done and returns is not None else Severity.INFO,
    )

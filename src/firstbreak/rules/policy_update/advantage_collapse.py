"""The rule `advantage-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.critic.explained_variance_negative import RETURNS, at_best
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantage-collapse`; engineering defaults where no source is named."""

    share: float = 0.01
    """Spread of the advantages over its own largest early level, below which only noise is left. Engineering
    default."""
    opening: int = 8
    """Updates whose median is that level."""
    updates: int = 10
    """Consecutive updates below."""


PPO = synth.like("PPO")
STD = "advantage/std"
SPREADS = ("reward/env_std", "reward/train_std")
LOST = {STD: synth.jump(2.0, 0.001, at=0.6)}

CASES = (
    fires("signal gone, return low", lambda: PPO({**LOST, "reward/episode_return_mean": synth.jump(200, 20, at=0.6)})),
    fires(
        "exactly 0 from the start", lambda: PPO({STD: synth.constant(0.0), "reward/episode_return_mean": synth.flat(9)})
    ),
    healthy("steady spread", lambda: PPO({STD: synth.flat(2.0)})),
    near_miss(
        "solved: the critic knows every return",
        lambda: PPO({**LOST, "reward/episode_return_mean": synth.ramp(20, 500, 0.01, until=0.6)}),
    ),
    near_miss(
        "no step has earned anything else yet",
        lambda: PPO({**LOST, "reward/episode_return_mean": synth.flat(-500.0), "reward/env_std": synth.constant(0.0)}),
    ),
    fires(
        "steps differ in what they earn, advantages do not",
        lambda: PPO({**LOST, "reward/episode_return_mean": synth.flat(20.0), "reward/env_std": synth.flat(0.5)}),
    ),
    near_miss(
        "falls to a tenth", lambda: PPO({STD: synth.geometric(3, 0.3), "reward/episode_return_mean": synth.flat(9)})
    ),
)


@rule(
    "POL024",
    "advantage-collapse",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    needs=(STD,),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=("policy-frozen", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The advantages have lost their spread although the task is not solved: nothing tells actions apart.

    What it means:
        The raw spread is 0, or a hundredth of what it was, and the return is not at its best.

    Why it matters:
        Normalisation divides by that spread: what is left is noise, blown up to full size.

    Usual causes:
        Constant reward (service default, clipped, all groups alike); episodes that always end the same way; a policy
        that no longer varies.

    What to try:
        Print rewards and returns of one batch; count the distinct values.

    When it is harmless:
        On a solved task a perfect critic leaves no advantage: not reported while the return is at its best. Where every
        step earns the same (a sparse task before its first success) there is nothing to tell apart.

    References:
        Andrychowicz et al. 2020, arXiv 2006.05990, section 3.3. Shao et al. 2024, arXiv 2402.03300 (group advantages).
    """
    spread = view.get(STD)
    assert spread is not None
    if len(spread) < params.updates or at_best(view):
        return None
    usual = median(spread.value[: params.opening])
    gone = (spread.value == 0) | (spread.value < params.share * usual)
    over = persistent_onset(spread.step, gone, params.updates)
    if over is None or not gone[-params.updates :].all():
        return None
    if not rewards_differ(view, over[1]):
        return None
    now = median(spread.value[-params.updates :])
    return Detection(
        message=f"standard deviation of the advantages fell to {now:.2g} (opening {usual:.2g})",
        onset=view.onset(*over),
        metric=spread.metric,
        evidence={"std": now, "opening_level": usual},
        severity=None if view.get(*RETURNS) is not None else Severity.INFO,
    )


def rewards_differ(view: RunView, since: float) -> bool:
    """Whether single rewards still differ from position `since` on; taken for granted where nothing says so."""
    spread = view.get(*SPREADS)
    late = None if spread is None else spread.value[spread.step >= since]
    return late is None or not late.size or median(late) > 0

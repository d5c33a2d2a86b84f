"""The rule `action-saturation`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, TRAIN, TRUTH, falls, rises
from firstbreak.stats import linear_trend, median, persistent_onset
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-saturation`. Engineering defaults where no source is named."""

    frac: float = 0.5
    """Share of action components within 1 % of a bound. Uniform actions over the range have 0.02."""
    rows: int = 8
    """Latest rows that must all show it."""
    long: int = 30
    """Rows of returns, and rows since actions lie at the bounds, from which on a return that has not risen is a harm;
    before, only one that fell (length of a drift test)."""
    rises: float = 2.5
    """Standard errors by which the rewards of single steps must have risen since then, as a line, to clear it: a mean
    over a hundred episodes lags behind them. As for every rise of a return."""
    undecided: float = 1.0
    """Standard errors of such a rise from which on nobody can say that they have not risen: a note until then."""


SAC = synth.like("SAC")
FLAT = {"reward/episode_return_mean": synth.walk(-1300, 40)}
STEP = "reward/env_mean"
REPLAYED = "reward/step_mean"
CASES = (
    fires(
        "actions sit at the bounds",
        lambda: SAC(FLAT | {"policy/saturation_frac": synth.clipped(synth.flat(0.9, 0.03), 0, 1)}),
    ),
    near_miss(
        "the policy went to the bounds and has begun to earn more there, while the mean over a hundred episodes falls",
        lambda: SAC(
            {"policy/saturation_frac": synth.jump(0.05, 0.9, 0.4, 0.03), STEP: synth.ramp(-8, -4, 0.05, begin=0.4)}
            | {"reward/episode_return_mean": synth.ramp(-1200, -1400, 0.01)}
        ),
    ),
    fires(
        "a note: a young run earned less and less before its policy went to the bounds, and no less there",
        lambda: SAC(
            {
                "policy/saturation_frac": synth.jump(0.05, 0.9, 0.88, 0.03),
                STEP: synth.after(0.86, synth.flat(-6.5, 0.05), synth.ramp(-4, -8, 0.05)),
            }
            | {"reward/episode_return_mean": synth.ramp(-800, -1300, 0.01)},
        ),
    ),
    fires(
        "a note: all that is known of the rewards is the mean of batches from the replay buffer",
        lambda: synth.like("SAC", drop=tuple(FLAT))(
            {"policy/saturation_frac": synth.jump(0.3, 0.9, 0.4, 0.03), REPLAYED: synth.ramp(-5, -7.5, 0.02, until=0.4)}
        ),
    ),
    healthy("inside the range", lambda: SAC({"policy/saturation_frac": synth.flat(0.05, 0.1)})),
    near_miss(
        "bang-bang control that works",
        lambda: SAC({"policy/saturation_frac": synth.clipped(synth.ramp(0.05, 0.9, 0.03), 0, 1)}),
    ),
)


@rule(
    "ENV010",
    "action-saturation",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    needs=("policy/saturation_frac",),
    when=("control",),
    min_points=8,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("reward-flat", "critic-not-learning", "action-std-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most actions lie at a bound of the action space, and the return does not rise.

    What it means:
        More than half of the action components are within 1 % of the limit, row after row.

    Why it matters:
        At the bound different intentions give the same action, and the gradient through a squashing function is gone.

    Usual causes:
        Missing rescaling from [-1, 1] to the environment's range; a policy mean far outside; no entropy term.

    What to try:
        Sweep each action dimension over its range and see what moves; log the pre-squash mean.

    When it is harmless:
        Optimal bang-bang control saturates; then the return, or what single steps earn since, rises and the rule stays
        silent. While nobody can say whether the return of a young run rises or falls there it is a note, and where no
        more is known than the rewards of batches from a replay buffer.

    References:
        Haarnoja et al. 2018, arXiv 1801.01290, appendix C (enforcing action bounds).
    """
    share = view.get("policy/saturation_frac")
    assert share is not None
    over = persistent_onset(share.step, share.value >= params.frac, params.rows)
    if over is None or float(share.value[-params.rows :].min()) < params.frac:
        return None
    reward = view.get(*TRAIN)
    single = earned(view, reward)
    if rises(reward) or any(rises(view.get(n)) for n in TRUTH):
        return None
    earning = _trend(single, over[1], params)
    if earning >= params.rises:
        return None
    lasted = int((share.step >= over[1]).sum()) >= params.long
    fell = _earns_less(single, over, params)
    stands = lasted and (earning < params.undecided or fell is True)
    judged = reward is not None and single is not None and _judged(reward, stands, fell, params)
    return Detection(
        message=f"{median(share.value[-params.rows :]):.0%} of the action components lie at a bound",
        onset=view.onset(*over),
        metric=share.metric,
        evidence={"saturated_frac": median(share.value[-params.rows :])},
        severity=None if judged else Severity.INFO,
    )


def earned(view: RunView, reward: Points | None) -> Points | None:
    """Return what the policy earns now, by single steps where they are known, else by episodes; None: not known.

    A batch of a replay buffer holds what all policies so far have earned, random ones too.
    """
    steps = view.get(STEP)
    if steps is not None or reward is None:
        return steps
    return None if reward.metric == REPLAYED and "replay" in traits_of(view.algorithm) else reward


def _judged(reward: Points, stands: bool, fell: bool | None, params: Params) -> bool:
    """Whether there are rewards enough to say that they have not risen, or fell because of it."""
    if len(reward) < 2 * LEAST:
        return False
    return (stands and len(reward) >= params.long) or (falls(reward) and fell is not False)


def _earns_less(reward: Points | None, began: tuple[float, float], params: Params) -> bool | None:
    """Whether rewards of single steps lie lower since actions went to the bounds than just before; None: not known."""
    if reward is None:
        return None
    before, since = reward.value[reward.step <= began[0]][-params.long :], reward.value[reward.step >= began[1]]
    if min(before.size, since.size) < params.rows:
        return None
    error = np.sqrt(before.var() / before.size + since.var() / since.size)
    return float(since.mean() - before.mean()) < -params.rises * float(error)


def _trend(reward: Points | None, since: float, params: Params) -> float:
    """Rise of the rewards of single steps from step `since` on, in standard errors; 0 where too few are known."""
    if reward is None:
        return 0.0
    later = reward.step >= since
    if later.sum() < params.rows:
        return 0.0
    return linear_trend(reward.step[later], reward.value[later]).z

"""The rule `temperature-dominates`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView

NORMAL_QUARTILE = 0.6745
"""Median size of a standard normal number."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `temperature-dominates`. Engineering defaults."""

    times: float = 5.0
    """Temperature over the size of a step's reward: one nat of entropy against all that a step can earn."""
    rows: int = 8
    """Rows on end that must show it; one that is tuned starts at 1 and falls within a few hundred updates."""
    falling: float = 0.9
    """Share of what it was when it first dominated below which it is on its way down."""


SAC = synth.like("SAC", drop=("reward/step_mean",))
SMALL = {"reward/env_mean": synth.flat(-0.5, 0.05), "reward/env_std": synth.flat(0.6, 0.05)}
TENTH = {"reward/env_mean": synth.flat(-0.05, 0.05), "reward/env_std": synth.flat(0.06, 0.05)}
SLOW = synth.like("SAC", drop=("reward/step_mean",), config={"total_steps": 2000}, clock="env_steps")
DRAWN = {"optim/batch_size": synth.constant(128), "sac/alpha": synth.constant(0.3)}
FALLS = synth.geometric(1.0, 0.91, 0.0)

CASES = (
    fires("held at 20 where a step earns one", lambda: SAC({**SMALL, "sac/alpha": synth.constant(20.0)})),
    fires(
        "raised on the way",
        lambda: SAC({**SMALL, "sac/alpha": synth.jump(0.1, 20.0, noise=0)}),
    ),
    healthy("tuned", lambda: SAC({**SMALL, "sac/alpha": synth.geometric(1.0, 0.02, 0.05)})),
    near_miss("above the reward, and falling", lambda: SAC({**SMALL, "sac/alpha": synth.geometric(90.0, 4.0, 0.02)})),
    near_miss("from 1 it falls by one learning rate an update", lambda: SLOW({**TENTH, "sac/alpha": FALLS})),
    fires(
        "it falls so slowly that the budget is over before",
        lambda: SLOW({**TENTH, "sac/alpha": synth.geometric(20.0, 18.5, 0.0)}),
    ),
    near_miss(
        "0.3 where rewards of either sign have a mean near 0",
        lambda: SAC({"reward/step_mean": synth.walk(0.0, 0.04, 0.0), **DRAWN}),
    ),
    fires(
        "0.3 where all rewards are near 0",
        lambda: SAC({"reward/step_mean": synth.walk(0.0, 0.0004, 0.0), **DRAWN}),
    ),
    near_miss(
        "20 where a step earns a hundred",
        lambda: SAC(
            {
                "reward/env_mean": synth.flat(-100, 0.05),
                "reward/env_std": synth.flat(60, 0.05),
                "sac/alpha": synth.constant(20.0),
            }
        ),
    ),
)


@rule(
    "EXP025",
    "temperature-dominates",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=("sac/alpha",),
    any_of=(("reward/env_mean", "reward/step_mean", "reward/episode_return_mean"),),
    when=("q_function",),
    min_points=8,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("action-std-growth", "alpha-runaway", "return-collapse", "reward-flat", "entropy-growing"),
)
def detect(view: RunView, params: Params) -> Answer:
    """One nat of entropy is worth many times what a step can earn.

    What it means:
        The temperature, row after row, is several times the size of a step's reward, and is not on its way down.

    Why it matters:
        Actor and critic then maximise entropy: values follow the bonus, and the policy stays as wide as it can be.

    Usual causes:
        A fixed temperature taken from a task with another scale of reward; rewards that were scaled down; a sign error
        in the temperature's loss.

    What to try:
        Tune it automatically with a target of minus the number of action dimensions, or divide it by the reward's size.

    When it is harmless:
        While a tuned temperature falls, if it gets where it must before the planned end: that is not reported.

    References:
        Haarnoja et al. 2018, arXiv 1801.01290, section 5.2 (the reward's scale is the inverse temperature), and arXiv
        1812.05905, section 5 (tuning it).
    """
    alpha = view.get("sac/alpha")
    assert alpha is not None
    size = reward_size(view)
    if size is None or size <= 0:
        return Skip("the size of a step's reward is not known", ("reward/step_mean", "reward/env_std"))
    high = alpha.value > params.times * size
    over = persistent_onset(alpha.step, high, params.rows)
    recent = slice(-params.rows, None)
    if over is None or not high[recent].all():
        return None
    first = int(np.argmax(alpha.step >= over[1]))
    if median(alpha.value[-3:]) < params.falling * median(alpha.value[first : first + 3]):
        return None
    if arrives(view, alpha, params.times * size, params.rows):
        return None
    return Detection(
        message=f"the temperature is {alpha.last:.3g}; a step earns about {size:.3g}",
        onset=view.onset(*over),
        metric=alpha.metric,
        evidence={"alpha": alpha.last, "reward_size": size},
    )


def arrives(view: RunView, alpha: Points, bar: float, rows: int) -> bool:
    """Whether a temperature that fell in every recent row comes below `bar` at that rate before the planned end.

    Adam moves the logarithm of a tuned temperature by one learning rate an update: from 1, where libraries start it, to
    a small reward's size it takes thousands of them. Without a plan it is taken to arrive.
    """
    value, step = alpha.value[-rows:], alpha.step[-rows:]
    if not (np.diff(value) < 0).all() or value[-1] <= 0:
        return False
    planned = view.number("total_steps") if view.clock == "env_steps" else None
    rate = float(np.log(value[0] / value[-1])) / float(step[-1] - step[0])
    return planned is None or float(step[-1]) + float(np.log(value[-1] / bar)) / rate <= planned


def reward_size(view: RunView) -> float | None:
    """Return the size of one step's reward: its mean and its spread, or what an episode earns over its length."""
    mean, spread = view.get("reward/env_mean", "reward/step_mean"), view.get("reward/env_std")
    if mean is not None and len(mean):
        return typical(mean) + (typical(spread) if spread is not None and len(spread) else scattered(view, mean))
    whole, length = view.get("reward/episode_return_mean"), view.get("episode/length_mean")
    if whole is None or length is None or not len(whole) or not len(length):
        return None
    return typical(whole) / max(median(length.value), 1.0)


def scattered(view: RunView, mean: Points) -> float:
    """Return the spread of single rewards that the scatter of batch means shows; 0 where batches are not known.

    A mean of n rewards scatters by their spread over the root of n. Rewards of either sign, as a policy that does not
    know anything earns them, have a mean near 0 whatever their size.
    """
    batch = view.get("optim/batch_size")
    if mean.metric != "reward/step_mean" or batch is None or not len(batch) or len(mean) < 3:
        return 0.0
    moved = median(np.abs(np.diff(mean.value)))
    return moved / (NORMAL_QUARTILE * np.sqrt(2)) * float(np.sqrt(max(batch.last, 1.0)))


def typical(points: Points) -> float:
    """Return the largest of the opening's, the middle's and the recent size: rewards change as a policy learns."""
    parts = np.array_split(np.abs(points.value), 3)
    return max(median(part) for part in parts if part.size)

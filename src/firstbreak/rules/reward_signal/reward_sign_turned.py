"""The rule `reward-sign-turned`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats, Mask
from firstbreak.stats import persistent_onset
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import StandardTask, doubt, pay_text, standard_task

RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
STEP = ("reward/env_mean", "reward/step_mean")
LEAST, MOST, LENGTH = "reward/env_min", "reward/env_max", "episode/length_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-sign-turned`. What a task pays is said by its source
    (`firstbreak/vocabulary/standard_tasks.toml`)."""

    rows: int = 3
    """Rows on end that must say so. Engineering default."""
    slack: float = 0.01
    """Share by which a mean may miss the pay: windows that hold an unfinished episode. Engineering default."""


CART, SWING = synth.like("PPO", config={"env_id": "CartPole-v1"}), synth.like("PPO", config={"env_id": "Pendulum-v1"})
RISING = synth.clipped(synth.ramp(22, 700, 0.02), 9, 500)
CASES = (
    fires("every step pays -1", lambda: CART({MOST: synth.constant(-1.0), RETURN[1]: synth.ramp(-20, -9.4)})),
    fires(
        "the return is the length, negated",
        lambda: CART({RETURN[1]: synth.constant(-9.4), LENGTH: synth.constant(9.4)}),
    ),
    fires("its cost is paid", lambda: SWING({LEAST: synth.constant(0.02), RETURN[1]: synth.ramp(1200, 1500, 0.1)})),
    fires("turned half-way", lambda: SWING({LEAST: synth.jump(-14.0, 0.02), RETURN[1]: synth.jump(-200, 1300)})),
    healthy("pays what it should", lambda: CART({RETURN[1]: RISING, LENGTH: RISING, MOST: synth.constant(1.0)})),
    near_miss(
        "-100 for falling, as many do", lambda: CART({RETURN[1]: synth.ramp(-78, 400), LEAST: synth.constant(-100)})
    ),
    near_miss(
        "-1 at the end and 0 before it (`sutton_barto_reward`)",
        lambda: CART({MOST: synth.constant(0.0), LEAST: synth.constant(-1.0), RETURN[1]: synth.constant(-1.0)}),
    ),
    near_miss(
        "shifted and scaled to be about 1", lambda: SWING({LEAST: synth.constant(-1.0), RETURN[1]: synth.ramp(40, 180)})
    ),
    fires(
        "a wrapper of one's own turns it, and may mean to: a warning",
        lambda: synth.like("PPO", config={"env_id": "CartPole-v1", "env_wrappers": "Shaped"})(
            {MOST: synth.constant(-1)}
        ),
    ),
    near_miss(
        "a task of one's own",
        lambda: synth.like("PPO", config={"env_id": "MyCartPole-v1"})({MOST: synth.constant(-1.0)}),
    ),
)


@rule(
    "RWD046",
    "reward-sign-turned",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    any_of=((*RETURN, *STEP, LEAST, MOST),),
    needs_config=("env_id",),
    when=("control",),
    min_points=3,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("return-below-start", "reward-flat", "return-collapse", "learns-to-fail"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every reward has the other sign than the task, known by its name, can pay.

    What it means:
        The configuration names a standard task whose source bounds what a step can pay. What was logged lies on the
        other side of 0, row after row. This is a warning where only the name of the run or its folder says which task
        it is, and where wrappers of one's own may change what it pays.

    Why it matters:
        The agent learns to fail, and every curve of the trainer looks sound: for its task this is the best there is.

    Usual causes:
        A cost returned as a reward; a minus too many in a wrapper.

    What to try:
        Step the environment by hand, without wrappers and with them, and print both rewards.

    When it is harmless:
        Where the name is kept for a task of one's own, or the log counts costs.

    References:
        The sources of the tasks in Gymnasium (Towers et al. 2024, arXiv 2407.17032).
    """
    env_id = str(view.config("env_id"))
    task = standard_task(env_id)
    if task is None:
        return Skip(f"what {env_id} pays is not known")
    return by_step(view, task, params) or by_size(view, task, params)


def by_step(view: RunView, task: StandardTask, params: Params) -> Detection | None:
    """Describe steps of which not one was paid with the right sign, in rows on end."""
    least, most = task.pays
    paid = view.get(MOST) if least >= 0 else view.get(LEAST) if most <= 0 else None
    if paid is None:
        return None
    found = persistent_onset(paid.step, paid.value < 0 if least >= 0 else paid.value > 0, params.rows)
    extreme = f"at most {paid.last:.4g}" if least >= 0 else f"at least {paid.last:.4g}"
    return _said(view, paid, found, f"every step pays {extreme}; {task.env_id} pays {pay_text(task.pays)}")


def by_size(view: RunView, task: StandardTask, params: Params) -> Detection | None:
    """Describe means that are those of the task but for the sign, where each step pays one and the same.

    In other tasks a mean or a sum of the other sign is also what a bonus of one's own would give.
    """
    least, most = task.pays
    if least != most:
        return None
    step = view.get(*STEP)
    if step is not None:
        found = persistent_onset(step.step, _near(step.value, -most, params), params.rows)
        if found is not None:
            return _said(view, step, found, f"a step pays {step.last:.4g}; {task.env_id} pays {most:g}")
    earned, length = view.get(*RETURN), view.get(LENGTH)
    if earned is None or length is None:
        return None
    at, mine, other = np.intersect1d(earned.step, length.step, return_indices=True)
    paid, steps = earned.value[mine], length.value[other]
    found = persistent_onset(at, _near(paid, -most * steps, params), params.rows)
    if found is None:
        return None
    row = int(np.searchsorted(at, found[1]))  # the first that convicts: later ones may be paid rightly again
    message = f"an episode of {steps[row]:.4g} steps returns {paid[row]:.4g}; {task.env_id} pays {most:g} a step"
    return _said(view, earned, found, message)


def _near(value: Floats, wanted: Floats | float, params: Params) -> Mask:
    return np.abs(value - wanted) <= params.slack * np.abs(wanted)


def _said(view: RunView, paid: Points, found: tuple[float, float] | None, message: str) -> Detection | None:
    if found is None:
        return None
    doubted = doubt(view.config)
    return Detection(
        message=message + doubted,
        onset=view.onset(*found),
        metric=paid.metric,
        evidence={"smallest": paid.min, "largest": paid.max, "rows": len(paid)},
        severity=Severity.WARNING if doubted else None,
    )

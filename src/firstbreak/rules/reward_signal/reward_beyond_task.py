"""The rule `reward-beyond-task`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import from_start
from firstbreak.view import RunView
from firstbreak.vocabulary import doubt, pay_text, standard_task

RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
LEAST, MOST = "reward/env_min", "reward/env_max"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-beyond-task`. What a task pays is said by its source
    (`firstbreak/vocabulary/standard_tasks.toml`)."""

    rows: int = 3
    """Rows that must have been logged. Engineering default."""
    times: float = 15.0
    """Times the bound from which on it is no repeated frame (4 or 8 steps), no reward scaled tenfold on purpose and
    no small bonus. Engineering default."""


CART, SWING = synth.like("PPO", config={"env_id": "CartPole-v1"}), synth.like("PPO", config={"env_id": "Pendulum-v1"})
RISING = synth.clipped(synth.ramp(22, 700, 0.02), 9, 500)


def _times(factor: float) -> synth.Shape:
    return lambda t, rng: factor * RISING(t, rng)


CASES = (
    fires("a thousand times too much", lambda: CART({RETURN[1]: _times(1000.0)})),
    fires("costs a hundred times too large", lambda: SWING({RETURN[1]: synth.ramp(-120_000, -20_000)})),
    healthy("pays what it should", lambda: CART({RETURN[1]: RISING, MOST: synth.constant(1.0)})),
    near_miss(
        "-100 for falling, as many do", lambda: CART({RETURN[1]: synth.ramp(-78, 400), LEAST: synth.constant(-100)})
    ),
    near_miss("frames repeated four times", lambda: CART({MOST: synth.constant(4.0), RETURN[1]: RISING})),
    near_miss(
        "ten times as much by design, rounded", lambda: CART({RETURN[1]: _times(9.9), MOST: synth.constant(10.000001)})
    ),
    near_miss("divided by a hundred by design", lambda: CART({RETURN[1]: _times(0.01)})),
    near_miss(
        "a task of one's own",
        lambda: synth.like("PPO", config={"env_id": "MyCartPole-v1"})({RETURN[1]: _times(1000.0)}),
    ),
)


@rule(
    "RWD048",
    "reward-beyond-task",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=((*RETURN, LEAST, MOST),),
    needs_config=("env_id",),
    when=("control",),
    min_points=3,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("reward-scale-mismatch", "return-scale-unnormalised", "value-scale-mismatch", "reward-outliers"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Rewards are more than ten times what the task, known by its name, can pay.

    What it means:
        The configuration names a standard task whose source bounds what a step and an episode can pay. What was logged
        lies beyond ten times the bound. What is merely outside is passed over: many people shape, scale down or repeat
        frames by design.

    Why it matters:
        Targets, gradients and the critic are driven out of the range that default settings are made for.

    Usual causes:
        Rewards in another unit; a scale applied twice or the wrong way; noise or a bonus that drowns the task.

    What to try:
        Step the environment by hand, without wrappers and with them, and print both rewards.

    When it is harmless:
        Where the name is kept for a task of one's own.

    References:
        The sources of the tasks in Gymnasium (Towers et al. 2024, arXiv 2407.17032); Henderson et al. 2018,
        arXiv 1709.06560, section on reward scale.
    """
    env_id = str(view.config("env_id"))
    task = standard_task(env_id)
    if task is None:
        return Skip(f"what {env_id} pays is not known")
    least, most = task.pays
    asked = (
        (view.get(*RETURN), task.returns, "an episode returns"),
        (view.get(MOST), (float("-inf"), most), "a step pays"),
        (view.get(LEAST), (least, float("inf")), "a step pays"),
    )
    for paid, (low, high), what in asked:
        if paid is None or len(paid) < params.rows:
            continue
        over, under = high > 0 and paid.max > params.times * high, low < 0 and paid.min < params.times * low
        if over or under:
            return Detection(
                message=f"{what} {paid.max if over else paid.min:.4g}; {env_id} pays {pay_text((low, high))}"
                + doubt(view.config),
                onset=from_start(view, paid),
                metric=paid.metric,
                evidence={"smallest": paid.min, "largest": paid.max, "rows": len(paid)},
            )
    return None

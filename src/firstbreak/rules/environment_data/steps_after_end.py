"""The rule `steps-after-end`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView
from firstbreak.vocabulary import standard_task

RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
LENGTH, MOST = "episode/length_mean", "reward/env_max"


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-after-end`. Engineering defaults."""

    rows: int = 3
    """Rows on end that must say so."""
    limit: float = 0.99
    """Share of the time limit that episodes last."""
    paid: float = 0.5
    """Share of their steps below which they were paid for. A reward that is withheld at the end takes one step."""


CART = synth.like(
    "PPO", config={"env_id": "CartPole-v1", "action_space": "discrete", "n_actions": 2, "max_episode_steps": 500}
)
TOP, SHORT = synth.constant(500.0), synth.ramp(20.0, 26.0, 0.02)
RISING = synth.clipped(synth.ramp(22, 700, 0.02), 9, 500)
CASES = (
    fires("500 steps, of which twenty are paid", lambda: CART({LENGTH: TOP, RETURN[1]: SHORT})),
    healthy("each step is paid", lambda: CART({LENGTH: RISING, RETURN[1]: RISING})),
    near_miss("solved", lambda: CART({LENGTH: TOP, RETURN[1]: TOP})),
    near_miss("episodes end", lambda: CART({LENGTH: synth.ramp(22, 90), RETURN[1]: SHORT})),
    near_miss(
        "rewards are divided by a hundred by design",
        lambda: CART({LENGTH: TOP, RETURN[1]: synth.constant(5.0), MOST: synth.constant(0.01)}),
    ),
    near_miss(
        "the same, and nothing says what a step pays: every row holds the same share",
        lambda: CART({LENGTH: TOP, RETURN[1]: synth.constant(5.0)}),
    ),
    near_miss(
        "another time limit was set",
        lambda: synth.like("PPO", config={"env_id": "CartPole-v1", "max_episode_steps": 1000})(
            {LENGTH: TOP, RETURN[1]: SHORT}
        ),
    ),
)


@rule(
    "ENV034",
    "steps-after-end",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    needs=(LENGTH,),
    any_of=(RETURN,),
    needs_config=("env_id", "max_episode_steps"),
    when=("control",),
    min_points=3,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "return-below-start", "return-collapse", "smooth-decline", "learns-to-fail"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes last to the time limit and are paid for a fraction of their steps, in a task that pays every step.

    What it means:
        The configuration names a standard task that pays the same for each step until it ends. The episodes of this run
        all reach the time limit, and their returns say that the task was over long before.

    Why it matters:
        What is stored after the end is no experience: the state is stuck, the reward is 0, and the value of falling is
        taken from there. The return hardly depends on the policy.

    Usual causes:
        `terminated` is never set, or dropped by a wrapper; a loop that waits for `truncated` alone; an environment that
        is stepped without being reset.

    What to try:
        Play randomly and print `terminated` at each step (`firstbreak preflight env`).

    When it is harmless:
        Where the name is kept for a task of one's own with another reward.

    References:
        Gymnasium (Towers et al. 2024, arXiv 2407.17032): after the end CartPole pays 0 and warns.
    """
    env_id, limit = str(view.config("env_id")), view.number("max_episode_steps")
    task = standard_task(env_id)
    if task is None or limit is None or limit <= 0 or task.pays[1] <= 0 or task.returns[1] != limit * task.pays[1]:
        return Skip(f"it is not known that {env_id} pays the same for each step up to its end")
    length, earned, most = view.get(LENGTH), view.get(*RETURN), view.get(MOST)
    assert length is not None
    assert earned is not None
    if most is not None and most.max != task.pays[1]:
        return None  # another reward than the task's own
    step, mine, other = np.intersect1d(length.step, earned.step, return_indices=True)
    share = earned.value[other] / (task.pays[1] * length.value[mine])
    over = (length.value[mine] >= params.limit * limit) & (share >= 0) & (share <= params.paid)
    found = persistent_onset(step, over, params.rows)
    if found is None or (most is None and np.ptp(share[over]) == 0):
        return None  # one and the same share in every row is a scale
    return Detection(
        message=f"episodes last {length.last:.4g} steps and return {earned.last:.4g}; {env_id} pays "
        f"{task.pays[1]:g} for each step until it ends",
        onset=view.onset(*found),
        metric=LENGTH,
        evidence={"length": length.last, "return": earned.last, "limit": limit},
    )

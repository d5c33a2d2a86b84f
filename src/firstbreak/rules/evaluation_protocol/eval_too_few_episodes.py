"""The rule `eval-too-few-episodes`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `eval-too-few-episodes`. Engineering defaults where no source is named."""

    episodes: float = 10.0
    """Episodes per evaluation under which its error is large. With one standard deviation of spread, 10 episodes give
    an error of a third of it."""


FEW = synth.like("PPO", config={"eval_episodes": 3})
MANY = synth.like("PPO", config={"eval_episodes": 50})
EVAL = {"reward/eval_return_mean": synth.ramp(25, 400, 0.05)}
CASES = (
    fires("three episodes", lambda: FEW(EVAL)),
    healthy("fifty episodes", lambda: MANY(EVAL)),
    near_miss(
        "three episodes of a deterministic task", lambda: FEW(EVAL | {"reward/eval_return_std": synth.constant(0.0)})
    ),
)


@rule(
    "EVA004",
    "eval-too-few-episodes",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.INFO,
    any_of=(("reward/eval_return_mean", "reward/eval_mean", "reward/score"),),
    needs_config=("eval_episodes",),
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Each evaluation averages so few episodes that its ups and downs mean little.

    What it means:
        The configuration asks for fewer than ten episodes (or prompts) per evaluation.

    Why it matters:
        The best of many noisy evaluations is high by luck, and differences between checkpoints vanish in the error.

    Usual causes:
        Defaults of small examples; slow environments.

    What to try:
        At least 20 episodes for comparisons, 100 for a final score, with intervals.

    When it is harmless:
        Deterministic policy, task and start state: then one episode is as good as many.

    References:
        Henderson et al. 2018, arXiv 1709.06560. Agarwal et al. 2021, arXiv 2108.13264.
    """
    episodes = view.number("eval_episodes")
    spread = view.get("reward/eval_return_std")
    if episodes is None or episodes >= params.episodes or (spread is not None and len(spread) and spread.max == 0):
        return None
    return Detection(
        message=f"{episodes:.0f} episodes per evaluation: error {1 / np.sqrt(max(episodes, 1)):.2f} of the spread",
        onset=view.onset(0.0),
        metric="reward/eval_return_mean",
        evidence={"eval_episodes": episodes},
    )

"""The rule `return-scale-unnormalised`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, from_start, moved, rises
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-scale-unnormalised`. Engineering defaults where no source is named."""

    error_scale: float = 100.0
    """Root of the value loss. A fresh value head gives outputs of order 1 and moves by about its learning rate per
    step, so errors of 100 take tens of thousands of steps to fit. Engineering default."""
    explained: float = 0.1
    """Explained variance under which the critic explains nothing yet."""
    rows: int = 16
    """Rows from the start in which this must hold."""


PPO = synth.like("PPO")
CASES = (
    fires(
        "returns in the thousands, critic explains nothing",
        lambda: PPO(
            {
                "critic/loss": synth.flat(4e8, 0.1),
                "critic/explained_variance": synth.flat(0.005, 0.5),
                "reward/episode_return_mean": synth.walk(-2e5, 2e3),
            }
        ),
    ),
    healthy("critic fits", lambda: PPO({})),
    near_miss("large returns, critic fits them", lambda: PPO({"critic/loss": synth.geometric(5e6, 2e6, 0.1)})),
    near_miss(
        "critic explains nothing at the solved end, loss tiny",
        lambda: PPO({"critic/loss": synth.geometric(50, 0.05, 0.2), "critic/explained_variance": synth.ramp(0.8, 0.0)}),
    ),
    near_miss(
        "huge scale but the return rises",
        lambda: PPO({"critic/loss": synth.flat(4e6, 0.1), "critic/explained_variance": synth.flat(0.02, 0.5)}),
    ),
)


@rule(
    "RWD004",
    "return-scale-unnormalised",
    link=Link.REWARD_SIGNAL,
    component=Component.NORMALISER,
    needs=("critic/loss", "critic/explained_variance"),
    any_of=(TRAIN,),
    when=("value_function",),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("critic-not-learning", "value-scale-mismatch", "value-clip-binding"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Returns are so large that the value function has not begun to explain them.

    What it means:
        The value loss is that of errors in the hundreds or more, explained variance has been about 0 from the first
        row, and the return does not rise.

    Why it matters:
        With unnormalised targets of that size the value head needs very many steps; until then advantages are noise.

    Usual causes:
        Rewards in physical units; no return normalisation; long undiscounted episodes.

    What to try:
        Divide rewards by the running standard deviation of the discounted return (no mean shift); explained variance
        must rise within a few updates.

    When it is harmless:
        When the loss falls steadily or the return rises all the same.

    References:
        Engstrom et al. 2020, "Implementation matters", arXiv 2005.12729 (reward scaling). Huang et al. 2022, "The 37
        implementation details of PPO".
    """
    loss, explained = view.get("critic/loss"), view.get("critic/explained_variance")
    assert loss is not None
    assert explained is not None
    if min(len(loss), len(explained)) < params.rows:
        return None
    size = np.sqrt(np.abs(loss.value))
    if size.min() < params.error_scale or median(explained.value) >= params.explained or explained.max >= 0.5:
        return None
    if rises(view.get(*TRAIN)) or moved(loss).z < -3 or rises(explained, 3.0):
        return None
    return Detection(
        message=f"value errors of {median(size):.3g}, explained variance {median(explained.value):.2g} since the start",
        onset=from_start(view, loss),
        metric=loss.metric,
        evidence={"value_error": median(size), "explained_variance": median(explained.value), "rows": len(loss)},
    )

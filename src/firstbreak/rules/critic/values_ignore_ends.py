"""The rule `values-ignore-ends`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal.return_below_start import per_step
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

from .explained_variance_negative import at_best

LOSS, EXPLAINED = "critic/loss", "critic/explained_variance"
RETURN, LENGTH = "reward/episode_return_mean", "episode/length_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `values-ignore-ends`. Engineering defaults."""

    steps: float = 10.0
    """Horizon in steps that is assumed where the discount is not known: usual ones are longer, which widens the
    spread."""
    share: float = 0.5
    """Share of the least spread under which the targets lie: rows differ in how many ends they hold."""
    explained: float = 0.5
    """Explained variance above which the loss says nothing of how far the targets lie apart."""
    rows: int = 8
    """Rows in a row that show it."""


PPO = synth.like("PPO")
SHORT = synth.ramp(20, 40, 0.0)
SAME = {RETURN: SHORT, LENGTH: SHORT, EXPLAINED: synth.after(0.6, synth.flat(-2.0, 0.2), synth.ramp(0.0, 0.9, 0.02))}
LATE = {
    RETURN: synth.after(0.6, synth.ramp(45, 34, 0.0), SHORT),
    LENGTH: synth.after(0.6, synth.ramp(45, 34, 0.0), SHORT),
}
CASES = (
    fires(
        "every target is one number although episodes end", lambda: PPO(SAME | LATE | {LOSS: synth.geometric(9, 0.005)})
    ),
    healthy("targets differ", lambda: PPO(SAME | LATE | {LOSS: synth.geometric(60, 20)})),
    near_miss(
        "solved: hardly an episode ends by itself",
        lambda: PPO(
            SAME | {RETURN: synth.ramp(20, 500, 0.0), LENGTH: synth.ramp(20, 500, 0.0), LOSS: synth.geometric(9, 0.005)}
        ),
    ),
    near_miss(
        "steps pay differently, and perhaps only the last one",
        lambda: PPO(SAME | LATE | {RETURN: synth.flat(1.0, 0.1), LOSS: synth.geometric(9, 0.005)}),
    ),
    near_miss(
        "the critic fits: a small loss of targets that differ",
        lambda: PPO(SAME | LATE | {LOSS: synth.geometric(9, 0.005), EXPLAINED: synth.ramp(0.0, 0.99, 0.005)}),
    ),
)


@rule(
    "CRT028",
    "values-ignore-ends",
    link=Link.CRITIC,
    component=Component.VALUE,
    needs=(LOSS, EXPLAINED, RETURN, LENGTH),
    when=("on_policy", "control", "value_function"),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("explained-variance-collapse", "explained-variance-negative", "reward-flat", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes end by themselves, every step pays the same, and yet all value targets are next to one number.

    What it means:
        The step that ends an episode is worth its own reward, all others are worth more (in size). With ends as
        frequent as these the targets must lie apart; the critic's loss, at an explained variance about 0, says that
        they do not.

    Why it matters:
        Where ending an episode costs nothing, advantages do not tell what keeps it going.

    Usual causes:
        The done flag is not multiplied into the bootstrap; every end is taken for a time limit and bootstrapped;
        an environment that resets by itself and never says so.

    What to try:
        Print rewards, done flags and targets of one short rollout with an end in the middle.

    When it is harmless:
        On a solved task, where episodes last to the time limit: a return near its best is not reported.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (ends and time limits). Sutton and Barto 2018, section 3.4.
    """
    loss, explained, length = view.get(LOSS), view.get(EXPLAINED), view.get(LENGTH)
    assert loss is not None
    assert explained is not None
    assert length is not None
    paid = abs(per_step(view))
    if paid == 0 or at_best(view) or not len(loss) or not len(explained):
        return None
    gamma = view.number("gamma")
    horizon = 1 / (1 - gamma) if gamma is not None and 0 <= gamma < 1 else params.steps
    lasts: Floats = np.interp(loss.step, length.step, length.value)
    fits: Floats = np.interp(loss.step, explained.step, explained.value)
    # One step in `lasts` ends an episode and is worth `paid`, the others at least half a horizon more.
    least = paid * 0.5 * np.minimum(lasts, horizon) / np.sqrt(np.maximum(lasts, 1.0))
    spread = np.sqrt(np.abs(loss.value) / np.maximum(1 - fits, 1e-3))
    alike = (spread < params.share * least) & (fits <= params.explained)
    over = persistent_onset(loss.step, alike, params.rows)
    if over is None or not alike[-params.rows :].all():
        return None
    now, due = median(spread[-params.rows :]), median(least[-params.rows :])
    return Detection(
        message=f"value targets differ by {now:.2g}; the ends of episodes alone make {due:.2g}",
        onset=view.onset(*over),
        metric=LOSS,
        evidence={"spread": now, "least": due, "paid": paid},
    )

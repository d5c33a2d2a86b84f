"""The rule `advantages-misplaced`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

ORDER, FOLLOWS = "advantage/order_agreement", "advantage/reward_agreement"
GRPO, ANCHORED = synth.like("GRPO", config={"kl_coef": 0.0}), synth.like("GRPO", config={"kl_coef": 0.05})
TURNS = synth.after(0.5, synth.constant(-1.0), synth.constant(1.0))

EXACT = 0.99
"""Agreement from which it is one of all responses; a row of the fault seldom is."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantages-misplaced`; engineering defaults where no source is named."""

    agreement: float = 0.5
    """Agreement in sign of advantage and reward, less the mean of the group, under which they do not belong together:
    1 by definition, 0 by chance, -1 for a sign that is wrong (`advantage-sign-wrong`)."""
    rows: int = 8
    """Rows over which the median is taken: single batches hold few responses."""


CASES = (
    fires("shuffled", lambda: GRPO({ORDER: synth.clipped(synth.flat(0.0, 0.2), -1, 1)})),
    fires("shuffled half-way", lambda: GRPO({ORDER: synth.after(0.5, synth.flat(0.05, 0.1), synth.constant(1.0))})),
    fires("read from the loss alone", lambda: GRPO({FOLLOWS: synth.clipped(synth.flat(0.0, 0.2), -1, 1)})),
    healthy("1 by definition", lambda: GRPO({ORDER: synth.constant(1.0), FOLLOWS: synth.constant(1.0)})),
    near_miss("the anchor outweighs the reward", lambda: ANCHORED({FOLLOWS: synth.clipped(synth.flat(0, 0.3), -1, 1)})),
    near_miss("one batch", lambda: GRPO({ORDER: synth.spikes(1.0, 0.0, at=(0.4,), noise=0.0)})),
    near_miss("the sign is wrong", lambda: GRPO({ORDER: synth.constant(-1.0)})),
    near_miss("the sign turns half-way", lambda: GRPO({ORDER: TURNS})),
)


@rule(
    "POL063",
    "advantages-misplaced",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    any_of=((ORDER, FOLLOWS),),
    min_points=8,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "reward-std-collapse",
        "reward-redefined",
        "advantage-collapse",
        "token-entropy-collapse",
        "response-collapse",
        "smooth-decline",
        "policy-jumps",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Advantages do not belong to the responses that they are multiplied with.

    What it means:
        What is paid above the mean of its group has a positive advantage by definition. Here the two agree no
        better than chance.

    Why it matters:
        Every update makes responses likelier or rarer at random: a random walk with the gradient norm of
        training.

    Usual causes:
        Rows that were sorted, shuffled or padded on one side only; a gather over processes in another order; an
        advantage that is indexed by prompt, not by response.

    What to try:
        Print response, reward and advantage of one group in one line each, at the place where the loss reads
        them.

    When it is harmless:
        Where advantages hold other things than the reward on purpose, such as a bonus of their own per
        response.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1.2.
    """
    points = view.get(ORDER)
    if points is None or not len(points):
        if view.number("kl_coef") != 0 or view.number("ent_coef"):
            return Skip("a term of KL or entropy in the loss hides what the advantages do", (ORDER,))
        points = view.get(FOLLOWS)
    if points is None or len(points) < params.rows:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(points.value, params.rows)
    middles = np.median(windows, axis=1)
    low = np.flatnonzero((np.abs(middles) < params.agreement) & ~turned(windows))
    if not low.size:
        return None
    apart = np.abs(points.value) < EXACT
    first = int(low[0]) + int(np.argmax(apart[low[0] : low[0] + params.rows]))
    return Detection(
        message=f"advantages agree with the rewards of their responses at {middles[low[0]]:.2f}; by definition at 1",
        onset=view.onset(float(points.step[max(first - 1, 0)]), float(points.step[first])),
        metric=points.metric,
        evidence={"agreement": float(middles[low[0]])},
    )


def turned(windows: Floats) -> NDArray[np.bool_]:
    """Whether a window [k, n] holds exact agreement that turned into exact disagreement once: that is a sign."""
    exact = (np.abs(windows) >= EXACT).all(axis=1)
    return exact & ((np.diff(np.sign(windows), axis=1) != 0).sum(axis=1) <= 1)

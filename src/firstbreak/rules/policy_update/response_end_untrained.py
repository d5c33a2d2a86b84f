"""The rule `response-end-untrained`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

LEFT_OUT = "seq/end_untrained_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `response-end-untrained`; engineering defaults where no source is named."""

    frac: float = 0.99
    """Share of the ended responses whose end gets no gradient: a mask that leaves it out leaves out every one, clips
    leave out some. Engineering default."""
    rows: int = 4
    """Rows in a row that must show it, and at least one of a batch that is used for the first time: then nothing is
    past the clip yet. Engineering default."""


def grpo(shape: synth.Shape, **config: object) -> RunLog:
    """A run of GRPO of which this share of the ends is not trained."""
    return synth.like("GRPO", config=config)({LEFT_OUT: shape})


AGAIN = {"steps_per_generation": 4, "num_iterations": 2}


def used_again(t: Floats, rng: np.random.Generator) -> Floats:
    """Share [n] of a run of which each batch of eight updates is past the clip from its fourth update on."""
    del rng
    return np.where(np.arange(t.size) % 8 < 3, 0.0, 1.0)


CASES = (
    fires("no end is trained", lambda: grpo(synth.constant(1.0))),
    fires("from the middle on", lambda: grpo(synth.jump(0.0, 1.0, at=0.5))),
    healthy("every end is trained", lambda: grpo(synth.constant(0.0))),
    near_miss("the clip holds some back", lambda: grpo(synth.clipped(synth.flat(0.3, 0.1), 0, 1))),
    near_miss("one batch with a single ended response", lambda: grpo(synth.spikes(0.0, 1.0, at=(0.4,)))),
    near_miss("the clip holds all back while a batch is used again", lambda: grpo(used_again, **AGAIN)),
    fires("no end is trained, of batches that are used again", lambda: grpo(synth.constant(1.0), **AGAIN)),
    near_miss("only uncertain tokens are trained", lambda: grpo(synth.constant(1.0), top_entropy_quantile=0.2)),
)


@rule(
    "POL045",
    "response-end-untrained",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    needs=(LEFT_OUT,),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("truncation-growing", "length-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are trained, and the token that ends them is not.

    What it means:
        Of the responses that ended and got a gradient, none got one on its end token.

    Why it matters:
        When to stop is an action like any other. Without gradient it is never learned, and what the other tokens learn
        moves it anyway: responses grow to the limit, or break off.

    Usual causes:
        A mask made from `ids != pad` where the padding is the end token; a mask that stops one token early.

    What to try:
        Print the last ids of one response with their mask; count the end tokens that are in the loss.

    When it is harmless:
        Where only uncertain tokens are trained on purpose (arXiv 2506.01939): the end is usually certain.

    References:
        Wang et al. 2025, arXiv 2506.01939 (training on uncertain tokens only).
    """
    points, quantile = view.get(LEFT_OUT), view.number("top_entropy_quantile")
    assert points is not None
    if quantile is not None and quantile < 1:
        return None
    steps, uses, micro = (
        view.number(name) or 1.0 for name in ("steps_per_generation", "num_iterations", "gradient_accumulation")
    )
    rows = max(params.rows, 1 + round(steps * uses / micro))
    onset = persistent_onset(points.step, points.value >= params.frac, rows)
    if onset is None:
        return None
    return Detection(
        message=f"{points.last:.0%} of the ended responses are trained without the token that ends them",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"untrained_frac": points.last},
    )

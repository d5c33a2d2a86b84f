"""The rule `sampling-truncated`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

TOP_P = "sample/top_p"
GRPO = synth.like("GRPO", config={"top_p": 1.0})
CHOSEN = synth.like("GRPO", config={"top_p": 0.95})


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampling-truncated`; engineering defaults where no source is named."""

    mass: float = 0.7
    """Mass from which responses are drawn, under which it is a warning whatever the settings say."""
    narrow: float = 0.5
    """Mass that makes it an error: what is left out may be as likely as what is drawn."""
    tolerance: float = 0.005
    """Difference between the mass in force and that of the settings that counts as none."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("the top 0.3 of the mass", lambda: GRPO({TOP_P: synth.constant(0.3)})),
    fires("another mass than the settings say, half-way", lambda: GRPO({TOP_P: synth.jump(1.0, 0.8, 0.5, 0.0)})),
    healthy("all of it", lambda: GRPO({TOP_P: synth.constant(1.0)})),
    near_miss("0.95, as set", lambda: CHOSEN({TOP_P: synth.constant(0.95)})),
    near_miss("the settings are not known, 0.9", lambda: synth.like("GRPO")({TOP_P: synth.constant(0.9)})),
)


@rule(
    "EXP035",
    "sampling-truncated",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(TOP_P,),
    when=("language",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "advantage-collapse",
        "reward-redefined",
        "reward-std-collapse",
        "reward-saturated-from-start",
        "reward-flat",
        "reward-constant",
        "task-too-hard",
        "response-collapse",
        "token-entropy-collapse",
        "sampler-transform-unscored",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are drawn from a part of the vocabulary, and scored as if from all of it.

    What it means:
        The nucleus (`top_p`) in force where responses are drawn leaves out much of the mass, or is not the one
        that the settings name. The loss takes log-probabilities over the whole vocabulary.

    Why it matters:
        Groups hold few different answers, so that there is little to learn from; and the gradient is that of a
        policy which is not the one that sampled.

    Usual causes:
        A `generation_config.json` of the model; settings in `generation_kwargs`, which reach the sampler only;
        an evaluation's settings that were not put back.

    What to try:
        Draw at `top_p` 1 while training, and keep the narrow choice for evaluation.

    When it is harmless:
        Where importance weights with the sampler's own log-probabilities correct the difference.

    References:
        Holtzman et al. 2020, arXiv 1904.09751, section 3.1; huggingface/trl issue 6789.
    """
    drawn, given = view.get(TOP_P), view.number("top_p")
    assert drawn is not None
    other = given is not None and np.abs(drawn.value - given) > params.tolerance
    narrow = (drawn.value <= params.mass) | other
    onset = persistent_onset(drawn.step, narrow, params.rows)
    if onset is None:
        return None
    mass = median(drawn.value[narrow & (drawn.step >= onset[1])])
    said = "" if given is None or abs(mass - given) <= params.tolerance else f"; the settings say {given:g}"
    return Detection(
        message=f"responses are drawn from the top {mass:g} of the mass and scored as if from all{said}",
        onset=view.onset(*onset),
        metric=TOP_P,
        evidence={"top_p": mass, "top_p_set": mass if given is None else given},
        severity=Severity.ERROR if mass <= params.narrow else None,
    )

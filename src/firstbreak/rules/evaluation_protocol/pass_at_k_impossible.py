"""The rule `pass-at-k-impossible`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `pass-at-k-impossible`. By definition the best of k tries is no worse than one."""

    rounding: float = 0.01
    """Difference that rounding and another set of samples may make. Engineering default."""
    rows: int = 3
    """Rows in which it holds."""


GRPO = synth.like("GRPO")

ONE, BEST = "reward/eval_mean", "reward/eval_pass_at_k"

CASES = (
    fires("k tries solve less than one", lambda: GRPO({ONE: synth.flat(0.6, 0.02), BEST: synth.flat(0.4, 0.02)})),
    healthy("k tries solve more", lambda: GRPO({ONE: synth.flat(0.4, 0.02), BEST: synth.flat(0.6, 0.02)})),
    near_miss("k tries, all alike", lambda: GRPO({ONE: synth.constant(0.5), BEST: synth.constant(0.5)})),
    near_miss("a mean reward, no share", lambda: GRPO({ONE: synth.flat(3.0, 0.02), BEST: synth.flat(0.6, 0.02)})),
)


@rule(
    "EVA014",
    "pass-at-k-impossible",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    needs=(ONE, BEST),
    when=("language",),
    min_points=3,
    static=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The logged pass@k lies below the score of a single try.

    What it means:
        A problem that one try solves is solved by the best of k as well, so pass@k is at least pass@1.

    Why it matters:
        One of the two is computed on other problems, with another scorer or by a wrong formula; neither can be trusted.

    Usual causes:
        1 - (1 - p)^k of a mean over problems; fewer samples than k; another temperature; a majority vote called pass@k.

    What to try:
        Use 1 - C(n - c, k) / C(n, k) per problem with n >= k samples, on the same problems as the single score.

    When it is harmless:
        When the single score is a mean reward that gives part marks.

    References:
        Chen et al. 2021, arXiv 2107.03374, equation 1.
    """
    one, best = view.get(ONE), view.get(BEST)
    assert one is not None
    assert best is not None
    common = sorted(set(one.step.tolist()) & set(best.step.tolist()))
    if len(common) < params.rows or one.max > 1 or one.min < 0:
        return None
    single, tries = one.value[np.isin(one.step, common)], best.value[np.isin(best.step, common)]
    wrong = tries < single - params.rounding
    onset = persistent_onset(np.array(common), wrong, params.rows)
    if onset is None or not bool(wrong[-params.rows :].all()):
        return None
    return Detection(
        message=f"pass@k is {tries[-1]:.3g}, a single try {single[-1]:.3g}; it cannot be less",
        onset=view.onset(*onset),
        metric=BEST,
        evidence={"single_frac": float(single[-1]), "best_frac": float(tries[-1])},
    )

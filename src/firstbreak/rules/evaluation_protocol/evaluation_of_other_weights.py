"""The rule `evaluation-of-other-weights`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

METRIC, OFF = "eval/unlike_policy_z", "eval/weights_off_frac"
SAYS = {
    METRIC: "what the evaluation draws lies {:.1f} standard deviations off the policy as it is",
    OFF: "the evaluation draws with weights that are {:.2g} of their norm off those that training left",
}

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `evaluation-of-other-weights`; engineering defaults where no source is named."""

    limit: float = 5.0
    """Standard deviations between the log-probabilities of an evaluation's responses and their mean under the policy,
    minus its entropy: 0 in the mean by definition; Freedman's bound makes 5 a chance of 1e-5."""
    off: float = 1e-4
    """Distance of the norms of the weights that an evaluation draws with from those that training left, over their
    norm: 0 by construction, where the model itself draws."""
    rows: int = 2
    """Evaluations on end that must show it."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(9.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 9.0, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.flat(0.0, 1.0)})),
    fires("loaded into the model for a while", lambda: GRPO({METRIC: synth.constant(1.0), OFF: synth.constant(0.01)})),
    near_miss("rounding of the norms", lambda: GRPO({OFF: synth.constant(1e-6)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(2.0)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 9.0, at=(0.4,), noise=0.0)})),
)


@rule(
    "EVA031",
    "evaluation-of-other-weights",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.ERROR,
    any_of=((METRIC, OFF),),
    when=("language",),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "heldout-regression",
        "train-eval-gap",
        "best-long-past",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """What is evaluated is not the policy that is trained.

    What it means:
        Of a draw, log-probability and entropy cancel in the mean at every token. Over the responses of the evaluations
        they do not: other weights, or other settings, drew them.

    Why it matters:
        The score that decides which checkpoint is kept belongs to another model.

    Usual causes:
        Evaluation that loads a checkpoint once; an engine for evaluation that is never handed new weights; an
        adapter that is not merged there; other settings of sampling.

    What to try:
        Hash the weights that evaluation draws with beside those of the trainer.

    When it is harmless:
        An evaluation that is greedy, or samples by settings of its own, on purpose.

    References:
        Freedman 1975, doi:10.1214/aop/1176996452, theorem 1.6.
    """
    for metric, limit in ((OFF, params.off), (METRIC, params.limit)):
        points = view.get(metric)
        off = None if points is None else abs(points.value) >= limit
        onset = None if points is None or off is None else persistent_onset(points.step, off, params.rows)
        if points is None or off is None or onset is None:
            continue
        value = median(points.value[off & (points.step >= onset[1])])
        return Detection(
            message=SAYS[metric].format(abs(value)),
            onset=view.onset(*onset),
            metric=metric,
            evidence={"value": value, "limit": limit},
        )
    return None

"""The experiment `rescore-golden-set`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...finding import Component, Link
from ..batch.given import SAMPLES, SCORER, function_of, path_of
from ..batch.golden import apart, golden_set, scorer_of, spread_of
from ..experiment import Cost, Measures, Option, Pair, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

SMALL_FRAC = 0.01
"""Share of the scores' spread that matters. Engineering default: a golden set's scores are to be what they were."""


def _margin(pairs: Sequence[Pair], subject: Subject) -> float:
    del subject
    return SMALL_FRAC * pairs[0].control["spread"]


@experiment(
    "rescore-golden-set",
    hypothesis="The scorer is no longer the one that training was paid by: the same samples score differently now.",
    changes="scores",
    control="now, twice",
    changed="on record, and now",
    prediction="Scores on record differ from those of now by more than two scorings of now differ from each other.",
    needs=(SAMPLES, SCORER),
    options=(Option("before", "module:function: the scorer of then, instead of the rewards in the samples"),),
    cost=Cost(0.0, "two scorings of the samples for each seed, no training"),
    reading=Reading(
        effect=lambda control, changed: changed["mean_abs"] - control["mean_abs"],
        confirms=Side.ABOVE,
        margin=_margin,
        unit="score",
        exact=True,
    ),
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    pilot=3,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """The scorer has drifted: the same samples score differently now.

    What is changed:
        Only the time of scoring. The same samples, paired one by one: their scores on record (or by the scorer of then,
        given as `before=module:function`) against their scores of now. The control scores them twice now, so that a
        scorer that throws dice is not taken for one that drifted. Each seed puts the samples in another order.

    Prediction:
        The mean absolute difference between then and now exceeds that between two scorings of now.

    How the verdict is drawn:
        Confirmed when the excess is above 1 % of the scores' spread, refuted when it is below. A sample that the scorer
        fails on now counts as the whole spread.

    Cost:
        Two scorings of the samples for each of at least three seeds; no training.

    When it cannot decide:
        When the scorer's own noise is large and the samples are few; then give more samples or more seeds. Samples
        whose text was stored shortened differ for that reason alone.

    References:
        None; the same instrument has to read the same twice.
    """
    samples = golden_set(path_of(trial.subject, "samples"))
    order: list[int] = np.random.default_rng(trial.seed).permutation(len(samples)).tolist()
    mixed = [samples[i] for i in order]
    now = scorer_of(function_of(trial.subject, "scorer"))
    first, second = now(mixed), now(mixed)
    trial.beat()
    then = np.array([s.reward for s in mixed], dtype=np.float64)
    if trial.subject.offers("before"):
        then = scorer_of(function_of(trial.subject, "before"))(mixed)
    noise, drift = apart(first, second), apart(then, first)
    trial.note(
        f"{len(samples)} samples: {drift.moved_frac:.0%} score differently now, mean shift {drift.mean_shift:+.3g}, "
        f"{drift.failed_frac:.0%} cannot be scored now"
    )
    spread = spread_of(then)
    return (
        {"mean_abs": noise.mean_abs, "moved_frac": noise.moved_frac, "spread": spread},
        {
            "mean_abs": drift.mean_abs,
            "moved_frac": drift.moved_frac,
            "mean_shift": drift.mean_shift,
            "failed_frac": drift.failed_frac,
            "spread": spread,
        },
    )

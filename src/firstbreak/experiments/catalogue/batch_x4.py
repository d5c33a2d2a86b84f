"""The experiment `batch-x4`."""

from __future__ import annotations

from typing import Any

from ...finding import Component, Link
from ..control.knobs import OWN_NAME, knobs_of, lacks
from ..control.readings import EXPECT, falls_short, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial

FACTOR = 4


@experiment(
    "batch-x4",
    hypothesis="The gradient is too noisy: single updates go astray for want of data.",
    changes="batch_factor",
    control=1,
    changed=FACTOR,
    prediction="With four times the data in each update, at the same number of updates, the score is higher.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT, OWN_NAME),
    cost=Cost(5.0, "a training and one of four times its steps for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=share_of_span,
        symptom=falls_short,
    ),
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
)
def measure(trial: Trial) -> Measures:
    """The gradient is too noisy.

    What is changed:
        The amount of data in each update, times four. The number of updates stays the same, so an on-policy trainer
        takes four times the steps; off-policy only the sample of the replay buffer grows.

    Prediction:
        If noise is what keeps it from learning, four times the data halves it, and the score rises.

    How the verdict is drawn:
        Confirmed when changed minus control lies above the margin, refuted when below it.

    Cost:
        Five times the run for each pair of seeds on-policy, twice off-policy.

    When it cannot decide:
        More data also means more of everything that data brings (exploration); confirmed says that data helps, not
        which use of it.

    References:
        McCandlish et al. 2018, arXiv 1812.06162, on the gradient noise scale.
    """
    factor = int(trial.settings["batch_factor"])
    trial.uses(batch_factor=factor)
    if factor == 1:
        return train_and_score(trial)
    settings, on_policy = larger(trial, factor)
    return train_and_score(trial, settings=settings, factor=factor if on_policy else 1)


def larger(trial: Trial, factor: int) -> tuple[dict[str, Any], bool]:
    """Return the settings of a batch `factor` times as large, and whether each batch is fresh data.

    Raises:
        InputError: the trainer has no setting for its batch.
    """
    knobs = knobs_of(trial.subject)
    rollout, batch, buffer = knobs.find("rollout_steps"), knobs.find("batch"), knobs.find("buffer")
    names = {**rollout, **knobs.find("minibatch_size")} if rollout and not buffer else batch
    if not names:
        raise lacks(trial.subject, "batch")
    changes = {n: v * factor for n, v in names.items() if isinstance(v, int) and not isinstance(v, bool)}
    return knobs.settings(changes), not buffer

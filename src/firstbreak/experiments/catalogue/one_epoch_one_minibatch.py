"""The experiment `one-epoch-one-minibatch`."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ...finding import Component, Link
from ..control.knobs import OWN_NAME, Knobs, knobs_of, lacks
from ..control.readings import EXPECT, falls_short, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "one-epoch-one-minibatch",
    hypothesis="Too many updates on one batch: the policy leaves the data it was collected with.",
    changes="updates_per_batch",
    control="own",
    changed="one",
    prediction="With a single update on each batch the score is higher than with the trainer's own number.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT, OWN_NAME),
    cost=Cost(2.0, "two trainings for each pair of seeds, the changed one cheaper"),
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
    """Too many updates on one batch.

    What is changed:
        The number of updates on each batch, from the trainer's own to one (one epoch, one minibatch). With one update
        the importance ratio is 1 and nothing is clipped: the data is exactly on-policy.

    Prediction:
        If stale or repeated use of a batch is what breaks it, the score recovers.

    How the verdict is drawn:
        Confirmed when changed minus control lies above the margin, refuted when below it.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        One update may also be too few to learn from in the same number of steps; a refutation then speaks only of this
        remedy.

    References:
        Schulman et al. 2017, arXiv 1707.06347; Engstrom et al. 2020, arXiv 2005.12729.
    """
    kind = trial.settings["updates_per_batch"]
    trial.uses(updates_per_batch=kind)
    return train_and_score(trial, settings=None if kind == "own" else single_update(trial))


def single_update(trial: Trial) -> dict[str, Any]:
    """Return the settings with which the trainer makes one update on each batch.

    Raises:
        InputError: it has no setting for epochs or minibatches, or makes one update already.
    """
    knobs = knobs_of(trial.subject)
    epochs, counts = knobs.find("epochs"), knobs.find("minibatches")
    rows = _whole(knobs)
    # Without a rollout of its own, a "batch size" is what is collected, not what it is cut into.
    sizes = {} if counts or rows is None else dict.fromkeys(knobs.find("minibatch_size"), rows)
    if not epochs and not counts:
        raise lacks(trial.subject, "epochs")
    changes = {**dict.fromkeys(epochs, 1), **dict.fromkeys(counts, 1), **sizes}
    if all(knobs.values[name] == value for name, value in changes.items()):
        raise InputError(f"{trial.subject.trainer} makes one update on each batch already.", "Look elsewhere.")
    return knobs.settings(changes)


def _whole(knobs: Knobs) -> int | None:
    """Rows of a whole rollout; None where the trainer does not say how long one is."""
    steps = knobs.number("rollout_steps")
    return None if steps is None else round(steps * (knobs.number("copies") or 1))

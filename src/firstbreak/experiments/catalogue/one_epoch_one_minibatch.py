"""The experiment `one-epoch-one-minibatch`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ...errors import InputError
from ...finding import Component, Link
from ..control.knobs import OWN_NAME, Knobs, knobs_of, lacks
from ..control.leaving import left_nats
from ..control.readings import EXPECT, falls_short, share_of_span
from ..control.taking_apart import TAKEN_APART
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, SCORE, TRAINER, Cost, Measures, Option, Pair, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

LEFT_NATS = 0.1
"""From here on a policy has left the data of its round: twice the largest limit that is in common use (`target_kl` from
0.01 to 0.05). Healthy rounds of the fault benchmark's PPO lie below 0.06, ten times the epochs without clipping above
2.5."""
MOST_NATS = 1.0
"""Farther than this counts as this: the data says nothing any more (see the rule kl-overshoot)."""
LOGGED = Option("logged_kl", "KL of the run's first updates [nats], which the control must show", positive=True)
READING = Option("reading", "what is measured: how far a round leaves its data, or the score", ("left", SCORE))


def effect(control: Measures, changed: Measures) -> float:
    """What repeated updates add; nothing where one update alone leaves the data: then its size is at fault."""
    if "left_nats" not in control:
        return changed["score"] - control["score"]
    own, one = (min(arm["left_nats"], MOST_NATS) for arm in (control, changed))
    return 0.0 if one >= LEFT_NATS else own - one


def margin(pairs: Sequence[Pair], subject: Subject) -> float:
    """The least KL that matters, or of the score the usual share of its span."""
    return LEFT_NATS if "left_nats" in pairs[0].control else share_of_span(pairs, subject)


def symptom(controls: Sequence[Measures], subject: Subject) -> str:
    """Of the score: that it falls short. How far a round goes is itself what the hypothesis says, unless the run's log
    has it: then the control has to go as far from its data.
    """
    if "left_nats" not in controls[0]:
        return falls_short(controls, subject)
    logged, mine = float(subject.given.get("logged_kl") or 0.0), fmean(c["left_nats"] for c in controls)
    if logged < MOST_NATS or mine >= LEFT_NATS:
        return ""
    return (
        f"its updates take the policy {mine:.3g} nats from its data, the first of the run took it {logged:.3g}. The "
        "trainer is not as it was in the run: say its settings with --set."
    )


@experiment(
    "one-epoch-one-minibatch",
    hypothesis="Too many updates on one batch: the policy leaves the data it was collected with.",
    changes="updates_per_batch",
    control="own",
    changed="one",
    prediction="After the trainer's own updates on a batch the policy is far from it, after a single one it is not.",
    needs=(TRAINER, ENV),
    options=(READING, LOGGED, *TAKEN_APART, *SCORED, EXPECT, OWN_NAME),
    cost=Cost(0.04, "three rollouts and the updates on one for each pair of seeds"),
    scored=Cost(2.0, "two trainings for each pair of seeds, the changed one cheaper"),
    reading=Reading(effect=effect, confirms=Side.ABOVE, margin=margin, unit="nats", symptom=symptom),
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    pilot=2,
)
def measure(trial: Trial) -> Measures:
    """Too many updates on one batch.

    What is changed:
        The number of updates on one batch, from the trainer's own to one (one epoch, one minibatch). Measured is the KL
        from the policy that collected to the policy after, over fresh actions of the former. With
        `--with reading=score` whole trainings are made and scored instead: for trainers whose parts cannot be reached.

    Prediction:
        If repeated use of a batch is what breaks it, the own updates leave the data (0.1 nats and more) and a single
        one does not. By the score: with one update on each batch it recovers.

    How the verdict is drawn:
        Confirmed when the own updates go farther than the single one by more than 0.1 nats, refuted when by less, and
        where a single update leaves the data too: then its size is at fault. By the score: changed minus control.

    Cost:
        Three rollouts and the updates on one, for each of two seeds. With `reading=score` two trainings for each of
        five.

    When it cannot decide:
        When the parts of the trainer cannot be reached, its round does not move the policy, or gets the very rows of
        the round before; when the run's first updates went far (`--with logged_kl=X`) and the control's do not. It
        looks at the first round: what begins later needs `--with after_steps=N`. Confirmed says that fewer updates
        stay with the data; steps that are shorter may do so, too.

    References:
        Schulman et al. 2017, arXiv 1707.06347; Engstrom et al. 2020, arXiv 2005.12729; on `target_kl`: Achiam 2018,
        Spinning Up in Deep RL.
    """
    kind = trial.settings["updates_per_batch"]
    trial.uses(updates_per_batch=kind)
    if trial.subject.given.get("reading") == SCORE:
        return train_and_score(trial, settings=None if kind == "own" else single_update(trial))
    try:
        left = left_nats(trial, own=kind == "own")
        if kind == "one" and left >= LEFT_NATS:
            trial.note("a single update leaves the data already: its size is at fault, or that too, not the number")
        return {"left_nats": left}
    except InputError as error:
        raise InputError(error.message, f"{error.hint}\nBy whole trainings: --with reading=score.") from error


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

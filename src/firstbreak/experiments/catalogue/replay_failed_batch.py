"""The experiment `replay-failed-batch`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import InputError
from ...finding import Component, Link
from ...monitor.checkpoints import Checkpoints
from ..batch.given import function_of, number_of, path_of
from ..batch.replay import replayed
from ..experiment import Cost, Measures, Need, Option, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

STORE = Need("checkpoints", "--with checkpoints=FOLDER: where the monitor saved the failed update and earlier states")
REPLAY = Need("replay", "--with replay=module:function: replay(state, batch) does the update again, on a fresh trainer")


def _symptom(controls: Sequence[Measures], subject: Subject) -> str:
    del subject
    if all(c["failed"] for c in controls):
        return ""
    return "the update goes through from the very state in which it failed: the failure is not in state and batch"


@experiment(
    "replay-failed-batch",
    hypothesis="The failed batch breaks the update by itself, whatever the weights.",
    changes="state",
    control="failed",
    changed="last_healthy",
    prediction="From the last healthy state, too, the update of this batch is not finite (or huge).",
    needs=(STORE, REPLAY),
    options=(Option("limit", "the most that a replayed number may be, besides being finite", number=True),),
    cost=Cost(0.0, "two updates for each seed, no training"),
    reading=Reading(
        effect=lambda control, changed: changed["failed"],
        confirms=Side.ABOVE,
        margin=0.5,
        unit="of the replays failed",
        symptom=_symptom,
        exact=True,
    ),
    link=Link.NUMERICS,
    component=Component.LOSS,
    pilot=2,
)
def measure(trial: Trial) -> Measures:
    """The failed batch breaks the update by itself, whatever the weights.

    What is changed:
        The state from which the saved failed update is done again: the one in which it failed, and the last healthy
        one. The batch is the same.

    Prediction:
        If the batch is at fault, the update fails from the healthy state too; if the state had gone bad before, it
        goes through. Every output of every module, and every gradient, is looked at; the first that is not finite (or
        beyond `limit`) is named.

    How the verdict is drawn:
        If the update does not fail from its own state, the failure lies outside both (a race, a device, a random
        draw), and nothing else is concluded. Confirmed: look at the batch. Refuted: the weights, moments or a
        normaliser went bad before; look at the named tensor from the failed state.

    Cost:
        Two updates for each of two seeds; no training.

    When it cannot decide:
        When the update draws random numbers and fails only now and then.

    References:
        None; it is the failed update itself.
    """
    subject = trial.subject
    folder = path_of(subject, "checkpoints")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder.", "Give the folder of firstbreak.monitor.checkpoints.")
    store = Checkpoints(folder)
    failed = store.open("failed")
    if failed.batch is None:
        raise InputError(
            f"{failed.checkpoint.path} holds no batch.", "Save it: checkpoints.fail(state, step=..., batch=...)"
        )
    state = failed.state if trial.settings["state"] == "failed" else store.open("last_healthy").state
    _seed(trial.seed)
    seen = replayed(function_of(subject, "replay"), state, failed.batch, number_of(subject, "limit", math.inf))
    if not seen.values:
        raise InputError(
            "Nothing was seen of the update.", "replay returns (name, value) pairs, or uses torch modules."
        )
    if seen.first:
        trial.note(f"from the {trial.settings['state'].replace('_', ' ')} state the first is {seen.first}")
    return {"failed": float(bool(seen.first)), "looked_at": float(seen.values), "abs_max": min(seen.abs_max, 1e300)}


def _seed(seed: int) -> None:
    import sys

    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]

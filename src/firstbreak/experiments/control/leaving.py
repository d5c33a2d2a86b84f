"""How far updates on one batch take a policy from the data that it was collected with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...errors import InputError
from ...preflight.invariants.pieces import Pieces
from ..trial import Trial
from .taking_apart import insist_on, pieces_of, rows_of

LEAST_NATS = 1e-7
"""A policy that a whole round moves by less has not moved: float32 rounding. Engineering default."""


def left_nats(trial: Trial, *, own: bool) -> float:
    """Return the KL, in nats per action, from the policy that collected to the policy after its updates.

    It is taken over rows that the policy before has collected: for a round of the trainer's `own` (every epoch and
    minibatch, on a further rollout) fresh ones; for a single update the very rows of the update.

    Raises:
        InputError: the parts cannot be had, or the round does not say anything.
    """
    pieces = pieces_of(trial, as_it_is=True)
    insist_on(pieces, "rollout", "log_prob", "update", "logged")
    if pieces.algorithm == "A2C":
        raise InputError(f"{trial.subject.trainer} makes one update on each batch already.", "Look elsewhere.")
    collected = cast("Any", pieces.rollout)()
    trial.beat()
    rows = rows_of(collected)
    begun = _log_probs(pieces, rows)
    if not own:
        cast("Any", pieces.update)(rows)
        return kl_nats(begun, _log_probs(pieces, rows))
    trained, _ = cast("Any", pieces.logged)()
    trial.beat()
    _insist_on_renewed(trial, collected, trained)
    found = kl_nats(begun, _log_probs(pieces, rows))
    if found < LEAST_NATS:
        raise InputError(
            f"A round of {trial.subject.trainer} does not move its policy: how far updates take it cannot be told.",
            "Look whether it learns at all (overfit-one-batch), or later in training: --with after_steps=N.",
        )
    return found


def kl_nats(old: Any, new: Any) -> float:
    """Return the KL from log-probabilities [B] of actions that the old policy drew.

    It is the mean of r - 1 - log r with r = new / old: never negative, and unbiased (Schulman 2020, "Approximating KL
    divergence", http://joschu.net/blog/kl-approx.html).
    """
    moved = (new - old).double()
    return float((moved.exp() - 1.0 - moved).mean())


def _log_probs(pieces: Pieces, rows: Mapping[str, Any]) -> Any:
    import torch

    with torch.no_grad():
        return cast("Any", pieces.log_prob)(rows["obs"], rows["action"]).reshape(-1)


def _insist_on_renewed(trial: Trial, before: Mapping[str, Any], trained: Mapping[str, Any]) -> None:
    """Insist that what was trained on is not what had been collected before it."""
    if all(before[k].shape == trained[k].shape and bool((before[k] == trained[k]).all()) for k in ("obs", "action")):
        raise InputError(
            f"{trial.subject.trainer} collects twice and gets the very same rows: every update is made on one batch.",
            "That is the fault to mend first: see why the rollout is not renewed (stale-rollouts).",
        )

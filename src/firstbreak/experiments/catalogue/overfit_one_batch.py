"""The experiment `overfit-one-batch`."""

from __future__ import annotations

from typing import Any, cast

from ...errors import InputError
from ...finding import Component, Link
from ...preflight.invariants.pieces import Pieces
from ..control.fitting import FITTED, estimates, fit_own, fixed_rows
from ..control.following import actor_follows
from ..control.reach import LEAST_REACH, Reach
from ..control.taking_apart import TAKEN_APART, explained_frac, insist_on, pieces_of
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial

UPDATES = 1000
"""Updates on the one batch, at most."""
USUAL_UPDATES = 100
"""After so many it is over, if by then the policy has moved."""
MOVED = 0.2
"""The mean change of a log-probability from which the policy has moved: about what a clip range of 0.2 lets through.
Before, which way the actions go is a matter of which weights Adam moves first, not of the advantages."""
TOO_LITTLE = 0.05
"""After all updates, a mean change below this is too little to tell a low rate from a fault. Engineering default."""
LOOK_UPDATES = 20
"""Updates between two looks."""
STUCK_UPDATES = 40
"""After so many without any move there will be none: a rate that warms up has long left 0. Engineering default."""
ENOUGH = 0.9
"""The updates end early once so much has been followed: the verdict is clear by then."""
STILL = 1e-6
"""A log-probability that moves by less has not moved: float32 rounding."""
COLLECTED_STEPS = 96
"""Environment steps of an off-policy batch. Engineering default: more rows make collecting them the dearest part."""
HALF = 0.5
"""Half of the weight of the advantages has to be followed. Engineering default: chance follows none on balance."""


@experiment(
    "overfit-one-batch",
    hypothesis="The update does not do what it is for even on a batch that it sees again and again.",
    changes="updates",
    control=0,
    changed=UPDATES,
    prediction="After 100 updates on one batch (1,000 small ones), less than half of the advantages are followed.",
    needs=(TRAINER, ENV),
    options=(*TAKEN_APART, FITTED),
    cost=Cost(0.0, "one rollout and 100 updates a seed, at most 1,000 where the rate is low; no training"),
    reading=Reading(
        effect=lambda control, changed: max(changed["followed_frac"] - control["followed_frac"], 0.0),
        confirms=Side.BELOW,
        margin=HALF,
        unit="of the advantages followed",
        exact=True,
    ),
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    pilot=3,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """The update does not do what it is for even on one batch.

    What is changed:
        The number of updates on one fixed batch: 0 or 100, and where these have hardly moved the policy (a low learning
        rate) up to 1,000. Its observations and actions are real; its advantages favour
        the commonest action (with continuous actions, high values of the first one), which any policy can follow.
        Measured is the share of the advantages, weighted by their size, whose action has become likelier where they are
        positive and less likely where they are negative, minus the share that went the wrong way. Off-policy: the share
        of the variance of fixed targets that the critic has come to explain; and where an actor follows the critic, how
        closely it goes where new targets send it. Two equal trainers with the same random numbers are sent opposite
        ways, and how far they come apart is correlated with where they were sent: whatever else moves an actor moves
        both alike.

    Prediction:
        A detached graph, parameters missing from the optimiser, or a rate of 0 leave it at 0; a flipped sign makes it
        negative, which counts as 0. So does an actor whose weights all but stand still under Adam: none has moved by a
        tenth of the learning rate an update, where Adam's own steps are about the rate.

    How the verdict is drawn:
        Confirmed when the share lies below one half, refuted when above it.

    Cost:
        No training.

    When it cannot decide:
        When the batch holds one action only, or the rate is so low that 1,000 updates hardly move the policy.

    References:
        Schulman et al. 2017, arXiv 1707.06347, section 3; the test itself is arithmetic.
    """
    pieces = pieces_of(trial, COLLECTED_STEPS)
    if pieces.rollout is None:
        return {"followed_frac": 0.0}, _off_policy(trial, pieces)
    return {"followed_frac": 0.0}, {"followed_frac": _followed(trial, pieces)}


def _off_policy(trial: Trial, pieces: Pieces) -> Measures:
    """How far the critic closes in on fixed targets, and whether an actor follows its critic."""
    acts = pieces.log_prob is not None and pieces.predict is not None
    # First, while the two are equal: what is made anew has not been updated.
    follows = actor_follows(trial, pieces, pieces_of(trial, 0), fixed_rows(pieces)) if acts else 1.0
    rows = fixed_rows(pieces)
    before = explained_frac(estimates(pieces, rows), rows["target"])
    spread = max(1.0 - before, 1e-9)
    after = fit_own(trial, pieces, rows, enough=before + ENOUGH * spread, too_little=before + HALF * spread)
    fitted = max((after - before) / spread, -1.0)
    return {"followed_frac": min(fitted, follows), "fitted_frac": fitted}


def _followed(trial: Trial, pieces: Pieces) -> float:
    import torch

    insist_on(pieces, "minibatch", "log_prob", "update")
    batch = _batch(pieces)
    score, advantage, reach = cast("Any", pieces.log_prob), batch["advantage"], Reach(pieces)
    with torch.no_grad():
        before = score(batch["obs"], batch["action"]).reshape(-1)
    followed, on_the_whole, far = 0.0, 0.0, 0.0
    for index in range(1, UPDATES + 1):
        cast("Any", pieces.update)(batch)
        if index % LOOK_UPDATES:
            continue
        trial.beat()
        reach.look(index)
        with torch.no_grad():
            moved = score(batch["obs"], batch["action"]).reshape(-1) - before
        moved = torch.where(moved.abs() > STILL, moved, torch.zeros_like(moved))
        followed = float((advantage * moved.sign()).sum() / advantage.abs().sum())
        on_the_whole, far = float((advantage * moved).mean()), float(moved.abs().mean())
        if followed >= ENOUGH or (index >= STUCK_UPDATES and (reach.short or not bool(moved.any()))):
            break
        if index >= USUAL_UPDATES and not (far < MOVED and on_the_whole > 0):
            break
    if reach.short and followed > 0:
        trial.note(
            f"no weight of the actor moved by {LEAST_REACH:g} of its learning rate an update (at most "
            f"{reach.most:.2g}): nothing counts as followed; look at the optimiser's epsilon and at gradient clipping"
        )
        return 0.0
    if followed < HALF and on_the_whole > 0 and far < TOO_LITTLE:
        raise InputError(
            f"{UPDATES:,} updates on one batch moved the log-probabilities of its actions by {far:.2g} only: too "
            "little to tell a low learning rate from a fault.",
            "Ask again with a higher one, for example --set learning_rate=1e-3.",
        )
    return followed


def _batch(pieces: Pieces) -> dict[str, Any]:
    """Return the batch: real observations and actions, advantages that any policy can follow."""
    import torch

    sample = cast("Any", pieces.minibatch)()
    batch = {k: sample[k].detach().clone() for k in list(sample.keys())}
    if pieces.value is not None and "value_target" in batch:  # leave nothing to the critic: only the policy is asked
        with torch.no_grad():
            batch["value"] = batch["value_target"] = pieces.value(batch["obs"]).reshape(-1)
    batch["advantage"] = _by_action(batch["action"]).to(batch["advantage"].dtype)
    return batch


def _by_action(action: Any) -> Any:
    """Advantages [B] of spread 1 that any policy can follow: one action (the commonest, or a high first entry) pays."""
    flat = action.reshape(len(action), -1)[:, 0]
    wanted = flat.float() if flat.is_floating_point() else (flat == flat.mode().values).float()
    spread = float(wanted.std())
    if spread == 0:
        raise ValueError("the batch holds one action only: there is nothing to choose")
    return (wanted - wanted.mean()) / spread

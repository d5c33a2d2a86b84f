"""Whether an actor goes where its critic sends it: of two equal trainers one is sent there and the other back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ...errors import InputError
from ...preflight.invariants.pieces import Pieces
from ..trial import Trial
from .fitting import FLAT
from .training import seed_everything

MOST_UPDATES = 100
"""Of actor and critic together, in each of the two. Engineering default."""
LOOK_UPDATES = 10
"""Updates between two looks."""
CLEAR = 0.8
"""Correlation, either way, that ends the look when it is there twice on end: the verdict is clear by then."""
NOTHING = 1e-4
"""The two actors have moved alike when they are apart by less than this share of how far they have moved: rounding."""


def actor_follows(trial: Trial, pieces: Pieces, twin: Pieces, rows: Mapping[str, Any]) -> float:
    """Return how closely the actor follows its critic, as a correlation: 1 for just where it is sent, -1 for away.

    One critic is taught, by the trainer's own updates, that the action's first entry pays times the observation's
    widest column: up on some rows, down on others. The twin's critic is taught the opposite, from the same weights, on
    the same rows and with the same random numbers. So whatever else moves an actor (entropy, noise, momentum) moves
    both alike, and how far they come apart is what they have from their critics: nothing, if they are cut off. Where
    all observations are the same, one is sent up on every row and the other down.

    Raises:
        InputError: the twin is no trainer of its own.
    """
    wanted = _wanted(rows)
    both = (pieces, twin)
    batches = [_paying(rows, way * wanted) for way in (1, -1)]
    begun = [_first_entry(one, rows) for one in both]
    last, share = 0.0, 0.0
    for index in range(LOOK_UPDATES, MOST_UPDATES + 1, LOOK_UPDATES):
        for one, batch in zip(both, batches, strict=True):
            seed_everything(trial.seed + index)
            for _ in range(LOOK_UPDATES):
                cast("Any", one.update)(batch)
            if index == LOOK_UPDATES and one is pieces:
                _insist_on_two(_first_entry(twin, rows), begun[1], _first_entry(pieces, rows), begun[0])
        trial.beat()
        moved = [_first_entry(one, rows) - start for one, start in zip(both, begun, strict=True)]
        apart, far = moved[0] - moved[1], float(moved[0].abs().mean() + moved[1].abs().mean())
        alike = float(apart.abs().mean()) <= NOTHING * far + FLAT
        last, share = share, 0.0 if alike else _agreement(wanted, apart)
        if index > LOOK_UPDATES and (last == share == 0.0 or min(last * share, abs(last), abs(share)) >= CLEAR**2):
            break
    return share


def _insist_on_two(twin: Any, twin_begun: Any, own: Any, own_begun: Any) -> None:
    """Insist that updates of one trainer leave the other alone."""
    if not bool((twin == twin_begun).all()) and bool((own != own_begun).any()):
        raise InputError(
            "Asked for the trainer twice, --with pieces=... gives the same one: what moves one moves the other.",
            "Let the function make a new trainer each time.",
        )


def _paying(rows: Mapping[str, Any], wanted: Any) -> dict[str, Any]:
    """Return rows on which going `wanted` [B] with the action's first entry pays."""
    pays = wanted * rows["action"].reshape(len(wanted), -1)[:, 0]
    return {**{k: v for k, v in rows.items() if k != "target"}, "reward": pays.to(rows["reward"].dtype)}


def _wanted(rows: Mapping[str, Any]) -> Any:
    """Return where the actor is sent on each row [B]: the observation's widest column, or up where nothing is seen."""
    flat = rows["obs"].reshape(len(rows["obs"]), -1)
    widest = flat[:, int(flat.std(0).argmax())].float()
    return _standard(widest) if float(widest.std()) >= FLAT else widest * 0.0 + 1.0


def _agreement(wanted: Any, apart: Any) -> float:
    """Return the correlation of where two actors were sent [B] and how far they came apart [B].

    Sent the same way on every row, an actor that sees nothing goes the same way too, and nothing is there to correlate:
    then it is the share of rows that went there, less those that went away.
    """
    if float(wanted.std(unbiased=False)) < FLAT:
        return float((wanted * apart.sign()).mean())
    return float((wanted * _standard(apart)).mean())


def _standard(values: Any) -> Any:
    """Return `values` [B] with mean 0 and spread 1."""
    return (values - values.mean()) / values.std(unbiased=False).clamp(min=FLAT)


def _first_entry(pieces: Pieces, rows: Mapping[str, Any]) -> Any:
    """Return the first entry [B] of the actor's greedy actions."""
    import torch

    with torch.no_grad():
        return cast("Any", pieces.predict)(rows["obs"], True).reshape(len(rows["obs"]), -1)[:, 0].float()

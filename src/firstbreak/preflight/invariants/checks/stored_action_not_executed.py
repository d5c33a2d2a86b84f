"""The action that is stored is the one that the environment received."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..stored import pairs
from ..torch_types import load_torch

TOLERANCE = 1e-4
"""A few roundings of float32 in scaling to and fro."""


@check(
    "INV030",
    "stored-action-not-executed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Store the action that was executed, in the units in which the loss scores it.",
)
@skips
def look(bench: Bench) -> Answer:
    """The action that is stored is the one that the environment received.

    Measured: stored actions, clipped or stretched to the bounds, against the environments' own record.

    Why it hurts: the loss credits an action that was never taken; a Q network learns values of other actions.

    Usual causes: the action stored before squashing or scaling, the greedy action stored where a random one was
    played, a missing rescale.

    What to try: store what goes into the policy's log-prob, and make one function map it to what the environment
    gets.

    Harmless: where a wrapper changes actions on purpose (sticky actions): then it belongs to the environment.
    """
    torch = load_torch()

    found = bench.once(pairs)
    meant = found.stored["action"]
    if bench.pieces.executed is not None:
        meant = bench.pieces.executed(meant)
    got = found.seen["action"]
    rows = len(got)
    difference = (meant.reshape(rows, -1).float() - got.reshape(rows, -1).float()).abs()
    wrong = float(
        (difference.amax(-1) > TOLERANCE * (1.0 + got.reshape(rows, -1).float().abs().amax(-1))).float().mean()
    )
    if not wrong:
        return None
    del torch
    return Symptom(
        f"{wrong:.0%} of {rows} stored actions are not those that the environment received",
        "action",
        {"wrong_frac": wrong, "largest_difference": float(difference.max())},
    )

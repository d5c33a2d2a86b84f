"""Each row of the TD loss is pulled to its own target."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import ROWS, targets


@check(
    "INV088",
    "td-loss-broadcasts",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Bring Q and target to the same shape.",
    explained_by=("td-loss-scores-other-action",),
)
@skips
def look(bench: Bench) -> Answer:
    """Each row of the TD loss is pulled to its own target.

    Measured: the change of each row's weight per unit of its own reward, rewards moved up and down in turn; equal
    in all rows.

    Why it hurts: [B, 1] against [B] is [B, B]: every state learns the mean target.

    Usual causes: Q of shape [B, 1] compared with a target of [B]; a reward column not squeezed.

    What to try: assert equal shapes before the loss.

    Harmless: with importance weights of prioritised replay, which are uneven by design.
    """
    found = bench.once(targets)
    answer = float(found.slopes.abs().max())
    if found.terminal.norm == 0 or not found.terminal.sure:
        return Skip("the TD loss has no gradient", withholds=found.terminal.norm == 0)
    scale = float(found.terminal.weights.abs().max())
    uneven = float((found.slopes.max() - found.slopes.min()).abs()) / max(answer, 1e-30)
    if answer > 0.01 * scale and uneven < 0.2:
        return None
    if answer <= 0.01 * scale:
        message = f"rewards moved up and down in turn change nothing: each of {ROWS} rows gets the mean target ([B, B])"
    else:
        message = f"the same change of reward moves the rows of the TD loss by amounts that differ by {uneven:.0%}"
    return Symptom(message, "update", {"answer": answer / max(scale, 1e-30), "uneven_frac": uneven})

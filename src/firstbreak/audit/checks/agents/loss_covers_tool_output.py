"""The check `loss-covers-tool-output`."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import Z95, slopes
from ...episodes.gate import FEWEST, column, no_calls
from ...table import Table

Floats = NDArray[np.float64]
LIMIT_RATIO = 0.3
"""Lower bound of tokens in the loss per character that tools returned, against those per character that the model
wrote: 0 with a right mask, about 1 with none. Engineering default."""
LEAST_OWN = 0.1
"""Share of the variance of the tools' output that must not follow from the other columns: a variance inflation of 10,
the usual limit (Marquardt 1970, Technometrics 12)."""


@check(
    "AUD116",
    "loss-covers-tool-output",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Set the loss mask to 0 on everything that tools returned; only the model's own tokens are trained.",
)
def look(table: Table) -> Answer:
    """Tokens that tools returned are in the loss, so the policy is trained to write what tools say.

    What is measured:
        Least-squares slopes of the number of tokens in the loss on the characters that the model wrote, the
        characters that tools returned, and the turns; the ratio of the first two, with its interval.

    Why it hurts:
        The policy gradient pushes up or down text that the policy did not choose: it learns to invent tool
        results, and gradients are dominated by long outputs.

    Usual causes:
        A mask made from the end of the prompt instead of from roles; a chat template that cannot mark the
        model's turns; a multi-turn loop that concatenates.

    What to try:
        Decode the tokens under the mask of one episode and read them.

    When it is harmless:
        When a world model is trained on purpose.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    loss, turns = column(table, "agent/loss_tokens"), column(table, "agent/turns")
    own, back = column(table, "agent/written_characters"), column(table, "agent/returned_characters")
    known = np.isfinite(loss) & np.isfinite(own) & np.isfinite(back)
    if known.sum() < FEWEST:
        return Skip("the log holds no loss mask of the tokens", ("token ids with the loss mask",))
    if np.ptp(back[known]) == 0:
        return Skip("all tool output is equally long: the mask cannot be told apart", ("more samples",))
    causes = np.column_stack([own[known], back[known]])
    if np.ptp(turns[known]) > 0:
        causes = np.column_stack([causes, turns[known]])
    if _own_share(causes, 1) < LEAST_OWN:
        return Skip("tool output is as long as the turns and texts around it make it", ("more varied episodes",))
    slope, error = slopes(causes, loss[known])
    if not np.isfinite(error[:2]).all() or slope[0] - Z95 * error[0] <= 0:
        return Skip("tokens in the loss do not follow the length of what the model wrote", ("more samples",))
    low = float((slope[1] - Z95 * error[1]) / slope[0])
    if low <= LIMIT_RATIO:
        return None
    return Symptom(
        f"tool output is in the loss: {slope[1]:.2f} tokens a character of it, {slope[0]:.2f} of the model's own",
        "loss_mask",
        {"ratio": float(slope[1] / slope[0]), "low_ratio": low, "episodes": int(known.sum())},
    )


def _own_share(causes: Floats, place: int) -> float:
    """Return the share of the variance of column `place` of `causes` [N, K] that the others do not explain."""
    centred = causes - causes.mean(0)
    others = np.delete(centred, place, axis=1)
    fitted = cast(Floats, np.linalg.lstsq(others, centred[:, place], rcond=None)[0])
    left = centred[:, place] - others @ fitted
    return float(np.square(left).sum() / max(np.square(centred[:, place]).sum(), 1e-300))

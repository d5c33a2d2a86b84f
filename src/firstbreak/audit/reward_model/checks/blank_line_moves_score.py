"""The check `blank-line-moves-score`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import LEAST, too_few
from ..record import Scored

SHIFT = 0.5
"""Change, in typical differences of a pair. Engineering default."""


@check(
    "RWM011",
    "blank-line-moves-score",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Strip the response before it is scored, and fix the template's ends.",
    explained_by=(
        "model-scores-constant",
        "model-score-not-repeatable",
    ),
)
def look(scored: Scored) -> Answer:
    """A blank line at the end of the response changes its score as much as its content does.

    What is measured:
        The chosen responses with two line ends after them: a mean size of the change of at least half of a typical
        score difference between the sides of a pair.

    Why it hurts:
        Samplers end responses in different ways; the reward then measures how they end.

    Usual causes:
        The score is read at the last token, whatever it is; a template without its end token.

    What to try:
        Read the score at the end-of-sequence token; strip white space.

    When it is harmless:
        When the trainer strips every response before scoring.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    spaced = scored.dressed.get("spaced", np.empty(0))
    change = np.abs(spaced - scored.chosen[: spaced.size])
    change = change[np.isfinite(change)]
    if change.size < LEAST or not scored.typical:
        return Skip(f"fewer than {LEAST} responses were scored with a blank line", ("--pairs",))
    shift = float(change.mean()) / scored.typical
    if shift < SHIFT:
        return None
    return Symptom(
        f"two line ends move the score by {shift:.1f} typical differences",
        "score",
        {"shift_in_differences": shift, "responses": int(change.size)},
    )

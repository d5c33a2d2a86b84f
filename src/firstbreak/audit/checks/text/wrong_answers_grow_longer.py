"""The check `wrong-answers-grow-longer`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.gate import needs, needs_rewards
from ...judgement.groups import dense, mean_within
from ...judgement.marks import characters
from ...judgement.paid import column
from ...judgement.periods import move
from ...table import Table

SHORT = 40.0
"""Characters on average below which wrong answers are names and numbers, whose length no loss moves. Engineering
default: half a line."""
GROWN = 1.25
"""Factor between the first and the last third of the steps. Engineering default."""


@check(
    "AUD022",
    "wrong-answers-grow-longer",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Divide the loss by a constant instead of each answer's own length (Dr. GRPO), or by all tokens of the batch.",
)
def look(table: Table) -> Answer:
    """In the course of training wrong answers grow longer and right ones do not.

    What is measured:
        Length of answers below and above their prompt's mean reward, in the first and in the last third of the steps:
        the wrong ones grew surely and by a quarter, the right ones by less than half as much.

    Why it hurts:
        A loss averaged over each answer's own length punishes a long wrong answer less for each token, so that wrong
        answers drift towards length.

    Usual causes:
        Sample-mean GRPO loss; a length limit that only right answers stay below.

    What to try:
        200 steps with a constant normaliser and the same seeds.

    When it is harmless:
        When long reasoning grows on hard prompts and accuracy with it.

    References:
        Liu et al. 2025 (Dr. GRPO), arXiv 2503.20783, section 3.
    """
    skip = needs_rewards(table) or needs(table, "step")
    if skip is not None:
        return skip
    reward, index = column(table, "reward"), dense(table.group)
    above = reward - mean_within(reward, index)[index]
    length = np.log(np.maximum(characters(table), 1))
    wrong, right = move(table, np.where(above < 0, length, np.nan)), move(table, np.where(above > 0, length, np.nan))
    if wrong is None or right is None:
        return Skip(
            "too few prompts with right and wrong answers in the first or last steps", ("samples of more steps",)
        )
    if (
        np.exp(wrong.late) < SHORT
        or wrong.low <= 0
        or wrong.change < np.log(GROWN)
        or right.change > 0.5 * wrong.change
    ):
        return None
    return Symptom(
        f"answers paid below average grew by {100 * np.expm1(wrong.change):.0f} %, "
        f"those above by {100 * np.expm1(right.change):.0f} %",
        "text/characters",
        {
            "wrong_growth_frac": float(np.expm1(wrong.change)),
            "low_frac": float(np.expm1(wrong.low)),
            "right_growth_frac": float(np.expm1(right.change)),
        },
    )

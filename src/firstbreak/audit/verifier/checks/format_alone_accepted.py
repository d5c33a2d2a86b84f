"""The check `format-alone-accepted`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..passing import wrong_ones_passing
from ..record import Audit


@check(
    "VER013",
    "format-alone-accepted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Pay for the format only a part, or only together with the right answer.",
    explained_by=("null-answers-accepted",),
)
def look(audit: Audit) -> Answer:
    """A response without an answer passes because its format is right.

    What is measured:
        A nonsense word in the format that the verifier understands best, on every row; that format with nothing, a
        blank or a question mark in it, on some. An error where one of them passes in half of its rows.

    Why it hurts:
        Format is learnt in a few updates; from then on the reward is constant and nothing else is learnt.

    Usual causes:
        A format reward of the same size as correctness; only the tags are looked at.

    What to try:
        Weigh format at a tenth of correctness; look at the parts of the reward one by one.

    When it is harmless:
        A format reward audited by itself, without its correctness part.

    References:
        DeepSeek-AI 2025, arXiv 2501.12948, section 2.2, for format and accuracy rewards.
    """
    return wrong_ones_passing(audit, "format", "responses of the right format without an answer pass", usable=False)

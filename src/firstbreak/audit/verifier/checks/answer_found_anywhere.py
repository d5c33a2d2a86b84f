"""The check `answer-found-anywhere`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..passing import wrong_ones_passing
from ..record import Audit


@check(
    "VER015",
    "answer-found-anywhere",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Compare the one final answer; refuse a response that gives several.",
    explained_by=(
        "null-answers-accepted",
        "format-alone-accepted",
    ),
)
def look(audit: Audit) -> Answer:
    """Responses pass that mention the right answer but give another one, or all of them.

    What is measured:
        All answers listed, the right one denied, taken back, or in the reasoning only, in up to nine ways on every
        row. An error where one way passes in half of its rows and the ways together in more than one in ten.

    Why it hurts:
        Listing candidates is learnt soon; accuracy rises and nothing is solved.

    Usual causes:
        Substring or any-match search; the last number of the whole text; the first tag of several.

    What to try:
        Take the last answer in the agreed format, and demand that it is one answer and all of it.

    When it is harmless:
        Where the policy cannot see or guess the candidates, the rate overstates the risk.

    References:
        Substring verifiers pass about a third of adversarial responses: rewardlint's published cases.
    """
    return wrong_ones_passing(audit, "anywhere", "responses pass that give another answer", usable=True, least_frac=0.1)

"""The check `tests-tampered-with`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..passing import wrong_ones_passing
from ..record import Audit


@check(
    "VER017",
    "tests-tampered-with",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Run the answer in a process of its own and compare plain values outside of it.",
    explained_by=("null-answers-accepted",),
)
def look(audit: Audit) -> Answer:
    """Programs that do no work pass their tests.

    What is measured:
        Stubs, programs that exit with success, return an object equal to everything, or say that they passed.

    Why it hurts:
        Code models find such exits, and the pass rate then measures nothing.

    Usual causes:
        exec of the answer and its tests in one namespace; trusting the exit status; assert with objects of the
        answer.

    What to try:
        Compare plain values outside the answer's process; demand a secret that is printed after the last test.

    When it is harmless:
        Never where tests are the reward.

    References:
        Baker et al. 2025, arXiv 2503.11926, on exit and skip hacks in coding environments.
    """
    return wrong_ones_passing(audit, "tampering", "programs that do no work pass", usable=False, always=True)

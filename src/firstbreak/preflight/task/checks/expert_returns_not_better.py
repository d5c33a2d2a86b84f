"""The check `expert-returns-not-better`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gap import difference, several
from ..sample import TaskSample


@check(
    "PTK002",
    "expert-returns-not-better",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Do not train: repair the environment, the reward or the expert first.",
    explained_by=("returns-not-finite",),
)
def look(sample: TaskSample) -> Answer:
    """The expert is not clearly better than random play.

    What is measured:
        The difference of the mean returns with its 95 % two-sample bootstrap interval; 20 episodes of each at least,
        100 are better. An expert that is clearly worse is an error.

    Why it hurts:
        If knowing what to do does not pay, nothing that a learner finds will.

    Usual causes:
        A reward with the wrong sign or without signal; actions that do not reach the world; observations in another
        order than the expert thinks.

    What to try:
        Watch one episode of the expert with its rewards step by step.

    When it is harmless:
        When the expert is weak on purpose and too few episodes were played.

    References:
        Efron & Tibshirani 1993, chapter 16 (two-sample bootstrap).
    """
    random, expert = sample.returns.get("random"), sample.returns.get("expert")
    if random is None or expert is None:
        wanted = ("expert returns", "random returns")
        return Skip("no returns of an expert and of random play", wanted, withholds=random is None)
    if not (several(random) and several(expert)):
        return Skip("fewer than 20 finite episodes of each", ("more episodes",), withholds=True)
    gain = difference(expert, random)
    if gain.low > 0:
        return None
    worse = gain.high < 0
    return Symptom(
        f"the expert is {'worse' if worse else 'not clearly better'} than random: {gain.value:+.3g} "
        f"({gain.low:.3g} to {gain.high:.3g})",
        "return.expert",
        {"difference": gain.value, "low": gain.low, "high": gain.high,
         "random_mean": float(random.mean()), "expert_mean": float(expert.mean())},
        severity=Severity.ERROR if worse else None,
    )  # fmt: skip

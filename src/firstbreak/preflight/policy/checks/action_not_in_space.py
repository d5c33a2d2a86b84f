"""The check `action-not-in-space`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..misfit import misfit
from ..trial import PolicyTrial


@check(
    "POC011",
    "action-not-in-space",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Return one action as action_space.sample() does: the same keys, shapes and ranges.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy's actions do not belong to an action space of several parts or choices.

    What is measured:
        Each answer against a MultiDiscrete, MultiBinary, Dict or Tuple space, part by part: a part that is missing, of
        another shape, not a whole number where it must be one, not finite, or out of range. Number types are not
        compared.

    Why it hurts:
        The environment takes what it can use of it: a choice that does not exist wraps round or is cut off, a part that
        is missing stays as it was.

    Usual causes:
        One head for several choices; logits instead of their argmax; another order of the parts.

    What to try:
        Print one answer beside action_space.sample().

    When it is harmless:
        A real vector that is a little out of bounds and is clipped by the environment.

    References:
        Gymnasium, spaces.MultiDiscrete, MultiBinary, Dict and Tuple.
    """
    if not trial.policy:
        return Skip("no policy was given")
    if trial.box or trial.discrete:
        return Skip("a Box or a single choice has checks of its own")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))
    wrong = [words for a in trial.answers if (words := misfit(trial.action_space, a))]
    if not wrong:
        return None
    return Symptom(
        f"{len(wrong)} of {len(trial.answers)} actions are not in the space: {wrong[0]}"[:120],
        "action",
        {"wrong": len(wrong), "answers": len(trial.answers), "first": wrong[0][:200]},
    )

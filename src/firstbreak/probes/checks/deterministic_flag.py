"""PRB030: the deterministic action, asked for again and again."""

from __future__ import annotations

from ...check import Answer, Symptom, check
from ...finding import Component, Link, Severity, Skip
from ..ladder.trial import Trial
from ..running.measure import REPEATS


@check(
    "PRB030",
    "deterministic-flag-ignored",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    fix="Make act(obs, deterministic=True) return the mode of the policy and draw nothing.",
    severity=Severity.ERROR,
)
def look(trial: Trial) -> Answer:
    """The agent's deterministic action changes from call to call.

    **What is measured.** After each training, act(obs, deterministic=True) is called thirteen times on one observation;
    the actions must be the same. Rungs on which actions do not matter keep the policy wide, so that draws would show.

    **Why it hurts.** Evaluations measure the exploring policy, or noise.

    **Usual causes.** The flag is not passed on; dropout or noisy layers are left in training mode.

    **What to try.** Call the policy twice on one observation in evaluation mode.

    **When it is harmless.** When the policy is meant to be random even in use.

    References: own.
    """
    asked = [o for o in trial.outcomes if o.finished]
    if not asked:
        return Skip("no training ended", ("a trainer that runs",))
    varied = [o for o in asked if o.greedy_varies]
    if not varied:
        return None
    worst = max(varied, key=lambda o: o.greedy_varies)
    return Symptom(
        f"the deterministic action differed in {worst.greedy_varies} of {REPEATS} repeated calls on one observation",
        f"{worst.rung}/{worst.kind}",
        {"trainings_with_changes": len(varied), "trainings": len(asked), "changes_worst": worst.greedy_varies},
    )

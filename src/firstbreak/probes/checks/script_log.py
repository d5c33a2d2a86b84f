"""PRB095: what the log of a black-box script says of the rung that it failed."""

from __future__ import annotations

from ...check import LONGEST_MESSAGE, Answer, Symptom, check
from ...finding import Component, Link, Number, Severity, Skip
from ..ladder.outcome import Outcome
from ..ladder.trial import Trial
from ..logs.logged import Told

NOT_FINITE = frozenset({"nonfinite-metric", "reward-nonfinite", "crashed-on-nonfinite"})
"""Rules that see numbers that are not finite; no other finding counts on a rung that was passed."""
UNLOCK = ("reward/episode_return_mean", "policy/loss", "critic/loss", "policy/entropy")
"""What a log should hold at least to say which part of a script is at fault."""


@check(
    "PRB095",
    "script-log-shows-fault",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="Run the script by hand on the rung named, and put its log to firstbreak diagnose.",
    severity=Severity.WARNING,
)
def look(trial: Trial) -> Answer:
    """What a script logged while it failed a rung shows a fault of its own.

    **What is measured.** The files that each training wrote into its folder, and the lines it printed, are read with
    the readers of `firstbreak diagnose` and judged by its rules. On a rung that was failed every finding at warning or
    above counts; on one that was passed only numbers that are not finite, since on tasks this small curves look odd
    in sound trainings too.

    **Why it hurts.** The rung says what is not learned; the log says where the numbers went wrong.

    **Usual causes.** Those of the rule that is named: `firstbreak explain` prints its page.

    **What to try.** Run the command by hand with the environment id of the rung, then `firstbreak diagnose` its folder.

    **When it is harmless.** When the rung failed for want of steps: a short log looks unfinished.

    References: own.
    """
    scripts = [o for o in trial.outcomes if o.log is not None]
    if not scripts:
        return Skip("the trainer is no script")
    if not any(o.log is not None and o.log.metrics for o in scripts):
        return Skip("the script writes no log that a reader knows", UNLOCK)
    shown = [(o, told) for o in scripts for told in speaking(o, trial)]
    if not shown:
        return None
    outcome, first = max(shown, key=lambda pair: (_not_finite(pair[1]), pair[1].severity.rank, not pair[1].consequence))
    others = sorted({told.name for _, told in shown} - {first.name})
    evidence: dict[str, Number] = {"rule": first.name, "steps": outcome.steps, "other_findings": ", ".join(others)}
    return Symptom(
        f"{first.name}: {first.message}"[:LONGEST_MESSAGE],
        f"the log of {outcome.rung}/{outcome.kind}",
        evidence,
        severity=Severity.ERROR if _not_finite(first) else None,
        component=first.component,
        link=first.link,
    )


def speaking(outcome: Outcome, trial: Trial) -> list[Told]:
    """Return the findings of one training's log that count: all where the rung failed, else what is not finite."""
    if outcome.log is None:
        return []
    failed = outcome.rung in trial.failed
    return [told for told in outcome.log.told if failed or _not_finite(told)]


def _not_finite(told: Told) -> bool:
    return told.severity is Severity.ERROR and told.name in NOT_FINITE

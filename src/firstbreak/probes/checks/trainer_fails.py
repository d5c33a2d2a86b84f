"""PRB090: trainings that raise, hang, die or never stop."""

from __future__ import annotations

from ...check import LONGEST_MESSAGE, Answer, Symptom, check
from ...finding import Component, Link, Number, Severity, Skip
from ..ladder.outcome import Outcome
from ..ladder.trial import Trial

WORDS = {
    "raised": "raised",
    "refused": "raised before the first step",
    "bad_agent": "returned an agent that does not answer",
    "never_stops": "does not stop",
    "hung": "hung",
    "died": "died",
    "out_of_memory": "ran out of memory",
}


@check(
    "PRB090",
    "trainer-fails",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    fix="Run the training on this rung alone and read the trace; it is in the details of the report.",
    severity=Severity.ERROR,
)
def look(trial: Trial) -> Answer:
    """A training on a tiny environment raises, hangs, dies or goes on for ever.

    **What is measured.** How each training on the ladder ended, in a child process with limits of time and memory.
    A trainer that refuses an action space before its first step is not at fault.

    **Why it hurts.** What fails on an environment of one state will fail on yours, only later.

    **Usual causes.** Assumptions about shapes or episode lengths; buffers smaller than a batch; a loop that waits for
    an episode to end; a step budget that is not read.

    **What to try.** Run the trainer on that environment by hand: `gymnasium.make` after `firstbreak.probes.register`.

    **When it is harmless.** When the trainer is not made for such environments (images, dictionaries).

    References: own.
    """
    failed = [o for o in trial.crashes if o.ended != "too_slow"]
    if not failed:
        return None if trial.outcomes else Skip("no training was begun", ("a trainer",))
    first = failed[0]
    evidence: dict[str, Number] = {"trainings_failed": len(failed), "call": first.call, "trace": first.trace[-1500:]}
    return Symptom(_message(first), f"{first.rung}/{first.kind}", evidence)


def _message(outcome: Outcome) -> str:
    words = WORDS.get(outcome.ended, outcome.ended)
    opening = f"{outcome.rung}, {outcome.kind}: {outcome.call} {words} after {outcome.steps} steps"
    return f"{opening}: {outcome.message}".replace("\n", " ")[:LONGEST_MESSAGE]

"""TPR090: trainings that raise, hang, die or return no policy."""

from __future__ import annotations

from ....check import LONGEST_MESSAGE, Answer, Symptom, check
from ....finding import Component, Link, Number, Severity, Skip
from ..trial import TokenTrial

WORDS = {
    "raised": "raised",
    "refused": "raised before the first reward",
    "bad_policy": "returned no policy that answers",
    "hung": "hung",
    "died": "died",
    "out_of_memory": "ran out of memory",
    "too_loud": "printed too much",
}


@check(
    "TPR090",
    "token-trainer-fails",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.ERROR,
    fix="Run the training on this rung alone and read the trace; it is in the details of the report.",
)
def look(trial: TokenTrial) -> Answer:
    """A training on a task of a few tokens raises, hangs, dies or returns no policy.

    **What is measured.** How each training of the climb ended, in a child process with limits of time and memory.

    **Why it hurts.** What fails on sixteen tokens fails on sixteen thousand, only later.

    **Usual causes.** Assumptions about shapes or lengths (completions of one token, batches of four prompts); chat
    templates; a step budget that is not read.

    **What to try.** Call `train` by hand with `firstbreak.probes.tokens.task.TokenTask`.

    **When it is harmless.** When the trainer is not made for models that are given to it.
    """
    failed = [o for o in trial.crashes if o.ended != "too_slow"]
    if not failed:
        slow = [o for o in trial.crashes if o.ended == "too_slow"]
        if slow:
            return Skip(f"{slow[0].rung}: not done within the time limit", ("--time-limit",), withholds=True)
        return None if trial.outcomes else Skip("no training was begun", ("a trainer",))
    first = failed[0]
    words = WORDS.get(first.ended, first.ended)
    evidence: dict[str, Number] = {"trainings_failed": len(failed), "trace": first.trace[-1500:]}
    text = f"{first.rung}: train {words} after {first.scored} completions: {first.message}"
    return Symptom(text.replace("\n", " ")[:LONGEST_MESSAGE], first.rung, evidence)

"""What one log cannot show, however much was looked at, and which evidence would."""

from __future__ import annotations

from collections.abc import Collection

from .diagnosis import Verdict
from .finding import Link
from .runlog import RunLog
from .vocabulary import traits_of

MEANT = (
    "one log cannot show that reward, world and loop are the ones you meant: healthy runs beside it can (--baseline), "
    "or `firstbreak preflight env`, `reward` and `invariants`"
)
ASKED = (
    "one log cannot show that prompts and reward are the ones you meant: a healthy run can (--baseline), or "
    "`firstbreak audit` of samples and of the verifier"
)
UNSEEN = (
    "nor can it show that the evaluation asks what training never saw: `firstbreak eval contamination` of both sets of "
    "prompts can"
)
LEFT_OPEN = {
    MEANT: (Link.ENVIRONMENT_DATA, Link.REWARD_SIGNAL, Link.CRITIC, Link.POLICY_UPDATE, Link.EXPLORATION),
    ASKED: (Link.ENVIRONMENT_DATA, Link.REWARD_SIGNAL),
    UNSEEN: (Link.EVALUATION_PROTOCOL,),
}
"""What is said -> the links that it leaves open, with the evidence that would settle them."""
SHORT = {
    MEANT: "all as meant? healthy runs (--baseline) or `firstbreak preflight env`, `reward`, `invariants`",
    ASKED: "prompts and reward as meant? a healthy run (--baseline) or `firstbreak audit`",
    UNSEEN: "evaluation unseen? `firstbreak eval contamination`",
}
"""The same where there is more to say."""
EVALUATED = ("reward/eval_mean", "reward/eval_pass_at_k")
"""Scores of problems that are to be held out."""
WHOLE = 0.9
"""Share of the planned steps from which on a log counts as one to the end: loggers write every so many steps."""


def limits(log: RunLog, verdict: Verdict) -> tuple[str, ...]:
    """Return what a verdict of `log` leaves open in principle; nothing of one that names what is broken.

    A reward of the wrong sign, a hidden velocity or a frame skip from the first step on is another task: its log is
    that of a healthy run of that task (`benchmarks/faults/witnesses` trains some, and their logs are the same digit
    for digit). Healthy runs of the task that was meant tell the two apart, and so do the checks that look at the task.
    """
    if verdict is Verdict.BROKEN:
        return ()
    compared = log.against is not None and log.against.compared
    return (() if compared else meant(log)) + ends_early(log)


def meant(log: RunLog) -> tuple[str, ...]:
    """Return what is to be said of the task and of the evaluation of `log`."""
    if "language" not in traits_of(log.algorithm):
        return (MEANT,)
    evaluated = any(series.metric in EVALUATED for series in log.series)
    return (ASKED, UNSEEN) if evaluated else (ASKED,)


def left_open(notes: Collection[str]) -> frozenset[Link]:
    """Return the links of which `notes` of a diagnosis say what would settle them."""
    return frozenset(link for note in notes for link in LEFT_OPEN.get(note, ()))


def ends_early(log: RunLog) -> tuple[str, ...]:
    """Return what to say of a log that ends before the steps that were planned, where its state is not known."""
    total = log.config.get("total_steps")
    if log.state or isinstance(total, bool) or not isinstance(total, int | float) or not log.series:
        return ()
    taken = log.last_step if log.clock == "env_steps" else None
    if log.clocks is not None and taken is None:
        taken = log.clocks.convert(log.last_step, "env_steps")
    if taken is None or not 0 < taken < WHOLE * total:
        return ()
    return (f"the log ends at step {taken:,.0f} of {total:,.0f}: if nothing writes to it any more, the run died",)

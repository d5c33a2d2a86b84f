"""The part of the page on runs that no log can show to be faulty."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import undecided, witnessed
from .assessing import Assessed
from .intervals import Estimate

Table = Callable[[Sequence[str], list[Sequence[object]]], str]

HEAD = """\
**Shown, not argued.** For each kind of run below there is a *witness*: the same trainer with the same settings and seed
on a task that is meant as it is (`benchmarks/faults/witnesses`, `python -m benchmarks.faults.witnesses`), in which
nothing is wrong. Its log and the monitor's record are those of the faulty run in every row compared, to the last digit
that is kept; only seconds differ, and names that the user gives. Any function of the log answers both alike, so that an
alarm on the faulty run is a false alarm on the witness. The faulty run is planted and trained again beside it.
*Recorded*: the witness also equals the recording in this repository. Where it does not, the faulty run that is trained
again today does not equal its recording either: training in other rounding takes another course.

"""
RULE = """\
Left out by kind, not by what was hit: a fault at a subject and task, from the first step on, that has a witness, where
the log names no standard task. Those are {having} runs. A stricter look also leaves out what might have a witness and
has none: every other fault of world, reward or evaluation from the first step on in a task without a known name. Those
are {rest} runs ({names}); {hit} of them have an alarm at a right link.

"""


def section(runs: Sequence[Assessed], table: Table, cell: Callable[[Estimate], str]) -> str:
    """Return the section: scores over all runs first, then over those that a log can decide."""
    if not witnessed.kinds():
        return ""
    having, rest, hit, names = witnessed.left_out(runs)
    scores = [(title, *map(cell, found)) for title, *found in witnessed.score_rows(runs)]
    head = ("score", "all fault runs", "without those that have a witness", "without those that could have one")
    columns = (
        "kind",
        "runs",
        "missed",
        "what the witness means",
        "the same in",
        "recorded",
        "paid, first to last fifth",
    )
    return (
        table(head, scores)
        + RULE.format(having=having, rest=rest, hit=hit, names=names)
        + HEAD
        + table(columns, list(witnessed.kind_rows(runs)))
        + settles(runs)
    )


def settles(runs: Sequence[Assessed]) -> str:
    """Return whether the reports of missed runs say what would settle them."""
    missed = undecided.missed(runs)
    told = [run for run in missed if undecided.told_what_settles(run)]
    silent = [f"`{run.id}`" for run in missed if run not in told]
    text = (
        f"Of the {len(missed)} missed runs {len(told)} have a report that says, of a right link, that this log cannot "
        "settle it and which evidence would (or names a right link beside the one it calls broken)."
    )
    return f"{text} Not so: {', '.join(silent)}.\n\n" if silent else f"{text}\n\n"

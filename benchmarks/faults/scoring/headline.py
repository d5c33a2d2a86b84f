"""What docs/figures.md shows of the results: the scores that have a target, and other tools on the same runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstbreak.errors import InputError

from . import scores, undecided
from .assessing import BESIDE, FIRSTBREAK, GIVEN, Assessed
from .document import counts, tools_of
from .fresh import in_a_sentence, read_fresh
from .page import cell, table
from .printing import met
from .summing import OURS, Rival, beside, measured

Runs = Sequence[Assessed]
BEGIN, END = "<!-- faults:begin -->", "<!-- faults:end -->"


def write_headline(path: Path, runs: Runs) -> None:
    """Replace what stands between the marks of the page at `path`.

    Raises:
        InputError: the page does not have both marks.
    """
    text = path.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(f"{path}: no {BEGIN} ... {END}.", "Put both marks where the tables belong.")
    path.write_text(f"{before}{BEGIN}\n{block(runs)}{END}{after}", "utf-8")


def block(runs: Runs) -> str:
    """Return both tables, with what they were measured on."""
    found = counts(runs)
    intro = (
        f"{found['fault_runs']} runs with {found['faults']} faults ({found['mid_run']} of them switched on in "
        f"mid-run), {found['healthy']} healthy runs and {found['hard_negatives']} that only look like trouble, over "
        f"{found['tasks']} tasks.\n\n"
    )
    others = [beside(runs, tool) for tool in tools_of(runs) if tool not in (FIRSTBREAK, BESIDE)]
    ahead = table(
        ("tool, on the runs that it can be given", "fault runs", "right link first", "firstbreak there",
         "healthy runs alarmed", "firstbreak there"),
        [beside_row(runs, one) for one in others],
    )  # fmt: skip
    said = called(runs) + in_a_sentence(read_fresh()) + given(runs)
    return intro + targets(runs) + said + ahead.rstrip("\n") + "\n"


def called(runs: Runs) -> str:
    """Return in a sentence how right a verdict of broken is, and what the missed faults were told."""
    right, wrongly = scores.right_when_broken(runs, FIRSTBREAK), scores.broken_without_fault(runs, FIRSTBREAK)
    missed = undecided.missed(runs)
    whole = sum(undecided.said(run) == "healthy" for run in missed)
    before = [hit for run in missed if (hit := undecided.before_run(run)) is not None]
    return (
        f"**Called broken**, the first link is right in {right.hits} of {right.n} ({right.value:.0%}); of runs without "
        f"a fault {wrongly.hits} of {wrongly.n} are called so. Of {len(missed)} runs whose fault the log alone does "
        f"not show, {whole} have its link called healthy as a whole; `preflight`, asked about {len(before)} of them "
        f"before the run, finds {sum(map(bool, before))}.\n\n"
    )


def given(runs: Runs) -> str:
    """Return in a sentence what healthy runs of the task add, `""` where none could be given."""
    both = [run for run in runs if BESIDE in run.answers]
    if not both:
        return ""
    alone, more = beside(both, FIRSTBREAK), beside(both, BESIDE)

    def change(name: str) -> str:
        before, after = getattr(alone, name), getattr(more, name)
        return f"{after.hits} of {after.n} ({after.value:.0%}; {before.hits} without them)"

    return (
        f"**Given {GIVEN} healthy runs of the task** (`--baseline`), what leaves their band first is named as well: an "
        f"alarm at a right link in {change('recall')}, the right link first in {change('top1')}; alarms on "
        f"{change('false_alarms')} healthy runs.\n\n"
    )


def targets(runs: Runs) -> str:
    """Return the scores for which a target was set, with the target."""
    rows: list[Sequence[object]] = []
    for name, one in measured(runs).items():
        wanted = OURS[name]
        if wanted.target is not None:
            aim = f"{'≥' if wanted.higher else '≤'} {100 * wanted.target:.0f} %"
            rows.append((wanted.title, cell(one), aim, met(wanted, one).lower()))
    return table(("score", "measured [95 % interval]", "target", ""), rows)


def beside_row(runs: Runs, other: Rival) -> Sequence[object]:
    """Return another tool and firstbreak on the same runs."""
    same = beside([run for run in runs if other.tool in run.answers], FIRSTBREAK)
    figures = (other.top1, same.top1, other.false_alarms, same.false_alarms)
    return other.tool, other.faults, *("–" if one.n == 0 else f"{one.hits}/{one.n}" for one in figures)

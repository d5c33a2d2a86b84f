"""The terminal face: causes as they stand, why they moved, and the experiment to make next."""

from __future__ import annotations

from ...experiments.settle.api import Settling
from ...experiments.settle.steps import Step
from ..clean import plain
from ..page import PLAIN, Face, Page
from ..words import short_path, verdict_phrase

MOST_STEPS = 3
"""Experiments shown, and looks by hand."""


def render(settling: Settling, face: Face = PLAIN) -> str:
    """Return the report of one run."""
    page = Page(face)
    settled = settling.settled
    page.line(verdict_phrase(settled.diagnosis), style="bold")
    page.entry("run", short_path(settled.diagnosis.log.path))
    _causes(page, settling)
    for cause in settled.removed:
        page.entry("out", f"{cause.name} (had {cause.score:g} points)")
    for move in settled.moves:
        page.entry("why", f"{move.cause}: {plain(move.reason, 400)}")
    for name, reason in settled.left:
        page.entry("left", f"{plain(name, 60)}: {reason}")
    for note in settled.notes:
        page.entry("note", note)
    if settling.open:
        _next(page, settling)
    elif settled.convicted:
        page.entry("settled", f"{settled.convicted[0]}: confirmed by experiment, and nothing rivals it")
        for remedy in settled.diagnosis.causes[0].remedies[:1]:
            page.entry("do", remedy.text)
    else:
        page.entry("settled", "there is no cause to look into")
    return page.text()


def _causes(page: Page, settling: Settling) -> None:
    causes = settling.settled.diagnosis.causes
    before = {c.name: c.score for c in settling.settled.before.causes}
    for cause in causes:
        was = before.get(cause.name, 0.0)
        moved = "" if was == cause.score else f" (was {was:g})"
        page.entry("cause", f"{cause.name}: {cause.score:g} points{moved}. {plain(cause.summary, 200)}")


def _next(page: Page, settling: Settling) -> None:
    for number, step in enumerate(settling.steps[:MOST_STEPS]):
        _step(page, step, "next" if number == 0 else "or")
    if not settling.steps:
        page.entry("next", "no experiment of the catalogue speaks to these causes")
    for look in settling.hand[:MOST_STEPS]:
        what = f"`{look.look.command}`. " if look.look.command else "by hand. "
        page.entry("look", f"{look.cause}: {look.look.experiment}: {what}{look.look.recipe}")


def _step(page: Page, step: Step, label: str) -> None:
    one, proposal = step.proposal.experiment, step.proposal
    page.entry(
        label,
        f"{proposal.label}: {proposal.bits:.2f} bits expected, for {proposal.cost_runs:g} trainings ({one.cost.words})",
    )
    page.entry("", f"speaks to {', '.join(proposal.speaks_to)}")
    page.entry("", f"if true: {one.prediction}")
    if step.lacks:
        if step.recipe:
            page.entry("", f"by hand: {step.recipe}")
        for need in step.lacks:
            page.entry("", f"give {need.name}: {need.how}", indent=2)
    page.verbatim(plain(step.command, 2000))
    for patch in step.patches:
        page.entry("", f"in {patch.title}: {'; '.join(plain(line, 120) for line in patch.lines if line[:1] in '+-')}")

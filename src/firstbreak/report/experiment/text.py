"""The terminal face of an experiment: its plan, its verdict, and every pair of seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...experiments.experiment import Experiment
from ...experiments.plan import Plan
from ...experiments.result import Outcome, Result
from ...experiments.saying import PRACTICAL, more
from ..clean import plain
from ..page import PLAIN, Face, Page

STYLES = {Outcome.CONFIRMED: "bold red", Outcome.REFUTED: "bold green", Outcome.INCONCLUSIVE: "bold yellow"}
MOST_PAIRS = 30
MOST_TROUBLES = 3


def render(result: Result, face: Face = PLAIN) -> str:
    """Return the report of one experiment."""
    page = Page(face)
    page.line(f"{plain(result.name)} on {plain(result.plan.subject.name)}")
    page.entry("verdict", result.outcome.value, style=STYLES[result.outcome])
    page.entry("found", plain(result.words, 600))
    _plan(page, result.plan)
    if result.margin is not None:
        page.entry("margin", f"{result.margin:.4g} {result.plan.unit} is the smallest effect that matters")
    _pairs(page, result)
    for note in result.notes:
        page.entry("note", plain(note))
    for trouble in result.troubles[:MOST_TROUBLES]:
        page.entry("failed", f"{trouble.arm}, seed {trouble.seed}: {trouble.how}: {plain(trouble.message, 300)}")
    if len(result.troubles) > MOST_TROUBLES:
        page.entry("", f"and {len(result.troubles) - MOST_TROUBLES} more trials")
    if result.seeds_needed is not None and result.seeds_needed <= PRACTICAL:
        page.entry("next", f"{more(result)}: --seeds {len(result.pairs) + result.seeds_needed}")
    page.entry("planned", _estimate(result.plan))
    page.entry("cost", _cost(result))
    return page.text()


def announce(plan: Plan, face: Face = PLAIN) -> str:
    """Return the plan as it is told before anything runs."""
    page = Page(face)
    page.line(f"{plain(plan.experiment)} on {plain(plan.subject.name)}")
    _plan(page, plan)
    page.entry("cost", _estimate(plan))
    return page.text()


def _estimate(plan: Plan) -> str:
    """Return what the plan expects to cost."""
    seeds = f"{plan.pilot} pairs of seeds" if plan.pilot == plan.most else f"{plan.pilot} to {plan.most} pairs of seeds"
    seeds = f"one pair of seeds where it shows the effect, else {seeds}" if plan.one_proves else seeds
    return f"{plan.cost}; {seeds}" + (f", {plan.runs * plan.pilot:g} runs at least" if plan.runs else "")


def listing(found: Sequence[Experiment], face: Face = PLAIN) -> str:
    """Return the list of experiments: what each asks, what it needs and what it costs."""
    page = Page(face)
    page.line(f"{len(found)} experiments. firstbreak experiment NAME prints the page of one.")
    for one in found:
        page.line()
        page.line(one.name, style="bold")
        page.entry("asks", one.hypothesis)
        page.entry("changes", one.changes)
        page.entry("needs", ", ".join(need.name for need in one.needs))
        page.entry("cost", one.cost.words)
    return page.text()


def about(one: Experiment, face: Face = PLAIN) -> str:
    """Return the page of one experiment."""
    page = Page(face)
    page.line(one.name, style="bold")
    page.line()
    for paragraph in one.doc.split("\n\n"):
        head, _, body = paragraph.partition(":\n")
        page.line(" ".join(head.split()), style="bold" if body else "")
        if body:
            page.entry("", " ".join(body.split()))
        page.line()
    for need in one.needs:
        page.entry("needs", f"{need.name}: {need.how}")
    for option in one.options:
        page.entry("takes", f"--with {option.name.replace('*', 'NAME')}=...: {option.what}{_choices(option.choices)}")
    return page.text()


def _choices(names: Sequence[str]) -> str:
    return f": {' or '.join(names)}" if names else ""


def _plan(page: Page, plan: Plan) -> None:
    page.entry("asked", plain(plan.hypothesis))
    arms = (
        f"{_value(plan.control, plan.changes)} in the control, {_value(plan.changed, plan.changes)} in the changed arm"
    )
    page.entry("changed", f"{plan.changes}: {arms}")
    page.entry("expect", plain(plan.prediction))


def _value(settings: Mapping[str, Any], name: str) -> str:
    return plain(settings.get(name, ""), 80)


def _pairs(page: Page, result: Result) -> None:
    if not result.pairs:
        return
    names = [k for k in result.pairs[0].control if k in result.pairs[0].changed][:1]
    for pair, effect in list(zip(result.pairs, result.effects, strict=True))[:MOST_PAIRS]:
        arms = "".join(f"{plain(n, 40)} {pair.control[n]:.4g} -> {pair.changed[n]:.4g}, " for n in names)
        page.entry("seed" if pair is result.pairs[0] else "", f"{pair.seed}: {arms}effect {effect:.4g}")
    if len(result.pairs) > MOST_PAIRS:
        page.entry("", f"and {len(result.pairs) - MOST_PAIRS} more pairs")


def _cost(result: Result) -> str:
    steps = f", {result.env_steps:,} environment steps" if result.env_steps else ""
    return f"{result.trials} trials{steps}, {result.seconds:.0f} s"

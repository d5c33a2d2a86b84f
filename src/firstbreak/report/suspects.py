"""The faces of a run held against healthy ones: text and JSON."""

from __future__ import annotations

import json
import shlex
from typing import Any

from .. import __version__
from ..context.comparing import Difference
from ..context.suspects import Suspects
from ..departure import LEAST_METRICS
from .clean import plain
from .json import SCHEMA_VERSION, clean
from .page import PLAIN, Face, Page
from .release.context import explanation_dict, render_explanation
from .words import count, number, short_path

MOST = 8
"""Metrics shown at most in the terminal; the JSON holds all."""


def render(found: Suspects, face: Face = PLAIN) -> str:
    """Return where the run left the healthy ones, then what sets it apart, the likeliest first."""
    page = Page(face)
    page.line(_headline(found), style="bold", most=3)
    page.entry("run", plain(found.run.path, 200))
    page.entry(
        "beside", f"{count(len(found.healthy), 'healthy run')}, {count(found.compared, 'metric')} in all of them"
    )
    render_explanation(found.explanation, page)
    step = next_step(found)
    if step:
        page.entry("next", step, most=4)
    page.heading(f"Metrics that left ({len(found.departures)}), the earliest first")
    for one in found.departures[:MOST]:
        page.entry("", f"{plain(one.metric, 80)}: {number(one.value)}, healthy runs show {number(one.low)} to "
                   f"{number(one.high)}, between {number(one.lo)} and {number(one.hi)}", most=2)  # fmt: skip
    if len(found.departures) > MOST:
        page.entry("", f"and {len(found.departures) - MOST} more (--format json lists all)")
    return page.text()


def _headline(found: Suspects) -> str:
    if found.first is not None:
        return f"The run left the healthy ones first in {plain(found.first.metric, 80)} ({found.first.link})"
    if found.outcome == "not comparable":
        shared = count(found.compared, "metric")
        return f"Too little can be compared: {shared} in all runs on one clock, {LEAST_METRICS} needed"
    return f"The run does what healthy ones do: fewer than {LEAST_METRICS} of {found.compared} metrics left"


def next_step(found: Suspects) -> str:
    """Return the experiment that tries the likeliest explanation; empty where nothing likely is known."""
    likely = [d for d in found.explanation.likely if d.kind != "seed"]
    if found.first is None or not likely:
        return ""
    one = likely[0]
    if one.kind == "setting" and _plain(one):
        words = ["firstbreak", "experiment", "one-setting", "TRAINER", "--env", "ENV",
                 "--with", f"setting={one.name}", "--with", f"value={json.dumps(one.a)}"]  # fmt: skip
        return plain(shlex.join(words), 300)
    return f"put {plain(one.kind, 40)} {plain(one.name, 80)} back as in the healthy runs, and run again"


def _plain(one: Difference) -> bool:
    """Whether the healthy value is one that can be given: a number or a truth value, the same in all of them."""
    return isinstance(one.a, int | float) and isinstance(one.b, int | float)


def document(found: Suspects) -> dict[str, Any]:
    """Return it in the outer shape of every judging command."""
    return clean(
        {
            "schema_version": SCHEMA_VERSION,
            "tool_version": __version__,
            "verdict": None,
            "outcome": found.outcome,
            "findings": [],
            "coverage": {"compared": found.compared, "skipped": []},
            "explanation": explanation_dict(found.explanation),
            "next": next_step(found) or None,
            "runs": [short_path(found.run.path), *(short_path(log.path) for log in found.healthy)],
            "departures": [
                {"metric": d.metric, "link": d.link, "lo": d.lo, "hi": d.hi, "value": d.value,
                 "healthy_low": d.low, "healthy_high": d.high, "size": d.size}
                for d in found.departures
            ],
        }
    )  # fmt: skip

"""The faces of a comparison of two runs: text and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import __version__
from ..comparison import Comparison, Divergence
from ..context.comparing import explain
from .clean import plain
from .json import SCHEMA_VERSION, clean
from .page import PLAIN, Face, Page
from .release.context import explanation_dict, render_explanation
from .words import count, number, onset_phrase, short_path, some

MOST = 12
"""Divergences shown at most in the terminal; the JSON holds all."""


FAR = 1e4
"""A difference of more times the noise is not told in figures: one of the two is constant."""


def render(comparison: Comparison, face: Face = PLAIN) -> str:
    """Return what differs between two runs: settings first, then the metrics in the order in which they part."""
    page = Page(face)
    page.line(_headline(comparison), style="bold", most=3)
    page.entry("a", plain(comparison.a.path, 200))
    page.entry("b", plain(comparison.b.path, 200))
    if _one_run(comparison):
        page.entry("note", "a and b are the same run: that it stays with itself says nothing")
    explanation = explain(comparison)
    _settings(page, comparison, recorded=bool(explanation.likely))
    render_explanation(explanation, page)
    if comparison.divergences:
        page.heading(f"Metrics that part ({len(comparison.divergences)}), the earliest first")
    for divergence in comparison.divergences[:MOST]:
        page.entry("", _line(comparison, divergence), most=2)
    if len(comparison.divergences) > MOST:
        page.entry("", f"and {len(comparison.divergences) - MOST} more (--format json lists all)")
    if comparison.together:
        page.heading(f"Metrics that stay together ({len(comparison.together)})")
        page.entry("", some(comparison.together, 8), most=3)
    if comparison.not_comparable:
        page.heading(f"Not comparable ({len(comparison.not_comparable)})")
        for name, why in comparison.not_comparable[:MOST]:
            page.entry("", f"{plain(name, 80)}: {plain(why, 120)}", most=2)
    return page.text()


def _settings(page: Page, comparison: Comparison, *, recorded: bool) -> None:
    """Add the settings of the logs that differ; that these hold none is no news where records hold some."""
    if comparison.config:
        page.heading(f"Settings in the logs that differ ({len(comparison.config)})")
    elif not recorded:
        page.heading("Settings that differ")
        page.entry("", "none that the logs hold")
    for key, a, b in comparison.config[:MOST]:
        page.entry("", f"{plain(key, 60)}: {plain(a, 80)} in a, {plain(b, 80)} in b", most=2)
    if len(comparison.config) > MOST:
        page.entry("", f"and {len(comparison.config) - MOST} more (--format json lists all)")


def _one_run(comparison: Comparison) -> bool:
    return Path(comparison.a.path).resolve() == Path(comparison.b.path).resolve()


def _headline(comparison: Comparison) -> str:
    if comparison.divergences:
        first = comparison.divergences[0]
        return f"The runs part first in {plain(first.metric, 80)}, {onset_phrase(first.onset, comparison.a)}"
    if comparison.together:
        return f"The runs stay together in all {count(len(comparison.together), 'comparable metric')}"
    return "The runs cannot be compared: no metric is in both on one clock"


def _line(comparison: Comparison, d: Divergence) -> str:
    far = "far beyond any noise" if d.size > FAR else f"{number(round(d.size, 1))} times the noise"
    how = "equal to the last bit before" if d.exact else far
    return f"{plain(d.metric, 80)}: {onset_phrase(d.onset, comparison.a)}; {number(d.a)} against {number(d.b)}, {how}"


def outcome(comparison: Comparison) -> str:
    """Return diverged, together or not comparable."""
    if comparison.divergences:
        return "diverged"
    return "together" if comparison.together else "not comparable"


def document(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison in the outer shape of every judging command."""
    return clean(
        {
            "schema_version": SCHEMA_VERSION,
            "tool_version": __version__,
            "verdict": None,
            "outcome": outcome(comparison),
            "findings": [],
            "coverage": {
                "compared": len(comparison.divergences) + len(comparison.together),
                "skipped": [{"metric": name, "reason": why} for name, why in comparison.not_comparable],
            },
            "explanation": explanation_dict(explain(comparison)),
            "runs": [short_path(comparison.a.path), short_path(comparison.b.path)],
            "divergences": [
                {
                    "metric": d.metric,
                    "onset": {"lo": d.onset.lo, "hi": d.onset.hi, "clock": d.onset.clock, "p": d.onset.p},
                    "a": d.a,
                    "b": d.b,
                    "size_noise": d.size,
                    "exact_before": d.exact,
                }
                for d in comparison.divergences
            ],
            "together": list(comparison.together),
            "config": [{"key": key, "a": a, "b": b} for key, a, b in comparison.config],
        }
    )

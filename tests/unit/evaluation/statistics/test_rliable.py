"""A second implementation: the figures that rliable made of the same scores from the same resamples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.statistics.figures import LIMIT, SCORES, apart, ours

MADE = json.loads((Path(__file__).parents[3] / "data" / "statistics" / "rliable.json").read_text("utf-8"))


def test_the_file_says_what_made_it() -> None:
    assert "rliable_figures" in MADE["made_by"]
    assert MADE["versions"]["rliable"] == "1.2.0"
    assert MADE["figures"].keys() == SCORES.keys()


@pytest.mark.parametrize("name", SCORES)
def test_figures_are_rliables(name: str) -> None:
    """Mean, interquartile mean, two optimality gaps, probability of improvement, profile; each with its interval."""
    found = apart(MADE["figures"][name], ours(*SCORES[name]))
    assert len(found) == 6
    assert max(found.values()) <= LIMIT, found


def test_another_figure_would_be_seen() -> None:
    made = MADE["figures"]["few"]
    moved = {**made, "iqm": [made["iqm"][0], made["iqm"][1] + 2e-6, made["iqm"][2]]}
    assert max(apart(moved, ours(*SCORES["few"])).values()) > LIMIT

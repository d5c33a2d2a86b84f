"""The figures that README.md repeats stand in docs/figures.md too: the short table may not outlive the long one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIGURE = re.compile(r"\d+ of \d+|\d+(?:\.\d+)? %")


def figures(text: str) -> set[str]:
    """Every `7 of 9` and `12.5 %` of a text."""
    return set(FIGURE.findall(text))


def section(page: str, title: str) -> str:
    """What stands under a heading of the second level."""
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


def missing(short: str, long: str) -> set[str]:
    """Figures of the short page that the long one does not have; there a table may write `7/9 (78%)` for them."""
    plain = re.sub(r"(\d+)/(\d+)", r"\1 of \2", long)
    return figures(short) - figures(re.sub(r"(\d)%", r"\1 %", plain))


def test_every_figure_of_the_readme_is_in_the_page_of_figures() -> None:
    short = section((ROOT / "README.md").read_text("utf-8"), "How good it is")
    assert len(figures(short)) > 15
    assert missing(short, (ROOT / "docs" / "figures.md").read_text("utf-8")) == set()


@pytest.mark.parametrize("said", ["7 of 8", "75 %", "alarms on 3 of 9 runs"])
def test_a_figure_that_has_moved_is_missing(said: str) -> None:
    assert missing(said, "6 of 8 (74 %), 1 of 32") == figures(said)

"""Which samples are shown, and that nothing in them can act on the terminal or the page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from firstbreak.audit.collecting import collect
from firstbreak.audit.sample import Sample
from firstbreak.audit.views import LONGEST_RESPONSE, cut, shown
from firstbreak.report.audit import html, text, words
from firstbreak.report.page import Face

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] <script>alert('1')</script> \u202eevil`|*@all {{ 7 * 7 }}\x00\n中文"
)


def table(count: int, **more: object):
    samples = [
        Sample(f"question {i}", f"{HOSTILE} answer {i}", reward=float(i), row=i, source="a.jsonl", **more)
        for i in range(count)
    ]
    return collect(samples)


def test_high_low_and_random_side_by_side() -> None:
    rows = shown(table(50), 3)
    assert [[one.kind for one in row] for row in rows] == [["high", "low", "random"]] * 3
    assert [row[0].row for row in rows] == [49, 48, 47]
    assert [row[1].row for row in rows] == [0, 1, 2]


@settings(max_examples=25)
@given(st.integers(0, 12), st.integers(0, 6))
def test_no_sample_is_shown_twice(count: int, wanted: int) -> None:
    rows = [one.row for row in shown(table(count), wanted) for one in row]
    assert len(rows) == len(set(rows)) == min(count, 3 * wanted)


def test_without_rewards_only_random_ones() -> None:
    rows = shown(collect([Sample(f"p{i}", "r", row=i) for i in range(9)]), 2)
    assert [[one.kind for one in row] for row in rows] == [["random"], ["random"]]


def test_the_same_choice_every_time() -> None:
    assert shown(table(50), 3) == shown(table(50), 3)


def test_masked_before_it_is_cut() -> None:
    sample = Sample(
        "write to jane.doe@example.com", "x" * (LONGEST_RESPONSE // 3 * 2 - 5) + " jane.doe@example.com " * 40
    )
    ((one,),) = shown(collect([sample]), 1, mask=True)
    assert "jane" not in one.prompt + one.response
    assert "@" not in one.response


@given(st.text(max_size=50), st.integers(12, 60))
def test_cut(value: str, most: int) -> None:
    found = cut(value, most)
    assert found == value if len(value) <= most else len(found) <= most + 5


@settings(max_examples=60)
@given(st.lists(st.text(max_size=60) | st.just(HOSTILE), min_size=1, max_size=6), st.sampled_from([40, 80, 100]))
def test_the_terminal_gets_lines_that_fit_and_nothing_that_acts(texts: list[str], width: int) -> None:
    samples = [Sample(t, t, reward=float(i), row=i, source=t) for i, t in enumerate(texts)]
    page = text.render(shown(collect(samples), 2), Face(width))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)
    assert max(cell_len(line) for line in page.splitlines()) <= width


def test_markup_is_text() -> None:
    page = text.render(shown(table(3), 1), Face(80))
    assert "[bold]x[/bold]" in page
    assert text.render(shown(table(3), 1), Face(80, ascii_only=True)).isascii()


def test_the_end_of_a_long_answer_is_shown() -> None:
    sample = Sample("p", "word " * 3000 + "THE-END", reward=1.0)
    assert "THE-END" in text.render(shown(collect([sample, Sample("q", "r", reward=0.0), Sample("s", "t")]), 1))


def test_the_page_escapes() -> None:
    section = html.section(shown(table(6), 2))
    assert "<script>alert" not in section
    assert "&lt;script&gt;" in section
    assert "{{ 7 * 7 }}" in section
    assert "\x1b" not in section
    assert "\u202e" not in section
    assert section.count("<article") == 6


def test_plain_data() -> None:
    found = words.data(shown(table(6), 2))
    assert len(found) == 6
    assert found[0]["scores"] == {"reward": 5.0}
    assert "\x1b" not in found[0]["response"]


@pytest.mark.parametrize("rows", [[], [[]]])
def test_nothing_to_show(rows: list[list[object]]) -> None:
    assert "none" in text.render([r for r in rows if r])  # type: ignore[arg-type]
    assert "None." in html.section([r for r in rows if r])  # type: ignore[arg-type]

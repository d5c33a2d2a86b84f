from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.diagnosis import Diagnosis
from firstbreak.finding import LOOP
from firstbreak.report.html import environment, fragment, page
from firstbreak.report.html_curves import BUCKETS, plots, thin
from firstbreak.series import Curve, Series

VOID = {"meta", "br", "rect", "path"}


class Reader(HTMLParser):
    """Notes every tag, attribute and text, and whether tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        while self.open and self.open[-1] in ("li", "p", "dt", "dd", "tr", "td", "th") and self.open[-1] != tag:
            self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parse(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open, reader.open
    return reader


@pytest.mark.parametrize("kind", ["broken", "healthy", "undecided", "hostile"])
def test_page_is_well_formed_and_loads_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    html = page([request.getfixturevalue(kind)])
    reader = parse(html)
    for tag, attributes in reader.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "audio", "video", "image", "use"}
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"(?:https?:)?//[\w.]+\.\w", "".join(re.findall(r"<style>.*?</style>", html, re.S)))
    assert "url(" not in html
    assert "@import" not in html


def test_content_policy_comes_before_anything_else(broken: Diagnosis) -> None:
    reader = parse(page([broken]))
    policies = [a["content"] for t, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert str(policies[0]).startswith("default-src 'none'; ")
    assert [t for t, _ in reader.tags].count("script") == 1


def test_what_a_log_says_is_text_and_nothing_else(hostile: Diagnosis) -> None:
    html = page([hostile, hostile])
    assert "<script>alert" not in html
    assert "\x1b" not in html
    assert "\x00" not in html
    assert "\u202e" not in html
    shown = "".join(parse(html).texts)
    assert "<script>alert('1')</script>" in shown


def test_script_and_style_are_the_same_whatever_the_log(broken: Diagnosis, hostile: Diagnosis) -> None:
    def assets(html: str) -> list[str]:
        return re.findall(r"<(?:script|style)>.*?</(?:script|style)>", html, re.S)

    assert assets(page([broken])) == assets(page([hostile]))


def test_verdict_comes_first_and_the_break_is_marked_by_text_symbol_and_colour(broken: Diagnosis) -> None:
    html = page([broken])
    reader = parse(html)
    text = " ".join(
        "".join(reader.texts[reader.texts.index("firstbreak: BROKEN at policy_update (optimiser)") :]).split()
    )
    assert html.index("BROKEN at policy_update") < html.index("The training loop") < html.index("Curves")
    assert "BROKE FIRST" in text
    states = [a["class"] for t, a in reader.tags if t == "g"]
    assert states.count("node broken") == 2  # one in the wide drawing, one in the narrow
    assert len(states) == 2 * len(LOOP)
    assert "node blind" in states
    assert "✗" in text


def test_rivals_remedies_and_coverage_are_there(broken: Diagnosis) -> None:
    text = " ".join(" ".join(parse(page([broken])).texts).split())
    assert "explains kl-overshoot, entropy-collapse" in text
    for piece in ("reward-scale-mismatch", "provisional", "not logged: advantage/abs_max", "train/my_kl", "gamma"):
        assert piece in text


def test_fragment_has_no_page_around_it_and_no_script(broken: Diagnosis) -> None:
    html = fragment(broken)
    tags = [t for t, _ in parse(html).tags]
    assert not {"html", "head", "body", "script", "meta"} & set(tags)
    assert broken._repr_html_() == html


def test_page_of_a_long_run_stays_under_a_megabyte(broken: Diagnosis) -> None:
    steps = np.arange(100_000.0)
    rng = np.random.default_rng(0)
    series = tuple(Series(f"m/{i}", Curve(steps, rng.normal(size=steps.size))) for i in range(100))
    html = page([replace(broken, log=replace(broken.log, series=series))])
    assert len(html.encode()) < 1_500_000
    few = page([replace(broken, log=replace(broken.log, series=series[:40]))])
    assert len(few.encode()) < 1_000_000


def test_curves_with_findings_come_first_and_carry_their_onset(broken: Diagnosis) -> None:
    drawn, start, end = plots(broken)
    assert (start, end) == (1.0, 1000.0)
    assert [p.metric for p in drawn[:2]] == ["policy/kl_old", "policy/entropy"]
    assert drawn[0].bands[0].severity == "error"
    assert float(drawn[0].bands[0].x) == pytest.approx((412 - 1) / 999 * 600, abs=0.1)
    assert not drawn[2].bands


def test_a_caption_has_no_lonely_comma(broken: Diagnosis) -> None:
    curve = Curve(np.arange(3.0), np.array([1.0, np.nan, 2.0]))
    series = (Series("no/unit", curve, source_key="mine"), Series("time/fps", curve, source_key="fps"))
    log = replace(broken.log, series=series)
    captions = re.findall(r'<span class="dim">([^<]*not finite)</span>', page([replace(broken, log=log, findings=())]))
    assert sorted(captions) == ["logged as mine, 1 not finite", "steps/s, logged as fps, 1 not finite"]


def test_gaps_break_the_line(broken: Diagnosis) -> None:
    values = np.array([1.0, 2.0, np.nan, 3.0, np.inf, 4.0])
    log = replace(broken.log, series=(Series("m", Curve(np.arange(6.0), values)),))
    (drawn,), _, _ = plots(replace(broken, log=log, findings=()))
    assert drawn.path.count("M") == 3
    assert drawn.bad.count("M") == 2
    assert drawn.nonfinite == 2
    assert drawn.ys == "1 2 nan 3 inf 4"


def test_an_empty_log_still_makes_a_page(undecided: Diagnosis) -> None:
    empty = replace(undecided, log=replace(undecided.log, series=(), unmapped={}, config={}, clocks=None))
    assert "Curves" not in "".join(parse(page([empty])).texts)


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=400),
    st.integers(2, 30),
)
@settings(deadline=None, max_examples=80)
def test_thinning_keeps_extremes_order_and_holes(values: list[float], buckets: int) -> None:
    y = np.array(values, dtype=np.float64)
    x = np.arange(float(y.size))
    xs, ys = thin(x, y, 0.0, float(y.size), buckets)
    assert xs.size <= max(3 * buckets, 2 * buckets)
    assert np.all(np.diff(xs) > 0)
    finite = y[np.isfinite(y)]
    kept = ys[np.isfinite(ys)]
    if finite.size:
        assert (kept.min(), kept.max()) == (finite.min(), finite.max())
    assert (ys.size > kept.size) == (y.size > finite.size)


def test_buckets_are_as_many_as_a_narrow_column_has_pixels() -> None:
    assert 200 <= BUCKETS <= 600


def test_a_command_is_code_and_nothing_in_it_is_markup() -> None:
    show: Any = environment().filters["commands"]
    assert show("Do `firstbreak settle RUN`, then look.") == "Do <code>firstbreak settle RUN</code>, then look."
    assert show("`MonitorCallback` (adapters.sb3)") == "<code>MonitorCallback</code> (adapters.sb3)"
    assert show("`firstbreak <b>` & `rm -rf <i>`") == "<code>firstbreak &lt;b&gt;</code> &amp; `rm -rf &lt;i&gt;`"

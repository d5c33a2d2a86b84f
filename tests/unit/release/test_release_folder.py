"""The folder of a release: everything in it is sealed, any change is seen, and nothing untrusted is rendered raw."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.cli import main
from firstbreak.release import manifest
from firstbreak.release.building import gather, prepare
from firstbreak.report.release.folder import write
from firstbreak.report.release.page import page
from firstbreak.report.release.plots import ticks

from .conftest import make_preflight, make_run, make_scores

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def released(five: list[Path], tmp_path: Path) -> Path:
    out = tmp_path / "out"
    make_preflight(tmp_path / "runs" / "preflight.json")
    prepare(out)
    write(gather(five, out=out), out)
    return out


def test_the_folder_holds_what_a_reviewer_needs(released: Path) -> None:
    names = {path.relative_to(released).as_posix() for path in released.rglob("*") if path.is_file()}
    assert {"index.html", "manifest.json", "results.json", "preflight.json", "runs/0-context.json",
            "runs/0-diagnosis.json", "checkpoints/0/best/best_model.zip"} <= names  # fmt: skip
    body = json.loads((released / "manifest.json").read_text())
    assert set(body["files"]) == names - {"manifest.json"}
    assert body["outcome"] == "undecided"
    assert "samples-audited" in body["missing"]
    assert [row["status"] for row in body["checklists"]["before"]] == ["done"] * 6
    results = json.loads((released / "results.json").read_text())
    assert len(results["groups"][0]["scores"]) == 5
    assert results["private"]["direction"] == "up"


def test_an_untouched_release_verifies_with_its_seal(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = manifest.verify(released)
    assert found.troubles == ()
    assert main(["release", "--verify", str(released), "--seal", found.seal]) == 0
    assert "UNCHANGED" in capsys.readouterr().out


def edit_outcome(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace('"outcome": "undecided"', '"outcome": "go"', 1))


def reseal(folder: Path) -> None:
    """Edit the verdict and seal it anew, as somebody would who has read the code."""
    body = json.loads((folder / "manifest.json").read_text())
    del body["seal"]
    body["outcome"] = "go"
    (folder / "manifest.json").write_text(json.dumps({**body, "seal": manifest.seal_of(body)}))


CHANGES: dict[str, tuple[Any, str]] = {
    "a verdict by hand": (edit_outcome, "changed after it was sealed"),
    "a verdict sealed anew": (reseal, "the rulings say undecided"),
    "a result": (lambda f: (f / "results.json").write_text("{}"), "results.json was changed"),
    "the page": (lambda f: (f / "index.html").write_text("GO"), "index.html was changed"),
    "a checkpoint gone": (lambda f: (f / "checkpoints/0/best/best_model.zip").unlink(), "best_model.zip is missing"),
    "a file more": (lambda f: (f / "extra.txt").write_text(""), "extra.txt was added"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_seen(released: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    seal = manifest.verify(released).seal
    change, told = CHANGES[name]
    change(released)
    assert any(told in trouble for trouble in manifest.verify(released).troubles)
    assert main(["release", "--verify", str(released), "--seal", seal]) == 1
    assert "CHANGED" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "firstbreak-release"}', '{"schema": "x"}', "[" * 99_999])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert main(["release", "--verify", str(tmp_path)]) == 2
    assert main(["release", "--verify", str(tmp_path / "gone")]) == 2
    assert "Traceback" not in capsys.readouterr().err


leaves = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5))
bodies = st.dictionaries(st.text(max_size=4), st.one_of(leaves, st.lists(leaves, max_size=3)), max_size=4)


@given(bodies, bodies)
def test_the_seal_is_one_of_the_content_whatever_its_order(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert manifest.seal_of(a) == manifest.seal_of(dict(reversed(a.items())))
    assert (manifest.seal_of(a) == manifest.seal_of(b)) == (
        json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
    )


def test_a_release_is_never_written_over(five: list[Path], released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", str(five[0]), "--out", str(released)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert manifest.verify(released).troubles == ()


class Reader(html.parser.HTMLParser):
    """Collects tags, attributes and what is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "data", "action")]


def test_names_from_logs_and_tables_are_escaped(tmp_path: Path) -> None:
    nasty = make_run(tmp_path / f"a{SCRIPT.replace('/', '')}", 0, config={"env_id": SCRIPT, "eval.x": "\x1b[2J\u202e"})
    make_scores(nasty, 0, [("fresh", "best", 3.0), (SCRIPT, "best", 1.0)], protocol=SCRIPT)
    text = page(gather([nasty, make_run(tmp_path / "b", 1)], name=f"{SCRIPT}\x1b"))
    reader = Reader()
    reader.feed(text)
    assert "script" not in reader.tags
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text
    assert all(link.startswith(("#", "checkpoints/")) for link in reader.links)


def test_the_page_stands_alone_and_its_links_lead_into_the_folder(released: Path) -> None:
    text = (released / "index.html").read_text()
    reader = Reader()
    reader.feed(text)
    assert reader.tags.count("svg") == 3
    assert not re.findall(r"url\(|@import|https?:", text)
    inside = [link for link in reader.links if not link.startswith("#")]
    assert inside
    assert all((released / link).is_file() for link in inside)
    anchors = set(re.findall(r'id="([\w-]+)"', text))
    assert {link[1:] for link in reader.links if link.startswith("#")} <= anchors
    assert "nan" not in re.sub(r"<[^>]*>", "", text).lower().split()


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_ticks_are_few_round_and_inside(a: float, b: float) -> None:
    lo, hi = min(a, b), max(a, b)
    found = ticks(lo, hi)
    assert 1 <= len(found) <= 7
    assert found == sorted(found)
    if hi - lo > 1e-3 * max(abs(lo), abs(hi), 1e-6):
        margin = 1e-6 * (hi - lo)
        assert all(lo - margin <= tick <= hi + margin for tick in found)
        assert len(found) >= 2

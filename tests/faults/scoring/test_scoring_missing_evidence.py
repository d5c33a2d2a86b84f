"""The report of each missed run of the held half says of a right link that its log cannot settle it, and what would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.faults.scoring.answer import summary
from benchmarks.faults.scoring.catalogue import read_faults
from benchmarks.faults.scoring.corpus import as_guarded, read_run
from benchmarks.faults.scoring.logs import load_log
from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.limits import SHORT
from firstbreak.report.text import render

ROOT = Path(__file__).parents[3]
RUNS, PAGE = ROOT / "benchmarks" / "faults" / "runs", ROOT / "docs" / "faults_results.md"
FAULTS = read_faults(ROOT / "benchmarks" / "faults" / "faults.toml")


def missed() -> list[str]:
    """The runs that the page lists as not detected."""
    listed = PAGE.read_text("utf-8").split("## Every miss")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \| \S+ \| no \|", listed, flags=re.MULTILINE)


def one_of_each_kind() -> list[str]:
    """The first missed run of each fault, subject and task; the others are of the full set."""
    kinds: dict[str, str] = {}
    for name in missed():
        kinds.setdefault(name.rpartition("/")[0], name)
    return list(kinds.values())


def check(name: str) -> None:
    run = as_guarded(read_run(RUNS / f"{name.replace('/', '__')}.json.xz", "held"))
    diagnosis = diagnose_log(load_log(run), Settings())
    answer, right = summary(diagnosis, ()), FAULTS[run.fault].links
    if not right.isdisjoint((answer.named, *answer.rivals)):
        return  # it is named, be it beside another: by rules that are younger than the page
    assert answer.verdict != "broken"
    assert not right.isdisjoint(answer.open), (answer.verdict, answer.open)
    screen = " ".join(render([diagnosis]).split())
    notes = [note if answer.verdict == "healthy" else SHORT[note] for note in diagnosis.notes if note in SHORT]
    assert all(" ".join(note.split()) in screen for note in notes)  # on the first screen, not only with --full
    assert answer.verdict != "healthy" or right.isdisjoint(answer.claimed)


def test_the_page_lists_misses():
    assert missed()


@pytest.mark.parametrize("name", one_of_each_kind())
def test_a_missed_run_is_told_what_would_settle_it(name: str):
    check(name)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in missed() if name not in one_of_each_kind()])
def test_so_is_every_other_seed(name: str):
    check(name)


def test_a_report_without_its_notes_would_fail(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("firstbreak.reasoning.limits", lambda log, verdict: ())
    quiet = next(name for name in one_of_each_kind() if name.startswith(("trl_grpo/", "ppo/")))
    with pytest.raises(AssertionError):
        check(quiet)

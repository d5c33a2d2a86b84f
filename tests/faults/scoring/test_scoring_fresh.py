"""Healthy runs that came last: the section holds the rates that were scored, and every alarm."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hypothesis import given

from benchmarks.faults.catalogue import tasks
from benchmarks.faults.scoring import scores
from benchmarks.faults.scoring.assessing import FIRSTBREAK, Assessed
from benchmarks.faults.scoring.document import document_of
from benchmarks.faults.scoring.fresh import FRESH, fresh_section, read_fresh
from benchmarks.faults.scoring.page import table
from benchmarks.faults.scoring.printing import shown

from .made import runs


@given(runs)
def test_the_section_says_what_was_scored(found: list[Assessed]):
    document = json.loads(json.dumps(document_of(found, "fresh")))
    text = fresh_section(document, table)
    for hard, place in ((False, 1), (True, 2)):
        rate = scores.false_alarms(found, FIRSTBREAK, hard)
        line = next((line for line in text.splitlines() if line.startswith(f"| {FIRSTBREAK} ")), "")
        assert not rate.n or f"({rate.hits} of {rate.n})" in line.split("|")[place + 1]
    for alarm in document["false_alarms"]:
        assert f"`{alarm['id']}`" in text
    broken = scores.broken_without_fault(found, FIRSTBREAK)
    assert not broken.n or f"Called broken, at the end: {shown(broken)}" in text


def test_nothing_is_said_of_what_nobody_scored(tmp_path: Path):
    assert read_fresh(tmp_path / "fresh.json") is None


def test_what_is_published_is_of_tasks_alone_that_are_fresh_or_were_once():
    found = read_fresh(FRESH)
    assert found is not None
    fresh = {key.replace(":", "/") for key, task in tasks().items() if task.fresh or task.late}
    named = [re.sub(r"/[^/]+/[^/]+$", "", alarm["id"]) for alarm in found["false_alarms"]]
    assert found["half"] == "fresh"
    assert found["runs"]["fault_runs"] == 0
    assert found["runs"]["tasks"] <= len(fresh)
    assert set(named) <= fresh

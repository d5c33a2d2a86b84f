"""Who opens a page of many runs meets the broken ones first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from firstbreak.diagnosis import Diagnosis
from firstbreak.report.html import page
from firstbreak.report.markdown import render


@pytest.mark.parametrize("face", [page, render])
def test_a_page_of_many_runs_begins_with_the_broken_ones(
    face: Callable[[list[Diagnosis]], str], broken: Diagnosis, healthy: Diagnosis, undecided: Diagnosis
) -> None:
    runs = [replace(one, log=replace(one.log, path=f"logs/run_{one.verdict}")) for one in (healthy, undecided, broken)]
    text = face(runs).replace("\\", "")
    places = [[one.start() for one in re.finditer(f"run_{name}", text)] for name in ("broken", "undecided", "healthy")]
    assert all(len(found) > 1 for found in places)
    for nth in (min, max):  # in the table, and below it
        assert [nth(found) for found in places] == sorted(nth(found) for found in places)

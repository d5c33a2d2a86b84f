"""Every log given with its label gets the right verdict, also under changes that must not matter."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from firstbreak.api import load_runs
from firstbreak.diagnosis import Verdict

from .labels import Label, judge, labels, runs_of, wrong
from .recorded import is_recorded
from .variants import rescaled, subsampled, without

LABELS = [label for label in labels() if not is_recorded(label)]
IDS = [label.name for label in LABELS]
STEADY = [label for label in LABELS if Verdict.BROKEN not in label.verdicts or "_runs/" not in label.name]
"""Runs that must keep their answer when rows or metrics are left out: a recorded fault often shows in one metric."""
STEADY_IDS = [label.name for label in STEADY]


@pytest.mark.parametrize("label", LABELS, ids=IDS)
def test_framework_and_algorithm_are_recognised(label: Label) -> None:
    for log in runs_of(label.name):
        assert (log.framework, log.algorithm) == (label.framework, label.algorithm)


@pytest.mark.parametrize("label", LABELS, ids=IDS)
def test_verdict(label: Label) -> None:
    for log in runs_of(label.name):
        assert not wrong(label, judge(log))


@pytest.mark.parametrize("label", LABELS, ids=IDS)
def test_verdict_under_another_folder_name(label: Label, tmp_path: Path) -> None:
    place = tmp_path / "somewhere-else"
    shutil.copytree(Path(__file__).parents[1] / "data" / "logs" / label.name, place)
    for log in load_runs(place):
        assert not wrong(label, judge(log))


@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("label", LABELS, ids=IDS)
def test_verdict_under_scaled_rewards(label: Label, factor: float) -> None:
    for log in runs_of(label.name):
        assert not wrong(label, judge(rescaled(log, factor)))


@pytest.mark.parametrize("label", STEADY, ids=STEADY_IDS)
def test_verdict_under_subsampling(label: Label) -> None:
    for log in runs_of(label.name):
        assert not wrong(label, judge(subsampled(log)), may_abstain=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("label", STEADY, ids=STEADY_IDS)
def test_no_wrong_answer_without_some_metrics(label: Label, seed: int) -> None:
    for log in runs_of(label.name):
        assert not wrong(label, judge(without(log, 0.3, seed)), may_abstain=True)

"""Runs of the fault benchmark, recorded on a Ray cluster: the same trainings as here, and a mistake costs one run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

from benchmarks.faults.executors import Cluster, Here
from benchmarks.faults.plans import Plan
from benchmarks.faults.record import made_or_told, record
from benchmarks.faults.recording import runs_in

pytestmark = pytest.mark.filterwarnings("ignore")
PLANS = (Plan("grpo", "copy-reverse-count", "fault", "reward-flipped", 1, 0.5),)
"""One: the warm start of the model takes most of a minute."""
CLOCKS = ("time/", "perf/")


def short(plan: Plan) -> dict[str, Any]:
    """The beginning of a run; shipped with the job, as `record.py` ships its own."""
    from benchmarks.faults import one_run

    return one_run.made(plan, 4)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # these tests are not shipped
    yield Cluster("local")
    ray.shutdown()


def test_a_training_is_the_same_on_the_cluster(cluster: Cluster) -> None:
    def without_clocks(run: dict[str, Any]) -> dict[str, Any]:
        return {key: rows for key, rows in run["keys"].items() if not key.startswith(CLOCKS)}

    here, there = (dict(where.results(short, PLANS)) for where in (Here(), cluster))
    assert there.keys() == here.keys() == set(PLANS)
    for plan in PLANS:
        assert without_clocks(there[plan]) == without_clocks(here[plan])
        assert there[plan]["truth"] == here[plan]["truth"]


def test_what_goes_wrong_there_costs_one_run_and_is_told(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = Plan("grpo", "no-such-task", "healthy", "clean", 0)
    assert made_or_told(nowhere)["error"].startswith("KeyError")
    record(tmp_path, [nowhere], cluster, float("inf"))
    assert list(runs_in(tmp_path)) == []
    assert "1/1  grpo/no-such-task/clean/0" in capsys.readouterr().out

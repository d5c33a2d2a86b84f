"""Real trainings on a GPU: what a monitor adds in waits and copies is a number a row, and nothing a gradient step."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from firstbreak.monitor import Monitor
from tests.gpu import trainings
from tests.gpu.trainings import SUBJECTS
from tests.gpu.waits import grown, sites, waits

STEPPING = ("trl GRPO", "sb3 DQN", "sb3 SAC")


class Trained:
    """One training, alone or with a monitor, with so many times as many gradient steps a row."""

    def __init__(self, name: str, folder: Path, times: int, *, watched: bool) -> None:
        train, algorithm = SUBJECTS[name]
        self.rows, self.faults, self.lines = 0, list[str](), Counter[str]()
        self.weights: trainings.Weights = []

        def alone() -> None:
            self.weights = train(algorithm, folder / "alone", None, times)

        def guarded() -> None:
            with Monitor(folder / "guarded", algorithm=algorithm) as monitor, sites() as self.lines:
                self.weights = train(algorithm, folder / "guarded", monitor, times)
            self.rows, self.faults = monitor.rows, list(monitor.faults)

        self.counts = waits(guarded if watched else alone)


@pytest.mark.filterwarnings("default")  # what the frameworks deprecate is no matter of these tests
@pytest.mark.parametrize("name", STEPPING)
def test_a_monitor_makes_no_gradient_step_wait(name: str, tmp_path: Path):
    pytest.importorskip({"sb3": "stable_baselines3"}.get(framework := name.split(maxsplit=1)[0], framework))
    Trained(name, tmp_path / "first", 1, watched=True)  # whatever is made at first use
    alone = {times: Trained(name, tmp_path / f"alone{times}", times, watched=False) for times in (1, 2)}
    guarded = {times: Trained(name, tmp_path / f"guarded{times}", times, watched=True) for times in (1, 2)}
    for times in (1, 2):
        assert guarded[times].faults == []
        pairs = zip(alone[times].weights, guarded[times].weights, strict=True)
        assert all(torch.equal(one, two) for one, two in pairs)
    assert guarded[1].rows == guarded[2].rows > 0
    assert not grown(guarded[1].lines, guarded[2].lines)
    added = {
        times: {kind: guarded[times].counts[kind] - alone[times].counts[kind] for kind in ("waits", "copies")}
        for times in (1, 2)
    }
    print(f"{name}: {guarded[1].rows} rows, alone {alone[1].counts}, {alone[2].counts}; added {added[1]}, {added[2]}")
    print(f"{name}: waits by line {dict(guarded[1].lines)}")
    assert added[2]["waits"] <= added[1]["waits"]
    assert added[2]["copies"] <= added[1]["copies"]
    assert added[1]["copies"] <= 64 * guarded[1].rows

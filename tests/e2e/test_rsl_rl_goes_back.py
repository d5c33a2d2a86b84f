"""rsl_rl's own runner goes back to the monitor's checkpoint, and goes on from there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.rsl_rl import watch_runner
from firstbreak.monitor.checkpoints import Checkpoints
from firstbreak.monitor.verdict import Action
from tests.unit.monitor.adapters.answering import Answering

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
EXAMPLE = Path(__file__).parents[2] / "examples" / "monitor_rsl_rl.py"


def test_the_runner_goes_back_and_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["example", str(tmp_path / "example")])
    spec = importlib.util.spec_from_file_location("monitor_rsl_rl", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)  # trains as it stands; what it defines is used once more

    def weights() -> list[torch.Tensor]:
        return [w.detach().clone() for part in (runner.alg.actor, runner.alg.critic) for w in part.parameters()]

    asked: list[list[torch.Tensor]] = []

    def broken(row: dict[str, Any]) -> bool:
        asked.append(weights())
        return len(asked) == 1

    monitor = Answering(Action.ROLL_BACK, at=4, when=broken, checkpoints=Checkpoints(tmp_path / "store", strict=True))
    runner = example.OnPolicyRunner(example.Reach(), {**example.settings, **example.models}, str(tmp_path / "log"))
    watch_runner(runner, monitor, checkpoint_rows=4)
    before = weights()
    runner.learn(5)
    kept = monitor.checkpoints.load("last")
    parts = [runner.alg.actor, runner.alg.critic]
    names = ["actor", "critic"]
    assert monitor.faults == []
    assert monitor.went_back == [0.0]
    assert not all(map(torch.equal, before, asked[0]))
    assert not all(map(torch.equal, weights(), asked[0]))
    for name, part in zip(names, parts, strict=True):
        assert all(torch.equal(value, kept[name][key]) for key, value in part.state_dict().items())
    runner.learn(2)  # it still trains
    assert not all(torch.equal(value, kept["actor"][key]) for key, value in parts[0].state_dict().items())

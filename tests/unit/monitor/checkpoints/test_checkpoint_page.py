"""The how-to page: its loop runs, and goes back when the run breaks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

torch.set_num_threads(1)
PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "checkpoints.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_loop_of_the_page_goes_back_and_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    noise, policy = np.random.default_rng(1), torch.nn.Linear(3, 2)
    optimiser, done = torch.optim.Adam(policy.parameters()), []

    def update(step: int) -> dict[str, float]:
        done.append(step)
        kl = 3.0 if step >= 140 and len(done) < 150 else 0.01 * float(np.exp(0.2 * noise.normal()))
        return {"policy/kl_old": kl, "reward/episode_return_mean": step + 10 * noise.normal()}

    names: dict[str, Any] = {
        "policy": policy,
        "optimiser": optimiser,
        "scheduler": torch.optim.lr_scheduler.ConstantLR(optimiser),
        "log_alpha": torch.zeros(1),
        "generator": np.random.default_rng(0),
        "updates": 180,
        "update": update,
        "evaluate": lambda policy: 1.0,
    }
    exec(BLOCKS[0], names)
    store = names["store"]
    assert [entry["step"] for entry in store.roll_backs] == [100]
    assert done[-1] == 179
    assert "KL" in store.failed.reason
    assert not store.faults
    exec("lacks = missing_parts(store.last.path, 'PPO')", {**names, **imports(BLOCKS[1])}, names)
    assert {lack.part for lack in names["lacks"] if lack.certain} == {"critic", "optimiser"}


def imports(block: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(block.splitlines()[0], found)
    return found

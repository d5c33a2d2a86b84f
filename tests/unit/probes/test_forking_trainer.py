"""A trainer that forks and returns twice: one of the two is stopped, and the report says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak.isolation import Limits
from firstbreak.probes.api import probe

TRAINER = """
import os

class Agent:
    def act(self, obs, deterministic):
        return 0

def train(make_env, *, total_steps, seed):
    env = make_env()
    env.reset(seed=seed)
    for _ in range(50):
        told = env.step(env.action_space.sample())
        if told[2] or told[3]:
            env.reset()
    os.fork()
    return Agent()
"""


def test_a_fork_that_returns_is_said_and_its_training_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forking_trainer.py").write_text(TRAINER)
    monkeypatch.chdir(tmp_path)
    seen = probe("forking_trainer.py:train", steps=200, limits=Limits(seconds=60.0, silence_s=30.0))
    assert any("train forked and returned twice" in note for note in seen.notes), seen.notes
    assert "trainer-fails" in seen.clear

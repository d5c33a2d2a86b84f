"""What a result of RLlib becomes, on results that RLlib wrote (tests/data/logs/rllib_ppo)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstbreak.monitor.adapters.rllib import OWN, row_of
from firstbreak.vocabulary import map_keys, metrics

RESULTS = Path(__file__).parents[1] / "data" / "logs" / "rllib_ppo" / "result.json"
pytestmark = pytest.mark.filterwarnings("ignore")


def results() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def test_a_row_has_rllibs_own_keys_and_only_numbers() -> None:
    row = row_of(results()[1], "default_policy", ["default_policy"])
    assert row["learners/default_policy/entropy"] == pytest.approx(0.6446, abs=1e-4)
    assert row["env_runners/num_env_steps_sampled_lifetime"] == 4004
    assert not any(key.startswith(("config", "learners/__all_modules__")) for key in row)
    assert all(isinstance(value, int | float) for value in row.values())


def test_the_vocabulary_knows_what_matters_in_a_row() -> None:
    row = row_of(results()[1], "default_policy", ["default_policy"])
    found = {meaning.metric for meaning in map_keys(list(row), "rllib", "PPO").values()}
    assert {"policy/kl_old", "policy/entropy", "critic/explained_variance", "critic/loss_unclipped", "optim/lr",
            "reward/episode_return_mean", "time/env_steps"} <= found  # fmt: skip


def test_each_policy_gets_its_own_numbers() -> None:
    result = {
        "env_runners": {"episode_return_mean": 3.0},
        "learners": {
            "a": {"entropy": 0.1, OWN: {"advantage/mean": 0.5}},
            "b": {"entropy": 0.2, OWN: {"advantage/mean": 0.7}},
            "__all_modules__": {"num_env_steps_trained": 5},
        },
    }
    shared = {"env_runners/episode_return_mean": 3.0}
    assert row_of(result, "a", ["a", "b"]) == {**shared, "learners/a/entropy": 0.1, "advantage/mean": 0.5}
    assert row_of(result, "b", ["a", "b"]) == {**shared, "learners/b/entropy": 0.2, "advantage/mean": 0.7}


def test_what_the_learner_adds_has_canonical_names() -> None:
    from firstbreak.monitor.adapters.rllib_learner import EXTREMES, KEPT

    assert set(KEPT) <= set(metrics())
    assert set(EXTREMES) <= set(KEPT)

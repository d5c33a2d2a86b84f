"""The callback and the learner in real, tiny trainings of RLlib's PPO on CartPole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

from firstbreak.monitor.adapters.rllib import OWN, MonitorCallback
from firstbreak.monitor.adapters.rllib_learner import PPOLearner

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    torch.set_num_threads(1)
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False)
    yield
    ray.shutdown()


def algorithm(learner: Any = PPOLearner, lr: float = 3e-4, steps: int = 256, **options: Any) -> Any:
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0)
        .training(lr=lr, train_batch_size_per_learner=steps, minibatch_size=min(steps, 64), num_epochs=2)
        .learners(num_learners=0, learner_class=learner)
        .reporting(log_gradients=True)
        .debugging(seed=0)
    )
    if options.pop("watched", True):
        config = config.callbacks(partial(MonitorCallback, algorithm="PPO", **options))
    return config.build_algo()


def callback(of: Any) -> MonitorCallback:
    return next(found for found in of.callbacks if isinstance(found, MonitorCallback))


def weights(of: Any) -> Any:
    return of.learner_group.get_state(components="learner/rl_module")["learner"]["rl_module"]["default_policy"]


def same(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def test_every_result_becomes_a_row_on_the_clock_of_environment_steps(tmp_path: Path) -> None:
    trained = algorithm(path=tmp_path)
    results = [trained.train() for _ in range(2)]
    (monitor,) = callback(trained).monitors.values()
    trained.stop()
    assert monitor.faults == []
    assert monitor.rows == 2
    log = monitor.run_log()
    assert (log.framework, log.algorithm, log.clock) == ("rllib", "PPO", "env_steps")
    assert (log.config["clip_range"], log.config["n_epochs"], log.config["max_episode_steps"]) == (0.3, 2, 500)
    kl = log.get("policy/kl_old")
    assert kl is not None
    steps = [r["env_runners"]["num_env_steps_sampled_lifetime"] for r in results]
    assert kl.step.tolist() == steps
    assert kl.value.tolist() == [r["learners"]["default_policy"]["mean_kl_loss"] for r in results]
    for metric in ("policy/ratio_max", "policy/ess", "advantage/std", "optim/grad_norm"):
        assert log.get(metric) is not None, metric
    assert results[-1]["done"] is False
    assert OWN not in results[-1]
    assert list(tmp_path.rglob("*")), "the record lies in the folder"


def test_the_learner_reports_what_it_trained_on_and_trains_the_same() -> None:
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner

    runs = []
    for trained in (lambda: algorithm(PPOTorchLearner, watched=False), algorithm):
        one = trained()
        runs.append([one.train() for _ in range(2)][-1]["learners"]["default_policy"] | {"weights": weights(one)})
        one.stop()
    one, other = runs
    assert one["policy_loss"] == other["policy_loss"]
    assert same(one["weights"], other["weights"])
    added = other[OWN]
    assert added["policy/ratio_min"] <= 1 <= added["policy/ratio_max"]
    assert 0 < added["policy/ess"] <= 1
    assert abs(added["advantage/mean"]) < 0.5
    assert added["advantage/min"] < 0 < added["advantage/max"]


def test_a_break_from_the_start_ends_the_run() -> None:
    trained = algorithm(lr=1.0, act={"policy_update": "stop_training"})
    results = [trained.train() for _ in range(4)]
    trained.stop()
    ended = [result for result in results if result["done"]]
    assert ended, callback(trained).monitors["default_policy"].diagnosis()
    assert ended[0][OWN]["action"] == "stop_training"
    assert ended[0][OWN]["findings"]


def test_a_break_on_the_way_is_rolled_back() -> None:
    trained = algorithm(steps=64, act={"nonfinite-metric": "roll_back"})
    before = [weights(trained) for _ in range(12) if trained.train()]
    trained.learner_group.foreach_learner(lambda learner: _set_rate(learner, 1.0))
    broken = trained.train()
    monitor = callback(trained).monitors["default_policy"]
    after = weights(trained)
    fine = trained.train()
    trained.stop()
    assert broken["learners"]["default_policy"]["mean_kl_loss"] == np.inf
    assert broken[OWN]["action"] == "roll_back", monitor.diagnosis()
    assert not broken["done"]
    # The break lies between the last two results, so the last is not known to be healthy.
    assert [same(one, after) for one in before] == [False] * 10 + [True, False]
    assert np.isfinite(fine["learners"]["default_policy"]["mean_kl_loss"])
    assert OWN not in fine
    assert monitor.faults == []


def _set_rate(learner: Any, rate: float) -> None:
    for _, optimiser in learner.get_optimizers_for_module("default_policy"):
        for group in optimiser.param_groups:
            group["lr"] = rate

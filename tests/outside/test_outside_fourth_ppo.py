"""What is planted in the fourth list's PPO and in Stable-Baselines3 does what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.outside.fourth import between, ppo, stable
from benchmarks.outside.plans import FOURTH, plans
from benchmarks.outside.record import NEVER, record
from benchmarks.outside.switches import Planted, Truth

Rows = dict[str, torch.Tensor]


def planted(name: str = "", at: int = 0) -> Planted:
    return Planted(name, at if name else NEVER, Truth())


# ---- the script of PPO ------------------------------------------------------------------------------------------


def rollout(name: str, tmp_path: Path, task: str = "Catch", **given: Any) -> tuple[ppo.Script, Rows]:
    switch = planted(name)
    make = between.maker(task, {}, switch, 5)
    made = ppo.Script(make, {"num_steps": 64, "sink": "screen", **given}, 5, switch, tmp_path, make)
    made.writer = ppo.ppo.sink("screen", tmp_path, {}, ())
    return made, made.collect()


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def test_every_copy_is_paid_the_mean_of_all(tmp_path: Path) -> None:
    made, _ = rollout("reward-shared-out", tmp_path)
    paid = {value for _ in range(45) for value in made.play(np.ones(8)).tolist()}
    assert any(0 < abs(value) < 1 for value in paid)


def test_old_log_probabilities_of_current_weights_leave_the_ratio_at_one(tmp_path: Path) -> None:
    for name, still in (("old-log-prob-recomputed", True), ("", False)):
        made, rows = rollout(name, tmp_path)
        assert (abs(made.learn(rows)["losses/approx_kl"]) < 1e-6) is still


def test_pairs_are_normalised_each_by_itself(tmp_path: Path) -> None:
    made, rows = rollout("normalised-in-pairs", tmp_path)
    other, same = rollout("", tmp_path)
    assert not torch.equal(weights(made.agent), (made.learn(rows), weights(made.agent))[1])
    other.learn(same)
    assert not torch.equal(weights(made.agent), weights(other.agent))


def test_the_spread_is_kept_small(tmp_path: Path) -> None:
    made, rows = rollout("spread-frozen-small", tmp_path, "Arm")
    made.learn(rows)
    assert made.agent.logstd is not None
    assert (made.agent.logstd == ppo.SMALL).all()


def test_the_bonus_is_large(tmp_path: Path) -> None:
    made, rows = rollout("entropy-bonus-large", tmp_path)
    made.learn(rows)
    assert made.cfg["ent_coef"] == ppo.BONUS


def test_rollouts_are_kept_and_the_critic_is_not_trained(tmp_path: Path) -> None:
    made, rows = rollout("rollout-not-cleared", tmp_path)
    assert len(made.collect()["obs"]) == 2 * len(rows["obs"])
    made, rows = rollout("value-without-graph", tmp_path)
    before = weights(made.agent.critic)
    made.learn(rows)
    assert torch.equal(weights(made.agent.critic), before)


def test_values_are_clipped_about_those_of_the_rollout_before(tmp_path: Path) -> None:
    made, rows = rollout("value-clip-stale", tmp_path)
    torch.testing.assert_close(made.collect()["about"], rows["value"])
    value = torch.tensor([5.0], requires_grad=True)
    told = {"value": torch.tensor([5.0]), "about": torch.tensor([3.0]), "ret": torch.tensor([5.0])}
    assert made.value_loss(value, told) > 1
    assert rollout("", tmp_path)[0].value_loss(value, {"value": told["value"], "ret": told["ret"]}) == 0


@pytest.mark.parametrize("name", ["done-one-late", "summed-forwards", "sampler-stale"])
def test_what_the_third_list_plants_is_planted_here_as_well(name: str, tmp_path: Path) -> None:
    made, rows = rollout(name, tmp_path)
    other, plain = rollout("", tmp_path)
    if name == "sampler-stale":
        made.learn(rows)
        assert made.actor() is not made.agent
    else:
        assert not torch.equal(rows["adv"], plain["adv"])
    assert other.actor() is other.agent


# ---- Stable-Baselines3 ------------------------------------------------------------------------------------------


def test_stable_baselines_is_changed_as_listed(tmp_path: Path) -> None:
    for base, name in (("sb3_ppo_courier", "normaliser-lost-on-resume"), ("sb3_sac_arm", "entropy-target-sign")):
        assert name in stable.CHANGES
        plan = next(plan for plan in plans(FOURTH) if plan.base.name == base and plan.name == name)
        short = replace(plan.base, total=600, settings={**plan.base.settings, "evaluate_every": 300})
        place = tmp_path / base
        place.mkdir()
        row = record(replace(plan, base=short, at=310), place)
        assert len(row["evaluated"]) >= 1
        assert row["died"] == ""


class Still:
    """A policy that tells whether it was asked for its mean."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    def predict(self, obs: Any, deterministic: bool) -> tuple[Any, None]:
        self.asked.append(deterministic)
        return np.zeros(2, np.float32), None


@pytest.mark.parametrize(("name", "steady"), [("", True), ("evaluation-sampled", False)])
def test_the_evaluation_plays_samples(name: str, steady: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = stable.Evaluation(between.aside("Arm", {}, 3), 100, planted(name))
    policy = Still()
    monkeypatch.setattr(one, "model", policy, raising=False)
    monkeypatch.setattr(one, "seen", list)
    one.episode(3)
    assert set(policy.asked) == {steady}


def test_the_evaluation_gets_raw_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    env = VecNormalize(DummyVecEnv([between.aside("Courier", {}, 3)]))
    env.obs_rms.mean = np.ones(7)  # type: ignore[union-attr]
    for name in ("", "evaluation-not-normalised"):
        one = stable.Evaluation(between.aside("Courier", {}, 3), 100, planted(name))
        monkeypatch.setattr(stable.Evaluation, "training_env", env)
        assert bool((one.seen(np.ones(7, np.float32)) == 1).all()) is bool(name)

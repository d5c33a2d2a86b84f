"""Every fault of Stable-Baselines3 in the fourth live list does what fourth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fourth_sb3
from fourth_sb3_plants import BIAS, CUT, DECAY, FASTER, LAMBDA
from fourth_weights import FLIP_EVERY
from worlds import Truth

STEPS = 700
"""Environment steps before a fault: more than any of the subjects waits before it learns."""


def switch_of(subject: str, fault: str) -> Any:
    """Return what will switch `fault` on in a trainer that has learned for some steps."""
    torch.set_num_threads(1)
    model, evaluation = fourth_sb3.built(subject, 0, None, Truth())
    model.learn(STEPS)
    switch = fourth_sb3.Switch(Truth(), fault, 0.0, 10 * STEPS)
    switch.evaluation = evaluation
    switch.init_callback(model)
    if evaluation is not None:
        evaluation.init_callback(model)
    switch.kept = {key: value.clone() for key, value in model.policy.state_dict().items()}
    return switch


def plant(switch: Any) -> Any:
    switch.num_timesteps = switch.model.num_timesteps
    assert switch._on_step()
    assert switch.truth.began == switch.model.num_timesteps
    return switch.model


def planted(subject: str, fault: str) -> Any:
    return plant(switch_of(subject, fault))


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_a_fault_of_the_environment_is_switched_on_there_once() -> None:
    switch = switch_of("sb3_a2c_stock", "pauses")
    plant(switch)
    assert switch.truth.fault == "pauses"
    switch.truth.fault = ""
    switch._on_step()
    assert switch.truth.fault == ""


def test_the_ratio_is_of_another_action() -> None:
    switch = switch_of("sb3_ppo_lanes", "log-prob-other-action")
    policy = switch.model.policy
    obs, actions = torch.rand(64, 16), torch.zeros(64, dtype=torch.long)
    right = policy.evaluate_actions(obs, actions)
    plant(switch)
    wrong = policy.evaluate_actions(obs, actions)
    assert torch.equal(wrong[0], right[0])
    assert torch.equal(wrong[2], right[2])
    assert 0.3 < float((wrong[1] != right[1]).float().mean()) < 1
    switch.model.train()


def test_what_comes_later_weighs_more_in_sb3() -> None:
    model = planted("sb3_ppo_lanes", "trace-diverges")
    assert model.rollout_buffer.gae_lambda == model.gae_lambda == LAMBDA
    assert model.rollout_buffer.gamma * LAMBDA > 1


def test_weights_decay() -> None:
    model = planted("sb3_a2c_stock", "weight-decay")
    assert {group["weight_decay"] for group in model.policy.optimizer.param_groups} == {DECAY}
    before = weights(model.policy).norm()
    model.learn(16 * 8 * 50, reset_num_timesteps=False)
    assert weights(model.policy).norm() < 0.8 * before


@pytest.mark.parametrize("subject", ["sb3_dqn_lanes", "sb3_sac_crane"])
def test_the_target_is_new_and_stays_so(subject: str) -> None:
    switch = switch_of(subject, "target-fresh")
    model = switch.model
    target, online = (
        (model.q_net_target, model.q_net) if subject == "sb3_dqn_lanes" else (model.critic_target, model.critic)
    )
    before, beside = weights(target), weights(online)
    plant(switch)
    new = weights(target)
    assert not torch.equal(new, before)
    assert torch.equal(weights(online), beside)
    model.learn(600, reset_num_timesteps=False)
    assert torch.equal(weights(target), new)
    assert not torch.equal(weights(online), beside)


def test_noise_has_a_mean() -> None:
    model = planted("sb3_td3_crane", "noise-biased")
    assert np.mean([model.action_noise() for _ in range(500)]) == pytest.approx(BIAS, abs=0.03)
    model.learn(20, reset_num_timesteps=False)


def test_the_temperature_learns_faster() -> None:
    def moved(fault: str) -> float:
        model = planted("sb3_sac_crane", fault)
        before = float(model.log_ent_coef.detach())
        model.train(1, 64)
        return abs(float(model.log_ent_coef.detach()) - before)

    assert moved("temperature-rate") == pytest.approx(FASTER * moved(""), rel=0.01)


def test_both_networks_follow_late_gradients() -> None:
    model = planted("sb3_td3_crane", "gradients-late")
    for network in (model.actor, model.critic):
        optimiser = network.optimizer
        weight = next(network.parameters())
        seen: list[float] = []
        optimiser.register_step_pre_hook(lambda *_, w=weight, s=seen: s.append(float(w.grad.flatten()[0])))
        for number in range(23):
            optimiser.zero_grad()
            for one in network.parameters():
                one.grad = torch.full_like(one, float(number))
            optimiser.step()
        assert seen == [0.0] * 21 + [1.0, 2.0]


def test_bits_flip_in_q() -> None:
    def spread(fault: str) -> float:
        model = planted("sb3_dqn_lanes", fault)
        model.policy.optimizer.param_groups[0]["lr"] = 0.0
        model.lr_schedule = lambda _: 0.0
        before = weights(model.q_net)
        model.train(2 * FLIP_EVERY, 64)
        return int((weights(model.q_net) != before).sum())

    assert spread("bit-flips") == 2
    assert spread("") == 0


def test_the_first_checkpoint_is_evaluated() -> None:
    switch = switch_of("sb3_ppo_lanes", "evaluation-first")
    switch.kept = {key: torch.zeros_like(value) for key, value in switch.kept.items()}
    # Its last bias makes the kept policy go left, whatever it sees.
    switch.kept["action_net.bias"] = torch.tensor([9.0, 0.0, 0.0])
    model = plant(switch)
    obs = np.random.default_rng(0).random((50, 16)).astype(np.float32)
    assert set(switch.evaluation.model.predict(obs, deterministic=True)[0].tolist()) == {0}
    assert weights(model.policy).abs().sum() > 0
    assert switch.evaluation.model.num_timesteps == model.num_timesteps
    evaluate_once(switch)


def test_episodes_of_an_evaluation_are_cut() -> None:
    switch = switch_of("sb3_dqn_lanes", "evaluation-cut")
    plant(switch)
    evaluate_once(switch)
    assert max(switch.evaluation.evaluations_length[-1] if switch.evaluation.evaluations_length else [0]) <= CUT
    env = switch.evaluation.eval_env
    env.reset()
    lengths: list[int] = []
    while len(lengths) < 20:
        for info in env.step(np.array([1]))[3]:
            lengths += [info["episode"]["l"]] if "episode" in info else []
    assert max(lengths) == CUT
    assert switch.model.get_env().envs[0].env is not None
    assert not isinstance(switch.model.get_env().envs[0].env, type(env.envs[0].env)), "training is as it was"


def evaluate_once(switch: Any) -> None:
    switch.evaluation.n_calls, switch.evaluation.eval_freq = 0, 1
    switch.evaluation.locals = {}
    assert switch.evaluation.on_step()
    assert np.isfinite(switch.evaluation.last_mean_reward)

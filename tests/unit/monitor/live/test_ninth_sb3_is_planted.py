"""Every fault of Stable-Baselines3 in the ninth list does what ninth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import ninth_doses
import ninth_sb3
from ninth_sb3_plants import OF_SB3
from worlds import Truth

STEPS = {"sb3_a2c_plates": 64, "sb3_ppo_reactor": 512, "sb3_dqn_plates": 520}
OFF = pytest.mark.parametrize("subject", ["sb3_sac_reactor", "sb3_td3_reactor"])
ON = pytest.mark.parametrize("subject", ["sb3_a2c_plates", "sb3_ppo_reactor"])


def trained(subject: str) -> Any:
    """Return a model that has learned for some steps; equal ones are alike."""
    torch.set_num_threads(1)
    model = ninth_sb3.built(subject, 0, None, Truth())
    model.learn(STEPS.get(subject, 215))
    return model


def sampled(model: Any) -> Any:
    """Return a sample of the replay buffer, the same of equal models."""
    np.random.seed(0)
    return model.replay_buffer.sample(64)


def rollout(model: Any) -> Any:
    """Return the rollout that a model collects next."""
    torch.manual_seed(0)
    looks = ninth_sb3.Switch("sb3_a2c_plates", Truth(began=0.0), "", 0.55)
    looks.init_callback(model)
    model.collect_rollouts(model.env, looks, model.rollout_buffer, model.n_steps)
    return model.rollout_buffer


def rollouts(subject: str, fault: str, dose: float = 1) -> tuple[Any, Any]:
    """Return the next rollout of a model with the fault, and of one without."""
    broken = trained(subject)
    OF_SB3[fault](broken, dose)
    return rollout(broken), rollout(trained(subject))


def test_faults_begin_when_their_time_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained("sb3_a2c_plates")
    for fault, dose in (("drive-jammed", 1), ("logits-clamped", 0.01)):
        monkeypatch.setitem(ninth_doses.CHOSEN, (fault, "sb3_a2c_plates"), dose)
        truth = Truth()
        switch = ninth_sb3.Switch("sb3_a2c_plates", truth, fault, 0.55)
        switch.init_callback(model)
        assert switch.at == pytest.approx(0.4 * 24_000)
        switch.num_timesteps = 9_599
        assert switch._on_step()
        assert np.isnan(truth.began)
        switch.num_timesteps = 9_600
        assert switch._on_step()
        assert truth.began == 9_600
        assert truth.fault == ("drive-jammed" if fault == "drive-jammed" else "")
    logits = model.policy.get_distribution(torch.randn(4, 6)).distribution.probs
    assert float((logits - 0.25).detach().abs().max()) < 0.01


@pytest.mark.parametrize("subject", [*STEPS, "sb3_sac_reactor", "sb3_td3_reactor"])
def test_the_pieces_are_the_models(subject: str) -> None:
    pieces, model = trained(subject).pieces, trained(subject)
    assert len(pieces.optimisers) == {"sb3_sac_reactor": 3, "sb3_td3_reactor": 2}.get(subject, 1)
    assert len(pieces.activations) >= 2
    critics = model.q_net if "dqn" in subject else model.critic if hasattr(model, "critic") else None
    count = 6 if critics is None else len(list(critics.parameters()))
    assert len(pieces.critics) == count
    assert pieces.head.out_features == (4 if "plates" in subject else 2)


@ON
def test_advantages_and_returns_are_others(subject: str) -> None:
    found, expected = rollouts(subject, "advantages-unsigned")
    assert np.allclose(found.advantages, np.abs(expected.advantages))
    found, expected = rollouts(subject, "baseline-dropped")
    assert np.allclose(found.advantages, expected.returns)
    found, expected = rollouts(subject, "critic-learns-advantages")
    assert np.allclose(found.returns, expected.advantages)
    found, expected = rollouts(subject, "targets-cut", 0.1)
    assert np.allclose(found.returns, expected.returns.clip(-0.1, 0.1))
    assert np.allclose(found.advantages, found.returns - expected.values)


def test_a_rollout_is_half_written_or_has_no_log_probs() -> None:
    model, first = trained("sb3_ppo_reactor"), []
    OF_SB3["half-written"](model, 1)
    for _ in range(2):
        rows = rollout(model)
        first.append((rows.observations.copy(), rows.actions.copy()))
    for old, new in zip(*first, strict=True):
        assert np.array_equal(new[32:], old[32:])
        assert not np.allclose(new[:32], old[:32])
    found, expected = rollouts("sb3_ppo_reactor", "log-probs-lost")
    assert not found.log_probs.any()
    assert expected.log_probs.all()


@OFF
def test_targets_are_cut_and_their_inputs_crossed(subject: str) -> None:
    model, whole = trained(subject), trained(subject)
    sample = sampled(model)
    obs, action = sample.observations, sample.actions
    OF_SB3["targets-cut"](model, 0.05)
    for found, expected in zip(model.critic_target(obs, action), whole.critic_target(obs, action), strict=True):
        assert torch.equal(found, expected.clamp(-0.05, 0.05))
    OF_SB3["inputs-crossed"](whole, 1)
    crossed = whole.critic_target(obs, action)[0]
    network = whole.critic_target.q_networks[0]
    network._forward_pre_hooks.clear()
    assert torch.allclose(crossed, network(torch.cat([action, obs], 1)))


@OFF
def test_the_actor_is_asked_about_what_came_next(subject: str) -> None:
    model, whole = trained(subject), trained(subject)
    OF_SB3["actor-of-next"](model, 1)
    sample = sampled(model)

    def asked(one: Any, obs: Any) -> Any:
        torch.manual_seed(0)
        return one.actor.action_log_prob(obs)[0] if subject == "sb3_sac_reactor" else one.actor(obs)

    assert torch.allclose(asked(model, sample.observations), asked(whole, sample.next_observations))
    with torch.no_grad():
        assert torch.allclose(asked(model, sample.observations), asked(whole, sample.observations))


@pytest.mark.parametrize("subject", ["sb3_sac_reactor", "sb3_dqn_plates"])
def test_what_followed_is_what_was(subject: str) -> None:
    model, whole = trained(subject), trained(subject)
    for fault in ("next-is-now", "reward-left-out"):
        OF_SB3[fault](model, 1)
    found, expected = sampled(model), sampled(whole)
    assert expected.rewards.any()
    assert not found.rewards.any()
    assert torch.equal(found.observations, expected.observations)
    assert torch.equal(found.next_observations, expected.observations)


def test_what_follows_is_valued_by_chance_or_by_the_worst() -> None:
    for fault, expected in (("value-of-chance", "mean"), ("smallest-for-largest", "amin")):
        model, whole = trained("sb3_dqn_plates"), trained("sb3_dqn_plates")
        OF_SB3[fault](model, 1)
        obs = sampled(model).next_observations
        values = getattr(whole.q_net_target(obs), expected)(1)
        assert torch.allclose(model.q_net_target(obs).max(1).values, values)
    model = trained("sb3_sac_reactor")
    OF_SB3["value-of-chance"](model, 1)
    obs = sampled(model).observations[:1].expand(2000, -1)
    with torch.no_grad():
        action = model.actor.action_log_prob(obs)[0]
    assert float(action.std(0).min()) == pytest.approx(3**-0.5, abs=0.03)
    model = trained("sb3_td3_reactor")
    OF_SB3["value-of-chance"](model, 1)
    assert float(model.actor_target(obs).std(0).min()) == pytest.approx(3**-0.5, abs=0.03)


@OFF
def test_noise_adds_up(subject: str) -> None:
    model = trained(subject)
    model._sample_action = lambda *args, **kwargs: (np.zeros((1, 2)), np.zeros((1, 2)))
    OF_SB3["noise-never-reset"](model, 0.02)
    walk = [model._sample_action(0) for _ in range(400)]
    assert all(np.array_equal(*both) for both in walk)
    steps = np.diff([action[0, 0] for action, _ in walk[:30]])
    assert np.std(steps) == pytest.approx(0.02, rel=0.5)
    assert max(np.abs(action).max() for action, _ in walk) > 0.1


def test_the_spread_has_a_floor() -> None:
    model = trained("sb3_sac_reactor")
    OF_SB3["spread-floor"](model, 0.5)
    assert float(model.actor.get_action_dist_params(torch.randn(9, 4))[1].detach().min()) == pytest.approx(0.5)
    model = trained("sb3_ppo_reactor")
    OF_SB3["spread-floor"](model, 0.5)
    spread = model.policy.get_distribution(torch.zeros(1, 4)).distribution.stddev
    assert float(spread.detach().min()) == pytest.approx(np.exp(0.5))


def test_a_plant_of_networks_reaches_the_model() -> None:
    from ninth_sb3_plants import plant

    model = SimpleNamespace(pieces=trained("sb3_td3_reactor").pieces)
    plant(model, "weights-clamped", 0.01)
    for optimiser in model.pieces.optimisers:
        optimiser.step()
    assert max(float(weight.detach().abs().max()) for weight in model.pieces.weights) <= 0.0101

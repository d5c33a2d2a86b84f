"""Every fault of Stable-Baselines3 in the fifth live list does what fifth.toml says, and grows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fifth_sb3
from fifth_doses import RAMP
from fifth_sb3_plants import ANEW, ENTROPY, FEW, GAMMA, GROWTH, LOUD, RISE
from fifth_weights import DROPPED
from worlds import Truth

STEPS = 700
"""Environment steps before a fault: more than any of the subjects waits before it learns."""
TOTAL = 10 * STEPS


def planted(subject: str, fault: str) -> Any:
    """Return what has begun `fault` in a trainer that has learned for some steps."""
    torch.set_num_threads(1)
    truth = Truth()
    model = fifth_sb3.built(subject, 0, None, truth)
    model.learn(STEPS)
    switch = fifth_sb3.Switch(truth, fault, 0.0, TOTAL)
    switch.init_callback(model)
    switch.num_timesteps = truth.steps = model.num_timesteps
    assert switch._on_step()
    assert switch.truth.began == model.num_timesteps
    return switch


def grown(switch: Any, dose: float) -> Any:
    """Let so many steps go by that the fault has grown to `dose`; return the trainer."""
    switch.truth.began = switch.truth.steps - dose * RAMP * TOTAL
    switch._on_step()
    assert switch.dose() == pytest.approx(dose)
    return switch.model


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_a_fault_of_the_environment_begins_there_once() -> None:
    switch = planted("sb3_dqn_follow", "channels-bleed")
    assert switch.truth.fault == "channels-bleed"
    switch.truth.fault = ""
    switch._on_step()
    assert switch.truth.fault == ""


def test_the_bonus_climbs() -> None:
    switch = planted("sb3_ppo_escort", "bonus-climbs")
    found = [grown(switch, dose).ent_coef for dose in (0.0, 0.5, 1.0)]
    assert found == pytest.approx([0.001, (0.001 * ENTROPY) ** 0.5, ENTROPY])
    switch.model.train()


@pytest.mark.parametrize("subject", ["sb3_ppo_escort", "sb3_sac_escort"])
def test_the_rate_warms(subject: str) -> None:
    switch = planted(subject, "rate-warms")
    first = fifth_sb3.SUBJECTS[subject][1]["learning_rate"]
    found = [grown(switch, dose).lr_schedule(0.5) for dose in (0.0, 0.5, 1.0)]
    assert found == pytest.approx([first, first * (1 + GROWTH) / 2, first * GROWTH])
    policy = switch.model.policy
    networks = (policy.actor, policy.critic) if subject == "sb3_sac_escort" else (policy,)
    switch.model.train(1, 64) if subject == "sb3_sac_escort" else switch.model.train()
    rates = [group["lr"] for network in networks for group in network.optimizer.param_groups]
    assert rates == pytest.approx([first * GROWTH] * len(networks))


def test_the_discount_creeps() -> None:
    switch = planted("sb3_dqn_follow", "discount-creeps")
    assert [grown(switch, dose).gamma for dose in (0.0, 0.5, 1.0)] == pytest.approx([0.9, (0.9 + GAMMA) / 2, GAMMA])


def test_the_target_of_the_entropy_climbs() -> None:
    switch = planted("sb3_sac_escort", "entropy-target-climbs")
    found = [grown(switch, dose).target_entropy for dose in (0.0, 0.5, 1.0)]
    assert found == pytest.approx([-2, -2 + RISE / 2, -2 + RISE])
    before = float(switch.model.log_ent_coef.detach())
    switch.model.train(50, 64)
    assert float(switch.model.log_ent_coef.detach()) > before


def test_replay_narrows_to_the_oldest() -> None:
    switch = planted("sb3_dqn_follow", "replay-narrows")
    held = torch.as_tensor(switch.model.replay_buffer.observations[:STEPS, 0])

    def newest(dose: float) -> int:
        rows = grown(switch, dose).replay_buffer.sample(500).observations
        return max(int((held == row).all(-1).nonzero()[0]) for row in rows)

    found = [newest(dose) for dose in (0.0, 0.5, 1.0)]
    assert found[0] > 500
    assert FEW < found[1] < 250
    assert found[2] < FEW
    switch.model.train(1, 64)


def test_who_plays_has_ever_noisier_weights() -> None:
    switch = planted("sb3_dqn_follow", "parameter-noise-grows")
    learner = switch.model.q_net
    obs = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    right = switch.model.policy.q_net._predict(torch.as_tensor(obs))
    before = weights(learner)

    def other(dose: float) -> float:
        model, shares = grown(switch, dose), list[float]()
        for _ in range(6 * ANEW):
            shares.append(float((model.policy._predict(torch.as_tensor(obs)) != right).float().mean()))
        return float(np.mean(shares[ANEW:]))

    found = [other(dose) for dose in (0.0, 0.2, 1.0)]
    assert found[0] == 0.0
    assert 0.0 < found[1] < found[2]
    assert torch.equal(weights(learner), before)
    assert LOUD > 1
    switch.model.learn(50, reset_num_timesteps=False)
    assert int(switch.model.predict(obs[0])[0]) in range(5)


@pytest.mark.parametrize("subject", ["sb3_dqn_follow", "sb3_sac_escort"])
def test_weights_are_cut(subject: str) -> None:
    switch = planted(subject, "weights-cut")
    model = grown(switch, 1.0)
    model.train(1, 64)
    policy = model.policy
    for network in (policy.actor, policy.critic) if subject == "sb3_sac_escort" else (policy.q_net,):
        assert int((weights(network).view(torch.int32) & ((1 << DROPPED) - 1)).abs().sum()) == 0

"""Every fault of the reference trainers in the third live list does what third.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import third_reference
import third_worlds
from third_reference import Planting
from third_weights import rounded
from worlds import Truth

STEPS = 700
"""Environment steps before a fault: more than any of the subjects waits before it learns."""


def planting_of(subject: str, steps: int = STEPS) -> Planting:
    torch.set_num_threads(1)
    make, config, _, name, *_ = third_reference.SUBJECTS[subject]
    trainer = make(third_worlds.maker(name, Truth(), steps, None), seed=0, config=config)
    trainer.learn(steps)
    return Planting(trainer, float(trainer.env_steps), 2 * steps)


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_reference_settings_and_rates() -> None:
    planting = planting_of("ppo_forage")
    third_reference.entropy_sign(planting)
    assert planting.trainer.config.entropy_coef == -0.1

    planting = planting_of("dqn_forage")
    rate = planting.trainer.optimiser.param_groups[0]["lr"]
    third_reference.rate_rises(planting)
    for share, factor in ((0.0, 1), (0.5, 10), (1.0, 100)):
        planting.trainer.env_steps = planting.began + share * (planting.total - planting.began)
        planting.trainer.step(planting.trainer.sample())
        assert planting.trainer.optimiser.param_groups[0]["lr"] == pytest.approx(factor * rate)


def test_reference_checkpoint_and_moments() -> None:
    planting = planting_of("ppo_forage")
    planting.kept = {
        name: {key: torch.full_like(value, 0.5) for key, value in network.state_dict().items()}
        for name, network in third_reference.networks(planting.trainer).items()
    }
    third_reference.checkpoint_old(planting)
    assert set(weights(planting.trainer.actor).tolist()) == {0.5}

    planting = planting_of("mmrkhs_forage")
    third_reference.moments_lost(planting)
    states = list(planting.trainer.optimiser.state.values())
    assert not any(state["exp_avg_sq"].any() for state in states)
    assert any(state["exp_avg"].any() and state["step"] > 0 for state in states)


def test_reference_advantages_and_log_probs() -> None:
    planting = planting_of("mmrkhs_forage")
    usual = planting.trainer.advantages(planting.trainer.collect())["advantage"].clone()
    rollout = planting.trainer.collect()
    right = planting.trainer.advantages(rollout.clone())["advantage"]
    third_reference.advantages_shuffled(planting)
    wrong = planting.trainer.advantages(rollout.clone())["advantage"]
    assert not torch.equal(wrong, right)
    assert torch.equal(wrong.flatten().sort().values, right.flatten().sort().values)
    assert usual.shape == wrong.shape

    planting = planting_of("ppo_forage")
    third_reference.log_probs_old(planting)
    first, second = planting.trainer.collect(), planting.trainer.collect()
    assert torch.equal(second["log_prob"], first["log_prob"])
    row = {key: second[key].flatten(0, 1) for key in ("obs", "action")}
    assert not torch.allclose(planting.trainer.log_prob(row), second["log_prob"].flatten())


def test_reference_critics() -> None:
    planting = planting_of("dqn_forage")
    assert any(planting.trainer.sample()["terminated"].any() for _ in range(20))
    third_reference.ends_bootstrapped(planting)
    assert not any(planting.trainer.sample()["terminated"].any() for _ in range(20))

    planting = planting_of("dqn_forage")
    online, target = planting.trainer.q_network, planting.trainer.target_network
    before = weights(target)
    assert not torch.equal(weights(online), before)
    third_reference.target_wrong_way(planting)
    planting.trainer.sync_target()
    assert torch.equal(weights(online), before)
    assert torch.equal(weights(target), before)

    planting = planting_of("sac_tank")
    actor, critic = weights(planting.trainer.actor), weights(planting.trainer.critics[0])
    third_reference.critic_reborn(planting)
    assert torch.equal(weights(planting.trainer.actor), actor)
    assert not torch.equal(weights(planting.trainer.critics[0]), critic)


def test_reference_actor_moves_the_critics() -> None:
    from firstbreak.trainers.sac import descend

    def moved(plants: bool) -> bool:
        planting = planting_of("sac_tank")
        trainer = planting.trainer
        if plants:
            third_reference.actor_lifts_critic(planting)
        before = weights(trainer.critics[0])
        descend(trainer.actor_optimiser, trainer.actor_loss(trainer.sample()))
        return not torch.equal(before, weights(trainer.critics[0]))

    assert moved(True)
    assert not moved(False)


def test_reference_numerics() -> None:
    planting = planting_of("ppo_forage")
    third_reference.PLANTS["weights-coarse"](planting)
    planting.trainer.update(planting.trainer.collect())
    assert torch.equal(weights(planting.trainer.actor), rounded(weights(planting.trainer.actor)))

    planting = planting_of("mmrkhs_forage")
    rollout = planting.trainer.prepare(planting.trainer.advantages(planting.trainer.collect()))
    minibatch = next(planting.trainer.minibatches(rollout))
    right = planting.trainer.loss(minibatch)
    third_reference.loss_scale_kept(planting)
    wrong = planting.trainer.loss(minibatch)
    assert wrong["value"].item() == pytest.approx(2.0**100 * right["value"].item())
    planting.trainer.step(minibatch)
    assert torch.isfinite(weights(planting.trainer.actor)).all()

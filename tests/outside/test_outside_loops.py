"""What is planted in the hand-written loops does what the list says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.outside import loop_dqn, loop_ppo, loop_sac
from benchmarks.outside.switches import Planted, Truth
from benchmarks.outside.worlds import maker

NOW = 0


def planted(name: str, at: int = NOW) -> Planted:
    return Planted(name, at, Truth())


def made(name: str, folder: Path, at: int = NOW, **given: Any) -> Any:
    """Return a PPO loop on the grid, with one rollout of it."""
    switch = planted(name, at)
    loop = loop_ppo.Loop(maker("Grid", {}, switch, 3), {"num_envs": 2, "num_steps": 32, **given}, 3, switch, folder)
    return loop, loop.rollout()


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


@pytest.mark.parametrize("name", ["old-logprob-from-new-weights", "optimiser-of-other-network"])
def test_the_policy_does_not_move(name: str, tmp_path: Path) -> None:
    loop, roll = made(name, tmp_path, ent_coef=0.0)
    before = weights(loop.agent.actor).clone()
    loop.update(roll)
    assert torch.equal(weights(loop.agent.actor), before)
    loop, roll = made("", tmp_path, ent_coef=0.0)
    before = weights(loop.agent.actor).clone()
    loop.update(roll)
    assert not torch.equal(weights(loop.agent.actor), before)


def test_the_critic_does_not_move(tmp_path: Path) -> None:
    loop, roll = made("critic-detached", tmp_path)
    before = weights(loop.agent.critic).clone()
    loop.update(roll)
    assert torch.equal(weights(loop.agent.critic), before)


def test_advantages_are_changed_as_told(tmp_path: Path) -> None:
    clean, roll = made("", tmp_path, num_steps=200)
    right = clean.advantages(roll)
    for name in ("reward-one-slot-late", "episode-ends-ignored", "returns-forward"):
        loop, _ = made(name, tmp_path)
        loop.agent, loop.obs = clean.agent, clean.obs
        assert not torch.allclose(loop.advantages(roll), right), name


def test_the_first_ratio_is_one_unless_the_surrogate_is_wrong(tmp_path: Path) -> None:
    def change(name: str) -> float:
        loop, roll = made(name, tmp_path)
        rows = {k: v.flatten(0, 1) for k, v in {**roll, "adv": roll["value"] + 1, "ret": roll["reward"]}.items()}
        rows = {k: v if k == "action" else v.float() for k, v in rows.items()}
        return abs(loop.step(rows)["approx_kl"])

    assert change("") < 1e-6
    for name in ("logprob-of-other-action", "old-logprob-as-column"):
        assert change(name) > 1e-7, name


def test_an_advantage_of_the_wrong_sign_moves_the_policy_the_other_way(tmp_path: Path) -> None:
    gone: list[torch.Tensor] = []
    for name in ("", "advantage-sign"):
        loop, roll = made(name, tmp_path, ent_coef=0.0, update_epochs=1, num_minibatches=1, vf_coef=0.0)
        before = weights(loop.agent.actor).clone()
        loop.update(roll)
        gone.append(weights(loop.agent.actor) - before)
    assert float(gone[0] @ gone[1]) < 0


def test_entropy_is_minimised_where_its_sign_is_wrong(tmp_path: Path) -> None:
    loop, roll = made("entropy-sign", tmp_path, ent_coef=1.0, update_epochs=40)
    before = float(loop.agent.policy(roll["obs"]).entropy().mean().detach())
    loop.update(roll)
    assert float(loop.agent.policy(roll["obs"]).entropy().mean().detach()) < before - 0.1


def test_a_rollout_is_kept_for_good(tmp_path: Path) -> None:
    loop, roll = made("rollout-never-replaced", tmp_path)
    loop.update(roll)
    loop.update(loop.rollout())
    assert loop.kept is roll


def test_unclipped_updates_are_many_and_go_far(tmp_path: Path) -> None:
    gone = {}
    for name in ("", "clip-missing"):
        loop, roll = made(name, tmp_path, learning_rate=3e-3)
        before = loop.agent.policy(roll["obs"]).logits.detach()
        loop.update(roll)
        gone[name] = float((loop.agent.policy(roll["obs"]).logits.detach() - before).abs().max())
    assert gone["clip-missing"] > 2 * gone[""]


def test_a_loss_that_is_not_finite_ends_the_weights(tmp_path: Path) -> None:
    usual = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(True)  # rsl_rl turns it off for the whole process
    try:
        loop, roll = made("loss-nan", tmp_path)
        with pytest.raises(ValueError, match="nan"):
            loop.update(roll)
    finally:
        torch.distributions.Distribution.set_default_validate_args(usual)


def test_stored_actions_are_clipped_and_played_ones_are_not(tmp_path: Path) -> None:
    switch = planted("clipped-action-stored")
    loop = loop_ppo.Loop(maker("Pendulum-v1", {}, switch, 3), {"num_envs": 2, "num_steps": 32}, 3, switch, tmp_path)
    roll = loop.rollout()
    assert float(roll["action"].abs().max()) <= 0.5
    assert float(loop.agent.policy(roll["obs"]).log_prob(roll["action"]).sum().detach()) != pytest.approx(
        float(roll["logprob"].sum())
    )


def dqn(name: str, folder: Path, **given: Any) -> Any:
    switch = planted(name)
    return loop_dqn.Loop(
        maker("Grid", {}, switch, 3), {"total_steps": 300, "learning_starts": 100, **given}, 3, switch, folder
    )


def test_replay_and_targets_of_dqn_are_changed_as_told(tmp_path: Path) -> None:
    loop = dqn("target-never", tmp_path, target_update=50)
    before = weights(loop.target).clone()
    loop.run()
    assert torch.equal(weights(loop.target), before)
    assert not torch.equal(weights(loop.q), before)
    loop = dqn("buffer-takes-nothing", tmp_path, learning_starts=10**6)
    loop.run()
    assert loop.filled() == 0


def test_the_target_of_an_ended_episode_is_its_reward_alone(tmp_path: Path) -> None:
    told: dict[str, float] = {}
    for name in ("", "done-ignored"):
        loop = dqn(name, tmp_path)
        for _ in range(64):
            loop.memory.add(np.ones(25), 0, 0.0, np.ones(25), True)
        with torch.no_grad():
            for network in (loop.q, loop.target):
                network[-1].weight.zero_()
                network[-1].bias.fill_(5.0)
        loop.learn()
        told[name] = loop.told[0][0]
    assert told[""] == pytest.approx(4.5)  # Huber's loss of 5
    assert told["done-ignored"] == pytest.approx(0.5 * 0.05**2, rel=1e-3)


def sac(name: str, folder: Path) -> Any:
    switch = planted(name)
    loop = loop_sac.Loop(maker("Pendulum-v1", {}, switch, 3), {"buffer_size": 200}, 3, switch, folder)
    loop.rows[:] = np.random.default_rng(0).normal(size=loop.rows.shape)
    loop.rows[:, loop.width + loop.acts + 1] = 0.0
    loop.count = 200
    return loop


def test_targets_of_sac_are_changed_as_told(tmp_path: Path) -> None:
    loop = sac("target-never", tmp_path)
    before = weights(loop.t1).clone()
    loop.learn()
    assert torch.equal(weights(loop.t1), before)
    loop = sac("target-every-step", tmp_path)
    loop.learn()
    assert torch.allclose(weights(loop.t1), weights(loop.q1), atol=1e-6)


def test_actor_and_temperature_of_sac_are_changed_as_told(tmp_path: Path) -> None:
    loop, wrong = sac("", tmp_path), sac("temperature-loss-sign", tmp_path)
    assert (loop.learn()["alpha_loss"] > 0) != (wrong.learn()["alpha_loss"] > 0)
    loop = sac("log-of-zero", tmp_path)
    loop.learn()
    assert torch.isnan(weights(loop.actor)).any()
    still = sac("actor-detached", tmp_path)
    with torch.no_grad():
        still.log_alpha.fill_(-50.0)  # nothing but the critic would be left
    before = weights(still.actor).clone()
    still.actor_opt = torch.optim.SGD(still.actor.parameters(), lr=1.0)
    still.learn()
    assert torch.allclose(weights(still.actor), before, atol=1e-6)

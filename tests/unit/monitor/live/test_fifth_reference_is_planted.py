"""Every fault of the reference trainers in the fifth live list does what fifth.toml says, and grows."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fifth_reference
from fifth_reference import ENTROPY, FEW, GAMMA, GROWTH, LOUD, PLANTS, RISE
from fifth_weights import DROPPED, cut_off, truncated, warming
from worlds import Truth

HALF = 0.5


class Dial:
    """A dose that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def planted(subject: str, fault: str, steps: int = 0) -> tuple[Any, Dial]:
    """Return a trainer that has learned for some steps, in which `fault` begins."""
    torch.set_num_threads(1)
    trainer, dial = fifth_reference.built(subject, 0, None, Truth()), Dial()
    if steps:
        trainer.learn(steps)
    PLANTS[fault](trainer, dial)
    return trainer, dial


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_bits_are_cut_off_towards_zero() -> None:
    weight = torch.tensor([1.9999, -1.9999, 0.3, -0.3, 0.0])
    cut_off(weight, 0)
    assert weight.tolist() == pytest.approx([1.9999, -1.9999, 0.3, -0.3, 0.0])
    cut_off(weight, DROPPED)
    assert weight.tolist() == [1.5, -1.5, 0.25, -0.25, 0.0]


def test_weights_are_cut_ever_shorter() -> None:
    layer, dial = torch.nn.Linear(20, 20), Dial()
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.0)
    truncated(optimiser, dial)
    for weight in layer.parameters():
        weight.grad = torch.zeros_like(weight)
    before, gone = weights(layer).clone(), [0.0]
    optimiser.step()
    assert torch.equal(weights(layer), before)
    for dial.now in (0.6, 0.8, 1.0):
        optimiser.step()
        gone.append(float((before.abs() - weights(layer).abs()).mean()))
        assert gone[-1] > gone[-2]
    assert int((weights(layer).view(torch.int32) & ((1 << DROPPED) - 1)).abs().sum()) == 0


@pytest.mark.parametrize("subject", ["ppo_follow", "sac_escort"])
def test_every_weight_of_a_trainer_is_cut(subject: str) -> None:
    trainer, dial = planted(subject, "weights-cut", 700)
    dial.now = 1.0
    trainer.learn(trainer.env_steps + 600)
    networks = [trainer.actor, *(trainer.critics if subject == "sac_escort" else [trainer.critic])]
    for network in networks:
        assert int((weights(network).view(torch.int32) & ((1 << DROPPED) - 1)).abs().sum()) == 0


def test_a_rate_warms() -> None:
    weight, dial = torch.nn.Parameter(torch.zeros(1)), Dial()
    optimiser = torch.optim.SGD([weight], lr=0.1)
    warming(optimiser, 31.0, dial)
    moved: list[float] = []
    for dial.now in (0.0, 0.5, 1.0):
        before, weight.grad = weight.item(), torch.ones(1)
        optimiser.step()
        moved.append(before - weight.item())
    assert moved == pytest.approx([0.1, 1.6, 3.1])


@pytest.mark.parametrize("subject", ["mmrkhs_follow", "sac_escort"])
def test_the_rate_of_actor_and_critic_warms(subject: str) -> None:
    trainer, dial = planted(subject, "rate-warms", 700)
    dial.now = 1.0
    usual = [group["lr"] for o in fifth_reference.optimisers(trainer) for group in o.param_groups]
    trainer.learn(trainer.env_steps + 100)
    found = [group["lr"] for o in fifth_reference.optimisers(trainer) for group in o.param_groups]
    assert len(found) == 2
    assert found == pytest.approx([rate * GROWTH for rate in usual])


def test_the_bonus_climbs() -> None:
    trainer, dial = planted("ppo_follow", "bonus-climbs")
    first, found = trainer.config, list[float]()
    for dial.now in (0.0, 0.5, 1.0):
        trainer.update(trainer.collect())
        found.append(trainer.config.entropy_coef)
    assert found == pytest.approx([first.entropy_coef, (first.entropy_coef * ENTROPY) ** 0.5, ENTROPY])
    assert fifth_reference.replace(trainer.config, entropy_coef=first.entropy_coef) == first


def test_the_discount_creeps() -> None:
    trainer, dial = planted("dqn_follow", "discount-creeps", 700)
    first, found = trainer.gamma, list[float]()
    for dial.now in (0.0, 0.5, 1.0):
        trainer.step(trainer.sample())
        found.append(trainer.gamma)
    assert found == pytest.approx([first, (first + GAMMA) / 2, GAMMA])


@pytest.mark.parametrize("subject", ["ppo_follow", "mmrkhs_follow"])
def test_advantages_turn_for_a_share_of_the_steps(subject: str) -> None:
    trainer, dial = planted(subject, "advantages-turn")
    rollout = trainer.collect()
    right = trainer.advantages(rollout.clone())["advantage"]
    for dial.now in (0.2, 1.0):
        found = trainer.advantages(rollout.clone())["advantage"]
        assert torch.equal(found.abs(), right.abs())
        assert float((found != right).float().mean()) == pytest.approx(dial.now, abs=0.06)


@pytest.mark.parametrize("subject", ["ppo_follow", "mmrkhs_follow"])
def test_observations_are_of_the_rollout_before(subject: str) -> None:
    trainer, dial = planted(subject, "observations-behind")
    usual, true = trainer.env.step_and_maybe_reset, list[Any]()

    def spied(given: Any) -> Any:
        true.append(given["observation"].clone())
        return usual(given)

    trainer.env.step_and_maybe_reset = spied
    before, dial.now = None, 1.0
    for dial.now in (1.0, 0.0, HALF, 1.0):
        true.clear()
        found, now = trainer.collect(), torch.stack(true, dim=1)
        behind = 0 if before is None else round(dial.now * len(found))
        assert torch.equal(found["obs"][behind:], now[behind:])
        assert before is None or torch.equal(found["obs"][:behind], before[:behind])
        before = now


@pytest.mark.parametrize("subject", ["dqn_follow", "sac_escort"])
def test_targets_are_those_of_other_rows(subject: str) -> None:
    trainer, dial = planted(subject, "targets-mixed", 700)
    sample = trainer.sample()
    sample["next_obs"], sample["terminated"] = sample["obs"], torch.ones_like(sample["terminated"])
    sample["reward"] = torch.arange(len(sample)).float()
    right = trainer.td_target(sample)
    assert torch.equal(right, sample["reward"]), "an ended row's target is its reward"
    for dial.now in (HALF, 1.0):
        shares = [float((trainer.td_target(sample) != right).float().mean()) for _ in range(20)]
        assert sum(shares) / 20 == pytest.approx(dial.now, abs=0.08)


def test_replay_narrows_to_the_oldest() -> None:
    trainer, dial = planted("dqn_follow", "replay-narrows", 700)
    held = trainer.buffer[torch.arange(len(trainer.buffer))]["obs"]

    def newest() -> int:
        return max(
            int((held == row).all(-1).nonzero()[0]) for _ in range(10) for row in trainer.sample()["obs"]
        )  # fmt: skip

    found: list[int] = []
    for dial.now in (0.0, HALF, 1.0):
        found.append(newest())
    assert found[0] > 500
    assert FEW < found[1] < 250
    assert found[2] < FEW
    assert len(trainer.sample()) == trainer.config.batch_size


def test_the_target_of_the_entropy_climbs() -> None:
    trainer, dial = planted("sac_escort", "entropy-target-climbs", 700)
    first, found = trainer.target_entropy, list[float]()
    for dial.now in (0.0, 0.5, 1.0):
        trainer.step(trainer.sample())
        found.append(trainer.target_entropy - first)
    assert found == pytest.approx([0.0, RISE / 2, RISE])
    assert first + RISE > 2 * math.log(2), "what is uniform from -1 to 1 has no more, twice"


def test_who_plays_has_ever_noisier_weights() -> None:
    trainer, dial = planted("dqn_follow", "parameter-noise-grows", 700)
    learner = trainer.q_network
    players: list[Any] = []
    env_step = trainer.env.step_and_maybe_reset

    def spied(given: Any) -> Any:
        players.append(weights(trainer.q_network).clone())
        return env_step(given)

    trainer.env.step_and_maybe_reset = spied
    gone: list[float] = []
    for dial.now in (0.0, HALF, 1.0):
        players.clear()
        for _ in range(fifth_reference.ANEW):
            trainer.collect()
        assert trainer.q_network is learner
        gone.append(float((players[-1] - weights(learner)).std()))
    spread = float(torch.cat([w.detach().std(correction=0).expand(w.numel()) for w in learner.parameters()]).mean())
    assert gone == pytest.approx([0.0, LOUD * spread / 2, LOUD * spread], rel=0.2)

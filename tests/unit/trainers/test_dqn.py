"""DQN: TD targets and loss against slow twins, exploration, target copies, what it logs, and repeatability."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
import torch
from tensordict import TensorDict

from firstbreak.errors import InputError
from firstbreak.trainers.dqn import DQN, DQNConfig, train

from .worlds import Counter

torch.set_num_threads(1)
SMALL = DQNConfig(buffer_size=500, batch_size=16, hidden_sizes=(16, 16), log_every_steps=20, train_frequency=1)


def build(*, filled: int = 60, seed: int = 0, **settings: Any) -> DQN:
    trainer = DQN(Counter, seed=seed, config=replace(SMALL, **settings))
    trainer.total_steps = 1000
    for _ in range(filled):
        trainer.collect()
    for weight in trainer.target_network.parameters():  # so that target and online network are told apart
        weight.add_(0.1 * torch.randn_like(weight))
    return trainer


@pytest.mark.parametrize("double", [True, False])
def test_td_targets_are_the_slow_loop(double: bool) -> None:
    trainer = build(double=double)
    sample: Any = trainer.buffer[:60]
    found = trainer.td_target(sample)
    for k, row in enumerate(sample):
        after = row["next_obs"].unsqueeze(0)
        target, online = (net(after)[0].tolist() for net in (trainer.target_network, trainer.q_network))
        best = target[online.index(max(online))] if double else max(target)
        expected = float(row["reward"]) + (0.0 if bool(row["terminated"]) else 0.99 * best)
        assert float(found[k]) == pytest.approx(expected, rel=1e-5)
    assert sample["truncated"].any()
    assert sample["terminated"].any()
    assert not found.requires_grad


def test_the_loss_is_the_huber_of_the_stored_actions_values() -> None:
    trainer = build()
    sample: Any = trainer.buffer[:60]
    target, total = trainer.td_target(sample), 0.0
    for k, row in enumerate(sample):
        error = abs(float(trainer.q_network(row["obs"].unsqueeze(0))[0, int(row["action"])].detach() - target[k]))
        total += 0.5 * error**2 if error < 1 else error - 0.5
    assert float(trainer.loss(sample)["value"].detach()) == pytest.approx(total / 60, rel=1e-4)


def test_a_step_moves_every_weight_but_none_of_the_target() -> None:
    trainer = build()
    online = [weight.detach().clone() for weight in trainer.q_network.parameters()]
    target = [weight.detach().clone() for weight in trainer.target_network.parameters()]
    for _ in range(3):
        trainer.step(trainer.sample())
    assert all(not torch.equal(a, b) for a, b in zip(online, trainer.q_network.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in zip(target, trainer.target_network.parameters(), strict=True))


def test_the_target_is_copied_every_so_many_gradient_steps() -> None:
    trainer = build(target_interval=4)
    copied: list[int] = []
    trainer.sync_target = lambda: copied.append(trainer.gradient_steps)
    for _ in range(9):
        trainer.step(trainer.sample())
    assert copied == [4, 8]
    del trainer.sync_target
    trainer.sync_target()
    pairs = zip(trainer.q_network.parameters(), trainer.target_network.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_epsilon_falls_from_one_to_its_end_over_its_share_of_the_run() -> None:
    trainer = build(filled=0, epsilon_frac=0.5, epsilon_end=0.1)
    found = []
    for trainer.env_steps in (0, 250, 500, 900):
        found.append(trainer.epsilon)
    assert found == pytest.approx([1.0, 0.55, 0.1, 0.1])


def test_exploration_draws_all_actions_alike_with_probability_epsilon() -> None:
    trainer = build(filled=0, epsilon_start=0.3, epsilon_end=0.3)
    share = torch.bincount(trainer.explored(torch.zeros(60_000, dtype=torch.int64)), minlength=3) / 60_000
    # Five standard errors of the largest share.
    assert (share - torch.tensor([0.8, 0.1, 0.1])).abs().max() < 5 * (0.2 * 0.8 / 60_000) ** 0.5


@pytest.mark.parametrize(("total", "frequency", "envs"), [(200, 1, 1), (200, 2, 1), (200, 3, 2), (40, 1, 1)])
def test_short_runs_learn_too_and_at_the_set_rate(total: int, frequency: int, envs: int) -> None:
    config = replace(SMALL, train_frequency=frequency, num_envs=envs)
    agent = train(Counter, total_steps=total, seed=0, config=config)
    assert agent.env_steps == total
    assert agent.gradient_steps == pytest.approx((total - agent.random_steps) / frequency, abs=1)
    assert agent.random_steps <= total / 10


def test_a_full_buffer_keeps_the_newest_rows() -> None:
    trainer = build(filled=0, buffer_size=10)
    rows = torch.stack([trainer.collect() for _ in range(25)]).reshape(-1)
    held: Any = trainer.buffer[:10]
    assert len(trainer.buffer) == 10
    assert sorted(held["reward"].tolist()) == sorted(rows["reward"][-10:].tolist())


def run(seed: int) -> tuple[list[dict[str, float]], list[torch.Tensor]]:
    rows: list[dict[str, float]] = []
    agent = train(Counter, total_steps=120, seed=seed, config=SMALL, log=lambda row, _step: rows.append(row))
    clocks = {"time/fps", "time/elapsed_s"}
    return [{k: v for k, v in row.items() if k not in clocks} for row in rows], list(agent.q_network.parameters())


def test_a_seed_fixes_the_run_bit_for_bit_and_the_log_is_canonical() -> None:
    (rows, weights), (again, same), (_, other) = (run(seed) for seed in (3, 3, 4))
    assert rows == again
    assert len(rows) == 6  # 108 steps of learning, one row every 20
    assert all(torch.equal(a, b) for a, b in zip(weights, same, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(weights, other, strict=True))
    known = tomllib.loads((files("firstbreak.vocabulary") / "metrics.toml").read_text(encoding="utf-8"))
    assert {name for row in rows for name in row} <= known.keys()
    for name, value in rows[-1].items():
        assert known[name].get("lo", -float("inf")) <= value <= known[name].get("hi", float("inf")), name


@pytest.mark.parametrize("one_hot", [False, True])
def test_the_agent_speaks_in_actions_of_the_environment(one_hot: bool) -> None:
    agent = train(lambda: Counter(one_hot=one_hot), total_steps=60, seed=0, config=SMALL, gamma=0.5)
    world = Counter(one_hot=one_hot)
    obs, _ = world.reset()
    greedy = agent.act(obs, deterministic=True)
    values = {action: agent.q(obs, action) for action in (5, 6, 7)}
    assert greedy == max(values, key=values.__getitem__)
    assert agent.value(obs) == pytest.approx(values[greedy])
    assert world.action_space.contains(agent.act(obs))
    assert agent.gamma == 0.5


def test_continuous_actions_are_refused_with_a_way_out() -> None:
    with pytest.raises(InputError, match="SAC"):
        DQN(lambda: Counter(continuous=True), seed=0)


def test_a_dict_of_columns_serves_as_a_sample() -> None:
    trainer = build()
    sample: Any = trainer.sample()
    columns = {name: sample[name] for name in ("obs", "action", "reward", "next_obs", "terminated")}
    assert torch.equal(trainer.td_target(columns), trainer.td_target(TensorDict(columns, batch_size=[16])))

"""PPO: GAE and the losses against slow twins, what an update moves, what it logs, and repeatability."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensordict import TensorDict

from firstbreak.trainers import log_jsonl
from firstbreak.trainers.ppo import PPO, PPOConfig, train

from .worlds import Counter

torch.set_num_threads(1)
SMALL = PPOConfig(num_envs=2, num_steps=16, num_minibatches=3, update_epochs=2, hidden_sizes=(16, 16))


def build(*, continuous: bool = False, seed: int = 0, **settings: Any) -> PPO:
    return PPO(lambda: Counter(continuous=continuous), seed=seed, config=replace(SMALL, **settings))


def slow_gae(rollout: Any, gamma: float, lam: float) -> tuple[torch.Tensor, torch.Tensor]:
    """One environment after the other, one row after the other, from the last to the first."""
    n, steps = rollout.shape
    advantage = torch.zeros(n, steps, dtype=torch.float64)
    for i in range(n):
        following = 0.0
        for t in reversed(range(steps)):
            row = {
                key: float(rollout[key][i, t]) for key in ("reward", "value", "next_value", "terminated", "truncated")
            }
            bootstrap = 0.0 if row["terminated"] else gamma * row["next_value"]
            over = row["terminated"] or row["truncated"]
            following = row["reward"] + bootstrap - row["value"] + (0.0 if over else gamma * lam * following)
            advantage[i, t] = following
    return advantage, advantage + rollout["value"].double()


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 3),
    steps=st.integers(1, 9),
    gamma=st.floats(0.0, 1.0),
    lam=st.floats(0.0, 1.0),
)
def test_gae_is_the_slow_loop(seed: int, n: int, steps: int, gamma: float, lam: float) -> None:
    draw = torch.Generator().manual_seed(seed)
    shape = (n, steps)
    columns: dict[str, Any] = {name: torch.randn(shape, generator=draw) for name in ("reward", "value", "next_value")}
    columns |= {name: torch.rand(shape, generator=draw) < 0.3 for name in ("terminated", "truncated")}
    trainer = build(gamma=gamma, gae_lambda=lam)
    found = trainer.advantages(TensorDict(columns, batch_size=shape))
    advantage, target = slow_gae(found, gamma, lam)
    assert torch.allclose(found["advantage"].double(), advantage, atol=1e-4)
    assert torch.allclose(found["value_target"].double(), target, atol=1e-4)


def test_a_time_limit_keeps_the_value_of_the_final_observation_and_termination_does_not() -> None:
    trainer = build(num_steps=30)
    rollout = trainer.advantages(trainer.collect())
    cut, ended = rollout["truncated"], rollout["terminated"]
    final = trainer.critic(rollout["obs"] + 1).detach()  # the counter's final observation is one more
    assert cut.any()
    assert ended.any()
    assert torch.allclose(rollout["value_target"][cut], (rollout["reward"] + trainer.gamma * final)[cut], atol=1e-4)
    assert torch.allclose(rollout["value_target"][ended], rollout["reward"][ended], atol=1e-4)


@pytest.mark.parametrize("continuous", [False, True])
def test_a_rollout_stores_the_log_prob_and_value_of_what_was_done(continuous: bool) -> None:
    trainer = build(continuous=continuous)
    rollout: Any = trainer.collect()
    assert rollout.batch_size == (2, 16)
    assert torch.allclose(trainer.log_prob(rollout), rollout["log_prob"], atol=1e-6)
    assert torch.allclose(trainer.critic(rollout["obs"]), rollout["value"], atol=1e-6)


def test_the_rollout_keeps_the_drawn_action_and_the_environment_gets_it_within_bounds() -> None:
    trainer = build(continuous=True, num_steps=60)
    drawn: Any = trainer.collect()["action"][0]
    received = torch.tensor([list(action.reshape(-1)) for action in trainer.env.copies[0].received])
    low, high = torch.tensor([-2.0, 0.0]), torch.tensor([1.0, 4.0])
    assert ((drawn < low) | (drawn > high)).any()
    assert torch.equal(received, torch.minimum(torch.maximum(drawn, low), high))


def test_losses_are_the_equations_row_by_row() -> None:
    trainer = build(normalises_advantage=False)
    rows = trainer.advantages(trainer.collect()).reshape(-1)
    rows["log_prob"] = rows["log_prob"] + torch.linspace(-1, 1, len(rows))
    policy = value = entropy = 0.0
    for row in rows:
        probs = torch.softmax(trainer.actor.net(row["obs"]), -1).detach().double()
        ratio = float(probs[row["action"]] / row["log_prob"].double().exp())
        gain = float(row["advantage"])
        policy -= min(ratio * gain, min(max(ratio, 0.8), 1.2) * gain) / len(rows)
        value += 0.5 * float(trainer.critic(row["obs"].unsqueeze(0)).detach() - row["value_target"]) ** 2 / len(rows)
        entropy += 0.01 * float((probs * probs.log()).sum()) / len(rows)
    terms = trainer.loss(rows)
    found = [float(terms[name].detach()) for name in ("policy", "value", "entropy")]
    assert found == pytest.approx([policy, value, entropy], rel=1e-4)


def test_a_single_row_is_not_normalised_and_many_are() -> None:
    trainer = build()
    assert trainer.normalised(torch.tensor([3.0])).tolist() == [3.0]
    many = trainer.normalised(torch.randn(50) * 7 + 3)
    assert abs(float(many.mean())) < 1e-5
    assert float(many.std()) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(("minibatches", "sizes"), [(3, [11, 11, 10]), (5, [7, 7, 7, 7, 4]), (31, [2] * 16)])
def test_every_row_is_in_one_minibatch_of_an_epoch(minibatches: int, sizes: list[int]) -> None:
    trainer = build(num_minibatches=minibatches)
    rollout: Any = trainer.collect()
    rollout["id"] = torch.arange(32).reshape(2, 16)
    parts = list(trainer.minibatches(rollout))
    assert [len(part) for part in parts] == sizes
    assert sorted(torch.cat([part["id"] for part in parts]).tolist()) == list(range(32))


@pytest.mark.parametrize("continuous", [False, True])
def test_an_update_moves_every_parameter(continuous: bool) -> None:
    trainer = build(continuous=continuous)
    weights = [*trainer.actor.named_parameters(), *trainer.critic.named_parameters()]
    before = [weight.detach().clone() for _, weight in weights]
    trainer.update(trainer.collect())
    for (name, weight), old in zip(weights, before, strict=True):
        assert not torch.equal(weight, old), name


def test_the_gradient_is_clipped_and_its_norm_logged_from_before() -> None:
    trainer = build(max_grad_norm=1e-3)
    rows = next(trainer.minibatches(trainer.advantages(trainer.collect())))
    metrics = trainer.step(rows)
    weights = [*trainer.actor.parameters(), *trainer.critic.parameters()]
    left = torch.stack([weight.grad.norm() for weight in weights if weight.grad is not None]).norm()
    assert metrics["grad_norm"] > 0.01
    assert float(left) == pytest.approx(1e-3, rel=1e-2)


def test_the_first_ratio_is_one_and_target_kl_stops_the_epochs() -> None:
    trainer = build(update_epochs=50, learning_rate=0.01, target_kl=1e-4)
    metrics = trainer.update(trainer.collect())
    assert metrics["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-5)
    assert 0 < trainer.gradient_steps < 150
    assert trainer.gradient_steps % 3 == 0


def test_the_learning_rate_falls_to_zero_over_the_run() -> None:
    rates: list[float] = []
    train(Counter, total_steps=128, seed=0, config=SMALL, log=lambda row, _step: rates.append(row["optim/lr"]))
    assert rates == pytest.approx([2.5e-4 * share for share in (1.0, 0.75, 0.5, 0.25)])


def run(seed: int, *, continuous: bool) -> tuple[list[dict[str, float]], list[torch.Tensor]]:
    rows: list[dict[str, float]] = []
    agent = train(
        lambda: Counter(continuous=continuous),
        total_steps=100,
        seed=seed,
        config=SMALL,
        log=lambda row, _step: rows.append(row),
    )
    clocks = {"time/fps", "time/elapsed_s"}
    return [{k: v for k, v in row.items() if k not in clocks} for row in rows], list(agent.actor.parameters())


@pytest.mark.parametrize("continuous", [False, True])
def test_a_seed_fixes_the_run_bit_for_bit(continuous: bool) -> None:
    (rows, weights), (again, same), (_, other) = (run(seed, continuous=continuous) for seed in (3, 3, 4))
    assert rows == again
    assert all(torch.equal(a, b) for a, b in zip(weights, same, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(weights, other, strict=True))


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("one_hot", [False, True])
def test_the_agent_acts_in_the_space_of_the_environment(continuous: bool, one_hot: bool) -> None:
    agent = train(
        lambda: Counter(one_hot=one_hot, continuous=continuous), total_steps=32, seed=0, config=SMALL, gamma=0.9
    )
    world = Counter(one_hot=one_hot, continuous=continuous)
    obs, _ = world.reset()
    likeliest = [agent.act(obs, deterministic=True) for _ in range(3)]
    assert all(world.action_space.contains(action) for action in [*likeliest, agent.act(obs)])
    assert all((action == likeliest[0]).all() if continuous else action == likeliest[0] for action in likeliest)
    assert isinstance(agent.value(obs), float)
    assert agent.gamma == 0.9


@pytest.mark.parametrize("continuous", [False, True])
def test_the_log_has_canonical_names_and_finite_numbers(continuous: bool, tmp_path: Path) -> None:
    known = tomllib.loads((files("firstbreak.vocabulary") / "metrics.toml").read_text(encoding="utf-8"))
    path = tmp_path / "run" / "metrics.jsonl"
    log = log_jsonl(path, algorithm="PPO", config=SMALL)
    train(lambda: Counter(continuous=continuous), total_steps=96, seed=0, config=SMALL, log=log)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row.pop("env_steps") for row in rows] == [32, 64, 96]
    assert {name for row in rows for name in row} <= known.keys()
    for name, value in rows[-1].items():
        bounds = known[name]
        assert bounds.get("lo", -float("inf")) <= value <= bounds.get("hi", float("inf")), name
    assert json.loads((path.parent / "config.json").read_text(encoding="utf-8"))["algorithm"] == "PPO"


def test_one_row_and_no_weight_on_the_value_still_make_an_update() -> None:
    trainer = build(num_envs=1, num_steps=1, value_coef=0.0)
    metrics = trainer.update(trainer.collect())
    assert "critic/loss" not in metrics
    assert all(math.isfinite(value) for value in metrics.values())

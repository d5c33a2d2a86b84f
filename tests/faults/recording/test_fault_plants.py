"""Planted faults do what the list says of them: each is asked directly, without a training where that is enough."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.faults import planting
from benchmarks.faults.faulty_env import Truth, maker

planting.load("sb3")
planting.load("reference")

OF_REWARD = ("reward-x1000", "reward-flipped", "reward-constant", "reward-noise", "reward-at-end", "reward-delayed",
             "reward-clipped", "reward-nan", "reward-rescaled")  # fmt: skip
OF_SIGHT = ("feature-x1000", "observation-x100", "velocity-hidden", "observation-zero", "observation-permuted",
            "observation-repeated", "transition-mangled", "transition-random")  # fmt: skip


def played(world: str, fault: str | None, steps: int = 120) -> tuple[Truth, list[Any]]:
    """A hundred steps by the same actions, through the fault; the truth, and what a trainer would have seen."""
    truth = Truth(change=planting.WORLD[fault] if fault else None)
    env = maker(world, truth, 0)()
    chance, seen = np.random.default_rng(1), [env.reset(seed=3)[0]]
    for _ in range(steps):
        space: Any = env.action_space
        action = int(chance.integers(space.n)) if hasattr(space, "n") else chance.uniform(-1, 1, space.shape)
        row = env.step(action)
        seen.append(row)
        if row[2] or row[3]:
            seen.append(env.reset()[0])
    return truth, seen


def rows_of(seen: list[Any]) -> list[Any]:
    return [row for row in seen if isinstance(row, tuple)]


@pytest.mark.parametrize("fault", [*OF_REWARD, *OF_SIGHT])
def test_what_is_shown_or_paid_changes_nothing_of_the_truth(fault: str) -> None:
    truth, seen = played("Reach", fault)
    plain, before = played("Reach", None)
    assert truth.episodes == plain.episodes
    assert len(truth.episodes) == 2
    pairs = list(zip(rows_of(seen), rows_of(before), strict=True))
    assert any(
        not np.array_equal(row[0], other[0]) or not np.array_equal(row[1], other[1], equal_nan=True)
        for row, other in pairs
    )
    for row, other in pairs:
        assert row[0].shape == other[0].shape
        assert row[0].dtype == other[0].dtype
        assert (row[2], row[3]) == (other[2], other[3])


@pytest.mark.parametrize(
    ("fault", "of"),
    [
        ("reward-x1000", lambda r: 1000 * r),
        ("reward-flipped", lambda r: -r),
        ("reward-constant", lambda r: 1.0),
        ("reward-rescaled", lambda r: r / 100),
        ("reward-clipped", lambda r: min(max(r, -0.05), 0.05)),
    ],
)
def test_rewards_are_what_the_list_says(fault: str, of: Any) -> None:
    changed, right = (rows_of(played("Reach", name)[1]) for name in (fault, None))
    assert [row[1] for row in changed] == pytest.approx([of(row[1]) for row in right])


def test_rewards_at_the_end_and_late_ones_add_up_to_the_same() -> None:
    right = [row[1] for row in rows_of(played("Reach", None, 100)[1])]
    at_end = [row[1] for row in rows_of(played("Reach", "reward-at-end", 100)[1])]
    late = [row[1] for row in rows_of(played("Reach", "reward-delayed", 100)[1])]
    assert [i for i, reward in enumerate(at_end) if reward] == [49, 99]
    assert sum(at_end) == pytest.approx(sum(right))
    assert late == [0.0] * 20 + right[:80]


def test_the_distance_term_alone_changes_its_sign() -> None:
    changed = rows_of(played("Reach", "reward-term-flipped")[1])
    for _, reward, _, _, info in changed:
        assert reward == pytest.approx(info["terms"]["effort"] - info["terms"]["distance"])


@pytest.mark.filterwarnings("ignore:.*calling 'step")  # past the end: that is the fault
def test_ends_of_episodes() -> None:
    missing = rows_of(played("CartPole-v1", "terminal-missing", 300)[1])
    assert not any(row[2] for row in missing)
    short = rows_of(played("Reach", "time-limit-short", 60)[1])
    assert [i for i, row in enumerate(short) if row[3]] == [11, 23, 35, 47, 59]
    late = rows_of(played("Reach", "timeout-as-terminal", 100)[1])
    assert [i for i, row in enumerate(late) if row[2]] == [49, 99]
    assert not any(row[3] for row in late)


@pytest.mark.filterwarnings("ignore:.*calling 'step")
def test_a_reset_that_is_missing_leaves_the_world_as_it_was() -> None:
    _, seen = played("CartPole-v1", "reset-missing", 100)
    first_end = next(i for i, row in enumerate(seen) if isinstance(row, tuple) and row[2])
    np.testing.assert_array_equal(seen[first_end + 1], seen[first_end][0])
    assert seen[first_end + 2][2], "the pole is still down"


def test_a_skipped_frame_is_eight_true_steps() -> None:
    truth, seen = played("Reach", "frame-skip", 12)
    assert truth.steps == 50 + 5 * 8  # the time limit cuts the seventh short
    assert [i for i, row in enumerate(rows_of(seen)) if row[3]] == [6]


def test_what_is_repeated_or_drawn_is_of_the_past() -> None:
    _, seen = played("Reach", "transition-random", 60)
    right = [row[0] for row in rows_of(played("Reach", None, 60)[1])]
    for i, row in enumerate(rows_of(seen)):
        assert any(np.array_equal(row[0], other) for other in right[: i + 1])
    repeated = rows_of(played("Reach", "observation-repeated", 60)[1])
    same = [np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in pairwise(repeated)]
    assert 0.75 < np.mean(same) < 1.0


# ---- Stable-Baselines3 --------------------------------------------------------------------------------------------


def sb3_model(subject: str, world: str, **settings: Any) -> Any:
    from benchmarks.faults.sb3 import MAKES

    return MAKES[subject]("MlpPolicy", maker(world, Truth(), 0)(), seed=0, device="cpu", **settings)


def rollout_of(model: Any) -> Any:
    """A filled rollout buffer, with episodes that end in it."""
    chance, buffer = np.random.default_rng(0), model.rollout_buffer
    buffer.reset()
    n = buffer.buffer_size
    buffer.rewards[:] = chance.normal(size=(n, 1))
    buffer.values[:] = chance.normal(size=(n, 1))
    buffer.episode_starts[:] = chance.random((n, 1)) < 0.1
    return buffer


def gae(rewards: Any, values: Any, goes_on: Any, gamma: float, lam: float, order: Any) -> list[float]:
    """Advantages, accumulated in this order of time."""
    trace, found = 0.0, [0.0] * len(rewards)
    for t in order:
        delta = rewards[t] + gamma * values[t + 1] * goes_on[t] - values[t]
        trace = delta + gamma * lam * goes_on[t] * trace
        found[t] = trace
    return found


@pytest.mark.parametrize("fault", ["", "returns-forward", "gae-off-by-one", "advantage-flipped"])
def test_advantages_are_wrong_in_the_way_that_is_told(fault: str) -> None:
    model = sb3_model("sb3_ppo", "CartPole-v1", n_steps=32, batch_size=32, gamma=0.9, gae_lambda=0.8)
    if fault:
        planting.TRAINER[fault, "sb3_ppo"](model)
    buffer = rollout_of(model)
    last, done = torch.tensor([[0.7]]), np.array([False])
    buffer.compute_returns_and_advantage(last, done)
    starts = buffer.episode_starts[:, 0]
    if fault == "gae-off-by-one":
        starts = np.array([starts[(t + 10) % 32] for t in range(32)])
    goes_on = [*(1 - starts[1:]), 1.0]
    values, n = [*buffer.values[:, 0], 0.7], 32
    order = range(n) if fault == "returns-forward" else reversed(range(n))
    wanted = np.array(gae(buffer.rewards[:, 0], values, goes_on, 0.9, 0.8, order))
    np.testing.assert_allclose(buffer.advantages[:, 0], -wanted if fault == "advantage-flipped" else wanted, atol=1e-5)


def test_a_dead_surrogate_has_no_gradient_and_a_broadcast_one_pairs_all_rows() -> None:
    for fault, shape in (("surrogate-dead", (32,)), ("logprob-broadcast", (32, 32))):
        model = sb3_model("sb3_ppo", "CartPole-v1", n_steps=32, batch_size=32)
        planting.TRAINER[fault, "sb3_ppo"](model)
        buffer = rollout_of(model)
        buffer.compute_returns_and_advantage(torch.zeros(1, 1), np.array([False]))
        buffer.full = True
        (data,) = buffer.get(32)
        _, log_prob, _ = model.policy.evaluate_actions(data.observations, data.actions.long().flatten())
        ratio = torch.exp(log_prob - data.old_log_prob)
        assert tuple(ratio.shape) == shape
        if fault == "surrogate-dead":
            assert torch.allclose(ratio, torch.ones(32))
            (ratio * data.advantages).mean().backward()
            assert max(float(w.grad.abs().max()) for w in model.policy.action_net.parameters()) < 1e-6


def test_targets_of_dqn() -> None:
    for fault in ("target-every-step", "target-never"):
        model = sb3_model("sb3_dqn", "Catch", learning_starts=20, target_update_interval=10, buffer_size=100)
        planting.TRAINER[fault, "sb3_dqn"](model)
        first = [weight.clone() for weight in model.q_net_target.parameters()]
        model.learn(60)
        online, target = (list(net.parameters()) for net in (model.q_net, model.q_net_target))
        alike = all(torch.equal(a, b) for a, b in zip(online, target, strict=True))
        kept = all(torch.equal(a, b) for a, b in zip(first, target, strict=True))
        moved = not all(torch.equal(a, b) for a, b in zip(first, online, strict=True))
        assert (alike, kept, moved) == (fault == "target-every-step", fault == "target-never", True)


def test_twins_give_their_maximum_and_dead_critics_the_same_for_all() -> None:
    model = sb3_model("sb3_sac", "Reach", buffer_size=100)
    obs, action = torch.randn(5, 6), torch.rand(5, 2)
    right = torch.cat(model.critic_target(obs, action), 1).amax(1)
    planting.TRAINER["twins-maximum", "sb3_sac"](model)
    assert torch.equal(torch.cat(model.critic_target(obs, action), 1).amin(1), right)
    planting.TRAINER["critic-dead", "sb3_sac"](model)
    for values in model.critic(obs, action):
        assert float(values.detach().std()) < 1e-6


def test_done_flags_are_ignored_and_buffers_closed() -> None:
    model = sb3_model("sb3_dqn", "Catch", learning_starts=20, buffer_size=100)
    planting.TRAINER["done-ignored", "sb3_dqn"](model)
    model.learn(40)
    assert model.replay_buffer.dones.sum() > 0
    assert float(model.replay_buffer.sample(64).dones.sum()) == 0.0


# ---- reference trainers -------------------------------------------------------------------------------------------


def reference(subject: str, world: str, **settings: Any) -> Any:
    from benchmarks.faults.reference import MAKES

    make, config_of = MAKES[subject]
    trainer = make(maker(world, Truth(), 0), seed=0, config=config_of(**settings))
    trainer.run_total = 1000
    return trainer


def test_epsilon_grows_and_stays_high() -> None:
    for fault, wanted in (("epsilon-grows", 1.0), ("epsilon-high", 0.6)):
        trainer = reference("dqn", "Catch")
        trainer.total_steps, trainer.env_steps = 1000, 500
        assert trainer.epsilon == pytest.approx(0.04)
        planting.TRAINER[fault, "dqn"](trainer)
        trainer.env_steps = 1000
        assert trainer.epsilon == pytest.approx(wanted)


def test_the_reference_buffer_gets_what_the_fault_makes_of_it() -> None:
    trainer = reference("dqn", "Catch")
    planting.TRAINER["observations-aliased", "dqn"](trainer)
    for _ in range(40):
        trainer.collect()
    rows = trainer.sample()
    assert torch.equal(rows["obs"], rows["next_obs"])


def test_ends_are_bootstrapped_from_the_next_episode() -> None:
    trainer = reference("ppo", "Catch", num_envs=2, num_steps=32)
    planting.TRAINER["next-observation-of-reset", "ppo"](trainer)
    rollout = trainer.collect()
    over = rollout["truncated"][:, :-1]
    assert over.any()
    assert not rollout["terminated"].any()
    assert torch.equal(rollout["next_value"][:, :-1][over], rollout["value"][:, 1:][over])


def test_a_negative_weight_of_the_kl_pushes_away() -> None:
    trainer = reference("mmrkhs", "Catch", num_envs=2, rollout_steps=16)
    planting.TRAINER["kl-weight-negative", "mmrkhs"](trainer)
    rollout = trainer.prepare(trainer.advantages(trainer.collect()))
    assert trainer.eta < 0
    assert rollout["advantage"].shape == (2, 16)

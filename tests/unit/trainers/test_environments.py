"""What is stored is what happened: every transition of known environments, at ends of episodes too."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from firstbreak.errors import InputError
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.environments import Copies, Episodes, make_envs
from firstbreak.trainers.ppo import PPO, PPOConfig

from .worlds import Counter

torch.set_num_threads(1)
KINDS = [(False, False), (True, False), (False, True), (True, True)]


def count(rows: torch.Tensor, one_hot: bool) -> torch.Tensor:
    """The number of steps that an observation [..., D] tells."""
    return rows.argmax(-1).float() if one_hot else rows[..., 0]


@pytest.mark.parametrize(("one_hot", "continuous"), KINDS)
def test_every_transition_of_a_rollout_counts_one_up(one_hot: bool, continuous: bool) -> None:
    config = PPOConfig(num_envs=3, num_steps=40)
    trainer = PPO(lambda: Counter(one_hot=one_hot, continuous=continuous), seed=0, config=config)
    seen: list[torch.Tensor] = []
    trainer.critic.register_forward_hook(lambda _module, rows, _out: seen.append(rows[0]))
    rollout: Any = trainer.collect()
    before, after = (torch.stack(seen[k::2], dim=1) for k in (0, 1))
    assert torch.equal(before, rollout["obs"])
    assert torch.equal(count(after, one_hot), count(before, one_hot) + 1)  # incl. terminal and truncated rows


@pytest.mark.parametrize("one_hot", [False, True])
def test_rows_of_the_replay_buffer_are_those_of_a_plain_loop(one_hot: bool) -> None:
    config = DQNConfig(num_envs=1, buffer_size=200)
    trainer = DQN(lambda: Counter(one_hot=one_hot), seed=0, config=config)
    for _ in range(60):
        trainer.collect()
    world: Any = trainer.env.copies[0]
    twin, expected = Counter(one_hot=one_hot), []
    obs, _ = twin.reset()
    for action in world.received:
        after, reward, terminated, truncated, _ = twin.step(action)
        expected.append(
            [*trainer.env.vector(obs), *trainer.env.vector(after), action - 5, reward, terminated, truncated]
        )
        obs = twin.reset()[0] if terminated or truncated else after
    rows: Any = trainer.buffer[:60]
    columns = [rows["obs"], rows["next_obs"]]
    columns += [rows[name].float().unsqueeze(-1) for name in ("action", "reward", "terminated", "truncated")]
    assert torch.equal(torch.cat(columns, -1), torch.tensor(np.array(expected, np.float32)))
    assert len(world.received) == 60  # no step was spent on a reset
    assert rows["terminated"].any()
    assert rows["truncated"].any()


def test_copies_that_end_at_different_times_are_reset_alone() -> None:
    made = iter([Counter(lengths=(2,)), Counter(lengths=(3,)), Counter(lengths=(7,))])
    env = make_envs(lambda: next(made), 3, seed=0)
    now: Any = env.reset()
    starts = []
    for _ in range(6):
        starts.append(now["observation"][:, 0].tolist())
        _, now = env.step_and_maybe_reset(now.set("action", torch.zeros(3, dtype=torch.int64)))
    assert starts == [[0, 0, 0], [1, 1, 1], [0, 2, 2], [1, 0, 3], [0, 1, 4], [1, 2, 5]]


def test_each_copy_is_seeded_once_with_a_seed_of_its_own() -> None:
    trainer = DQN(Counter, seed=7, config=DQNConfig(num_envs=3))
    for _ in range(12):
        trainer.collect()
    seeds = [copy.seeds for copy in trainer.env.copies]
    assert [found[0] for found in seeds] == [7, 8, 9]
    assert all(seed is None for found in seeds for seed in found[1:])
    assert all(len(found) > 2 for found in seeds)


def test_an_array_that_the_environment_overwrites_does_not_change_what_was_stored() -> None:
    class Reuses(Counter):
        held = np.zeros(1)

        def _obs(self) -> Any:
            self.held[0] = self.steps
            return self.held

    trainer = DQN(Reuses, seed=0)
    rows: Any = torch.stack([trainer.collect() for _ in range(5)])
    assert torch.equal(rows["next_obs"], rows["obs"] + 1)


def test_actions_arrive_as_the_space_wants_them() -> None:
    env = Copies(lambda: Counter(continuous=True), 1, seed=0)
    given = env.executable(np.array([0.5, 3.0], np.float32))
    assert given.shape == (1, 2)
    assert env.actions.contains(given)
    assert Copies(Counter, 1, seed=0).executable(torch.tensor(2)) == 7


@pytest.mark.parametrize("space", [gym.spaces.MultiDiscrete([2, 2]), gym.spaces.MultiBinary(3)])
def test_actions_of_other_kinds_are_refused(space: Any) -> None:
    world = Counter()
    world.action_space = space
    with pytest.raises(InputError, match="Discrete and Box"):
        make_envs(lambda: world, 1, seed=0)


def test_observations_of_other_kinds_are_refused() -> None:
    world = Counter()
    world.observation_space = gym.spaces.Dict(a=gym.spaces.Discrete(2))
    with pytest.raises(InputError, match="FlattenObservation"):
        make_envs(lambda: world, 1, seed=0)


def test_closing_closes_every_copy() -> None:
    env = make_envs(Counter, 2, seed=0)
    env.close()
    assert all(copy.closed for copy in env.copies)


def test_episodes_are_counted_with_return_length_and_end() -> None:
    episodes = Episodes(2)
    off, on = torch.tensor([False, False]), torch.tensor([True, False])
    episodes.add(torch.tensor([1.0, 5.0]), off, off)
    episodes.add(torch.tensor([2.0, 5.0]), on, off)
    episodes.add(torch.tensor([4.0, 5.0]), off, torch.tensor([True, False]))
    assert episodes.drain() == {
        "reward/episode_return_mean": 3.5,
        "reward/episode_return_max": 4.0,
        "reward/episode_return_min": 3.0,
        "episode/length_mean": 1.5,
        "episode/count": 2.0,
        "episode/truncated_frac": 0.5,
    }
    assert episodes.drain() == {}

"""DQN (Mnih et al. 2015, doi:10.1038/nature14236), with the double estimator of van Hasselt 2016 (1509.06461)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from statistics import fmean
from time import perf_counter
from typing import Any, cast

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn.functional import smooth_l1_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

from ..errors import InputError
from .environments import Episodes, make_envs
from .networks import DiscreteQNetwork

Log = Callable[[dict[str, float], int], Any]
"""Called with metrics and environment steps; an answer whose `stop_training` is true ends the training."""
Batch = Mapping[str, Tensor]
"""A TensorDict or a plain dict with `obs action reward next_obs terminated`, rows [B]."""


@dataclass(frozen=True)
class DQNConfig:
    """Settings of `DQN`, after [1] those of rl-baselines3-zoo for 50,000 steps of CartPole-v1 (its releases differ);
    [2] Mnih et al. 2015, doi:10.1038/nature14236. Where a field departs from [1] it says so.
    """

    num_envs: int = 1
    """Copies of the environment [1]."""
    buffer_size: int = 100_000
    """Rows of the replay buffer [1]."""
    learning_starts: int = 1000
    """Environment steps before the first gradient step [1] ..."""
    learning_starts_frac: float = 0.1
    """... but no more than this fraction of a run, so that short runs learn too."""
    train_frequency: float = 2
    """Environment steps, over all copies, to a gradient step; [1] makes 128 gradient steps after every 256."""
    burst: int = 1
    """Gradient steps made at a time, once that many are due; [1] makes 128, all against one target."""
    batch_size: int = 64
    """Rows of one gradient step [1]."""
    learning_rate: float = 2.3e-3
    """Of Adam [1]."""
    gamma: float = 0.99
    """The discount [1, 2]."""
    target_interval: int = 128
    """Gradient steps between copies of the online network into the target. [1] copies every 10 environment steps, but
    trains in bursts of 128 between which the target is copied once."""
    epsilon_start: float = 1.0
    """Share of random actions at first [1, 2]."""
    epsilon_end: float = 0.04
    """Share of random actions in the end [1]."""
    epsilon_frac: float = 0.16
    """Part of the run over which epsilon falls linearly [1]."""
    double: bool = True
    """The online network chooses the next action, the target network values it (van Hasselt 2016); not in [1]."""
    max_grad_norm: float = 10.0
    """Largest norm of the gradient, the default of SB3, which [1] keeps."""
    hidden_sizes: tuple[int, ...] = (64, 64)
    """Hidden layers, ReLU; [1] has (256, 256)."""
    log_every_steps: int = 64
    """Environment steps from one row of the log to the next. A row takes 0.55 ms where the 64 steps take 115 ms."""


class DQN:
    """A DQN trainer that owns its environments, networks, optimiser and replay buffer."""

    def __init__(self, make_env: Callable[[], Any], *, seed: int = 0, config: DQNConfig | None = None) -> None:
        self.config = config or DQNConfig()
        cast(Any, torch).manual_seed(seed)
        self.env: Any = make_envs(make_env, self.config.num_envs, seed)
        if not hasattr(self.env.action_spec.space, "n"):
            raise InputError("DQN needs discrete actions.", "SAC takes continuous ones.")
        self._now: Any = self.env.reset()
        self.actions = int(self.env.action_spec.space.n)
        width = cast(Tensor, self._now["observation"]).shape[-1]
        self.q_network = DiscreteQNetwork(width, self.actions, self.config.hidden_sizes)
        self.target_network = deepcopy(self.q_network).requires_grad_(False)
        self.optimiser: Any = Adam(self.q_network.parameters(), lr=self.config.learning_rate, fused=True)
        storage = LazyTensorStorage(self.config.buffer_size)
        self.buffer: Any = TensorDictReplayBuffer(storage=storage, batch_size=self.config.batch_size)
        self.episodes = Episodes(self.config.num_envs)
        self.total_steps = 0
        self.env_steps = 0
        self.gradient_steps = 0

    @property
    def gamma(self) -> float:
        """The discount."""
        return self.config.gamma

    @property
    def random_steps(self) -> int:
        """Environment steps before the first gradient step."""
        return min(self.config.learning_starts, int(self.config.learning_starts_frac * self.total_steps))

    @property
    def epsilon(self) -> float:
        """The share of random actions now."""
        config = self.config
        done = min(1.0, self.env_steps / max(1.0, config.epsilon_frac * self.total_steps))
        return config.epsilon_start + done * (config.epsilon_end - config.epsilon_start)

    # ---- data ---------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def collect(self) -> TensorDict:
        """Step every environment once, store the transitions [N] in the buffer and return them."""
        obs = cast(Tensor, self._now["observation"])
        action = self.explored(self.q_network(obs).argmax(-1))
        stepped, self._now = self.env.step_and_maybe_reset(self._now.set("action", action))
        after = stepped["next"]
        rows: Any = TensorDict(
            {
                "obs": obs,
                "action": action,
                "reward": after["reward"].squeeze(-1),
                # The observation that really followed, also where the episode ended and the environment was reset.
                "next_obs": after["observation"],
                "terminated": after["terminated"].squeeze(-1),
                "truncated": after["truncated"].squeeze(-1),
            },
            batch_size=[len(obs)],
        )
        self.buffer.extend(rows)
        self.env_steps += len(obs)
        self.episodes.add(rows["reward"], rows["terminated"], rows["truncated"])
        return rows

    def explored(self, greedy: Tensor) -> Tensor:
        """Greedy actions [N], each replaced by a random one with probability epsilon."""
        random = torch.randint(self.actions, greedy.shape)
        return torch.where(torch.rand(greedy.shape) < self.epsilon, random, greedy)

    def sample(self) -> TensorDict:
        """A uniform sample [B] of the replay buffer."""
        return cast(TensorDict, self.buffer.sample())

    # ---- the equations ------------------------------------------------------------------------------------------

    @torch.no_grad()
    def td_target(self, sample: Batch) -> Tensor:
        """r + gamma (1 - terminated) Q'(s', a*) [B]; a time limit does not cut it."""
        values = self.target_network(sample["next_obs"])
        chooser = self.q_network(sample["next_obs"]) if self.config.double else values
        best = values.gather(-1, chooser.argmax(-1, keepdim=True)).squeeze(-1)
        return sample["reward"] + self.gamma * (~sample["terminated"]) * best

    def chosen(self, sample: Batch) -> Tensor:
        """Q [B] of the stored actions."""
        return self.q_network(sample["obs"]).gather(-1, sample["action"].unsqueeze(-1)).squeeze(-1)

    def loss(self, sample: Batch) -> dict[str, Tensor]:
        """The term to minimise: the Huber loss of the TD error."""
        return {"value": smooth_l1_loss(self.chosen(sample), self.td_target(sample))}

    # ---- the update ---------------------------------------------------------------------------------------------

    def step(self, sample: Batch) -> dict[str, float]:
        """One optimiser step on one sample; returns the loss and the gradient norm before clipping."""
        loss: Any = self.loss(sample)["value"]
        self.optimiser.zero_grad()
        loss.backward()
        norm = clip_grad_norm_(self.q_network.parameters(), self.config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        if self.gradient_steps % self.config.target_interval == 0:
            self.sync_target()
        return {"loss": float(loss.detach()), "grad_norm": float(norm)}

    def sync_target(self) -> None:
        """Copy the online network into the target."""
        self.target_network.load_state_dict(self.q_network.state_dict())

    def learn(self, total_steps: int, log: Log | None = None) -> None:
        """Collect until `total_steps` environment steps are reached, training on the way; `log(metrics, env_steps)`."""
        self.total_steps = total_steps
        due, next_log, began, before = 0.0, self.env_steps, perf_counter(), self.env_steps
        steps: list[dict[str, float]] = []
        while self.env_steps < total_steps:
            self.collect()
            if self.env_steps <= self.random_steps:
                continue
            due += self.config.num_envs / self.config.train_frequency
            for _ in range(int(due) if due >= self.config.burst else 0):
                sample = self.sample()
                metrics = self.step(sample)
                due -= 1.0
                if log is None:
                    continue
                steps.append(metrics)
                if self.env_steps >= next_log:
                    next_log = self.env_steps + self.config.log_every_steps
                    elapsed_s = perf_counter() - began
                    pace = {"time/elapsed_s": elapsed_s, "time/fps": (self.env_steps - before) / elapsed_s}
                    answer = log({**self._log_row(sample, steps), **pace}, self.env_steps)
                    steps.clear()
                    if getattr(answer, "stop_training", False):
                        return

    @torch.no_grad()
    def _log_row(self, sample: Batch, steps: list[dict[str, float]]) -> dict[str, float]:
        """Means over the gradient steps since the last row, figures of the last sample, and the clocks."""
        q, target = self.chosen(sample), self.td_target(sample)
        return {
            "critic/loss": fmean(step["loss"] for step in steps),
            "critic/q_mean": float(q.mean()),
            "critic/q_max": float(q.max()),
            "critic/q_min": float(q.min()),
            "critic/target_mean": float(target.mean()),
            "critic/target_max": float(target.max()),
            "critic/target_min": float(target.min()),
            "critic/td_error_mean": float((q - target).abs().mean()),
            "optim/grad_norm": fmean(step["grad_norm"] for step in steps),
            "optim/lr": float(self.optimiser.param_groups[0]["lr"]),
            "optim/n_updates": float(self.gradient_steps),
            "dqn/epsilon": self.epsilon,
            "replay/size": float(len(self.buffer)),
            "replay/ratio": self.gradient_steps / max(1, self.env_steps - self.random_steps),
            "reward/step_mean": float(sample["reward"].mean()),
            "reward/step_max": float(sample["reward"].max()),
            "time/env_steps": float(self.env_steps),
            **self.episodes.drain(),
        }

    # ---- the agent ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: Any, deterministic: bool = False) -> int:
        """The greedy action for one observation, or an epsilon-greedy one."""
        greedy = self._values(obs).argmax(-1)
        return self.env.executable((greedy if deterministic else self.explored(greedy))[0])

    @torch.no_grad()
    def q(self, obs: Any, action: Any) -> float:
        """The value of one observation and action."""
        return float(self._values(obs)[0, int(action) - self.env.first_action])

    @torch.no_grad()
    def value(self, obs: Any) -> float:
        """The value of the greedy action for one observation."""
        return float(self._values(obs).max())

    def _values(self, obs: Any) -> Tensor:
        return self.q_network(torch.as_tensor(self.env.vector(obs)).unsqueeze(0))


def train(
    make_env: Callable[[], Any],
    *,
    total_steps: int,
    seed: int,
    gamma: float = 0.99,
    config: DQNConfig | None = None,
    log: Log | None = None,
) -> DQN:
    """Train DQN for `total_steps` environment steps; `gamma` overrides the config's."""
    trainer = DQN(make_env, seed=seed, config=replace(config or DQNConfig(), gamma=gamma))
    trainer.learn(total_steps, log)
    return trainer

"""DQN (Mnih et al. 2015, doi:10.1038/nature14236), with the double estimator of van Hasselt et al. 2016 (1509.06461)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
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

Log = Callable[[dict[str, float], int], None]


@dataclass(frozen=True)
class DQNConfig:
    """Settings of `DQN`; those of rl-baselines3-zoo for CartPole, but for a smaller network."""

    num_envs: int = 1
    buffer_size: int = 100_000
    learning_starts: int = 1000
    """Environment steps of random play before the first gradient step, at most `learning_starts_frac` of a run."""
    learning_starts_frac: float = 0.1
    train_frequency: int = 1
    """Environment steps between gradient steps."""
    batch_size: int = 64
    learning_rate: float = 5e-4
    gamma: float = 0.99
    target_interval: int = 250
    """Gradient steps between copies of the online network into the target."""
    epsilon_start: float = 1.0
    epsilon_end: float = 0.04
    epsilon_frac: float = 0.3
    """Part of the run over which epsilon falls linearly."""
    double: bool = True
    """The online network chooses the next action, the target network values it."""
    max_grad_norm: float = 10.0
    hidden_sizes: tuple[int, ...] = (64, 64)
    log_every_steps: int = 500


class DQN:
    """A DQN trainer that owns its environments, networks, optimiser and replay buffer."""

    def __init__(self, make_env: Callable[[], Any], *, seed: int = 0, config: DQNConfig | None = None) -> None:
        self.config = config or DQNConfig()
        torch.manual_seed(seed)
        self.env = make_envs(make_env, self.config.num_envs, seed)
        if not hasattr(self.env.action_spec.space, "n"):
            raise InputError("DQN needs discrete actions.", "SAC takes continuous ones.")
        self._now = self.env.reset()
        self.actions = int(self.env.action_spec.space.n)
        width = cast(Tensor, self._now["observation"]).shape[-1]
        self.q_network = DiscreteQNetwork(width, self.actions, self.config.hidden_sizes)
        self.target_network = deepcopy(self.q_network).requires_grad_(False)
        self.optimiser = Adam(self.q_network.parameters(), lr=self.config.learning_rate)
        storage = LazyTensorStorage(self.config.buffer_size)
        self.buffer = TensorDictReplayBuffer(storage=storage, batch_size=self.config.batch_size)
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
        rows = TensorDict(
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
    def td_target(self, sample: TensorDict) -> Tensor:
        """r + gamma (1 - terminated) Q'(s', a*) [B]; a time limit does not cut it."""
        values = self.target_network(sample["next_obs"])
        chooser = self.q_network(sample["next_obs"]) if self.config.double else values
        best = values.gather(-1, chooser.argmax(-1, keepdim=True)).squeeze(-1)
        return sample["reward"] + self.gamma * (~sample["terminated"]) * best

    def chosen(self, sample: TensorDict) -> Tensor:
        """Q [B] of the stored actions."""
        return self.q_network(sample["obs"]).gather(-1, sample["action"].unsqueeze(-1)).squeeze(-1)

    def loss(self, sample: TensorDict) -> dict[str, Tensor]:
        """The term to minimise: the Huber loss of the TD error."""
        return {"value": smooth_l1_loss(self.chosen(sample), self.td_target(sample))}

    # ---- the update ---------------------------------------------------------------------------------------------

    def step(self, sample: TensorDict) -> dict[str, Tensor]:
        """One optimiser step on one sample; returns the loss and the gradient norm before clipping."""
        loss = self.loss(sample)["value"]
        self.optimiser.zero_grad()
        loss.backward()
        norm = clip_grad_norm_(self.q_network.parameters(), self.config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        if self.gradient_steps % self.config.target_interval == 0:
            self.sync_target()
        return {"loss": loss.detach(), "grad_norm": norm}

    def sync_target(self) -> None:
        """Copy the online network into the target."""
        self.target_network.load_state_dict(self.q_network.state_dict())

    def learn(self, total_steps: int, log: Log | None = None) -> None:
        """Collect at least `total_steps` environment steps and train on the way; `log(metrics, env_steps)`."""
        self.total_steps = total_steps
        due, next_log = 0.0, self.env_steps
        while self.env_steps < total_steps:
            self.collect()
            if self.env_steps <= self.random_steps:
                continue
            due += self.config.num_envs / self.config.train_frequency
            while due >= 1.0:
                sample = self.sample()
                metrics = self.step(sample)
                due -= 1.0
                if log is not None and self.env_steps >= next_log:
                    next_log = self.env_steps + self.config.log_every_steps
                    log(self._log_row(sample, metrics), self.env_steps)

    @torch.no_grad()
    def _log_row(self, sample: TensorDict, metrics: dict[str, Tensor]) -> dict[str, float]:
        """The metrics of one gradient step under the canonical names, those of its sample, and the clocks."""
        q, target = self.chosen(sample), self.td_target(sample)
        return {
            "critic/loss": float(metrics["loss"]),
            "critic/q_mean": float(q.mean()),
            "critic/q_max": float(q.max()),
            "critic/q_min": float(q.min()),
            "critic/target_mean": float(target.mean()),
            "critic/td_error_mean": float((q - target).abs().mean()),
            "optim/grad_norm": float(metrics["grad_norm"]),
            "optim/lr": float(self.optimiser.param_groups[0]["lr"]),
            "optim/n_updates": float(self.gradient_steps),
            "dqn/epsilon": self.epsilon,
            "replay/size": float(len(self.buffer)),
            "replay/ratio": self.gradient_steps / max(1, self.env_steps - self.random_steps),
            "reward/step_mean": float(sample["reward"].mean()),
            "time/env_steps": float(self.env_steps),
            **self.episodes.drain(),
        }

    # ---- the agent ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: Any, deterministic: bool = False) -> int:
        """The greedy action for one observation, or an epsilon-greedy one."""
        greedy = self._values(obs).argmax(-1)
        return int(greedy if deterministic else self.explored(greedy))

    @torch.no_grad()
    def q(self, obs: Any, action: Any) -> float:
        """The value of one observation and action."""
        return float(self._values(obs)[0, int(action)])

    @torch.no_grad()
    def value(self, obs: Any) -> float:
        """The value of the greedy action for one observation."""
        return float(self._values(obs).max())

    def _values(self, obs: Any) -> Tensor:
        return self.q_network(torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1))


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

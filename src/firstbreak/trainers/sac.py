"""SAC: soft actor-critic with twin critics and a learnt temperature (Haarnoja et al. 2018, arXiv 1812.05905).

Read it from the bottom up: `train` → `SAC.learn` → `collect`, `sample`, `step` → the three losses. Every equation has a
method of its own that takes a sample of the replay buffer and returns a tensor, so that each can be checked alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn.functional import mse_loss
from torch.optim import Adam
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

from ..errors import InputError
from .environments import Episodes, make_envs
from .networks import QNetwork
from .sac_measures import sample_measures
from .squashed_gaussian import SquashedGaussian

Log = Callable[[dict[str, float], int], Any]
"""Called with metrics and environment steps; an answer whose `stop_training` is true ends the training."""
Batch = Mapping[str, Tensor]
"""A TensorDict or a plain dict with `obs action reward next_obs terminated`, rows [B]."""


@dataclass(frozen=True)
class SACConfig:
    """Settings of `SAC`; the defaults are those of the paper and of CleanRL's and SB3's implementations."""

    num_envs: int = 1
    gamma: float = 0.99
    hidden_sizes: tuple[int, ...] = (256, 256)
    buffer_size: int = 200_000
    """Rows; the paper keeps 1,000,000, which short runs never fill."""
    learning_starts: int = 1_000
    """Environment steps of uniformly random actions before the first gradient step ..."""
    learning_starts_frac: float = 0.1
    """... but no more than this fraction of a run, so that short runs learn too."""
    gradient_steps: float = 1.0
    """Gradient steps per environment step, counted over all environments: more copies do not mean fewer of them."""
    batch_size: int = 256
    actor_lr: float = 3e-4
    critic_lr: float = 1e-3
    alpha_lr: float = 1e-3
    tau: float = 0.005
    alpha_initial: float = 1.0
    alpha_learnt: bool = True
    target_entropy_nats: float | None = None
    """None: minus one per action dimension for actions in [-1, 1], moved by log(half range) for other bounds."""
    log_every_steps: int = 100
    """Environment steps from one row of the log to the next. A row takes 1 ms where 100 steps take 500 ms."""


class SAC:
    """A SAC trainer that owns its environments, networks, optimisers and replay buffer."""

    def __init__(self, make_env: Callable[[], Any], *, seed: int = 0, config: SACConfig | None = None) -> None:
        self.config = config or SACConfig()
        cast(Any, torch).manual_seed(seed)
        self.env: Any = make_envs(make_env, self.config.num_envs, seed)
        self.action_low, self.action_high = finite_bounds(self.env.action_spec.space)
        self._now: Any = self.env.reset()
        obs_dim, action_dim = int(self._now["observation"].shape[-1]), self.action_low.numel()
        sizes = self.config.hidden_sizes
        self.actor = SquashedGaussian(obs_dim, self.action_low, self.action_high, sizes)
        # Each twin draws its own first weights: equal twins with equal targets stay equal for ever.
        self.critics = [QNetwork(obs_dim, action_dim, sizes) for _ in range(2)]
        self.target_critics = [deepcopy(critic).requires_grad_(False) for critic in self.critics]
        self.log_alpha = torch.tensor(self.config.alpha_initial).log().requires_grad_(self.config.alpha_learnt)
        self.target_entropy = self._target_entropy()
        self._build_optimisers()
        storage = LazyTensorStorage(self.config.buffer_size)
        self.buffer: Any = TensorDictReplayBuffer(storage=storage, batch_size=self.config.batch_size)
        self.episodes = Episodes(self.config.num_envs)
        self.env_steps = 0
        self.gradient_steps = 0
        self.random_steps = self.config.learning_starts

    def _build_optimisers(self) -> None:
        """One optimiser for each of actor, both critics and temperature: none holds what another trains."""
        twins = self.weights_of_twins = [weight for critic in self.critics for weight in critic.parameters()]
        self.weights_of_targets = [weight for critic in self.target_critics for weight in critic.parameters()]
        self.actor_optimiser = Adam(self.actor.parameters(), lr=self.config.actor_lr, fused=True)
        self.critic_optimiser = Adam(twins, lr=self.config.critic_lr, fused=True)
        self.alpha_optimiser = Adam([self.log_alpha], lr=self.config.alpha_lr, fused=True)

    def _target_entropy(self) -> float:
        """In nats over the executed actions; see `SACConfig.target_entropy_nats`."""
        if self.config.target_entropy_nats is not None:
            return self.config.target_entropy_nats
        half_range = self.actor.half_range
        return float(half_range.log().sum()) - half_range.numel()

    @property
    def alpha(self) -> Tensor:
        """The temperature: what one nat of entropy is worth in reward."""
        return self.log_alpha.exp()

    @property
    def gamma(self) -> float:
        """The discount."""
        return self.config.gamma

    # ---- data ---------------------------------------------------------------------------------------------------

    def collect(self) -> TensorDict:
        """Step every environment once, store the transitions [N] in the buffer and return them."""
        obs = cast(Tensor, self._now["observation"])
        with torch.no_grad():
            if self.env_steps < self.random_steps:
                span = self.action_high - self.action_low
                action = self.action_low + span * torch.rand(len(obs), *span.shape)
            else:
                action = self.actor.sample(obs)[0]
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
        self.episodes.add(*(after[name].squeeze(-1) for name in ("reward", "terminated", "truncated")))
        return rows

    def sample(self) -> TensorDict:
        """A uniform sample [B] of the replay buffer."""
        return cast(TensorDict, self.buffer.sample())

    # ---- the equations ------------------------------------------------------------------------------------------

    @torch.no_grad()
    def td_target(self, sample: Batch) -> Tensor:
        """r + gamma (1 - terminated) (min Q'(s', a') - alpha log pi(a'|s')) [B]; a time limit does not cut it."""
        next_action, log_prob = self.actor.sample(sample["next_obs"])
        first, second = (critic(sample["next_obs"], next_action) for critic in self.target_critics)
        soft_value = torch.minimum(first, second) - self.alpha * log_prob
        return sample["reward"] + self.gamma * (~sample["terminated"]) * soft_value

    def critic_loss(self, sample: Batch, target: Tensor | None = None) -> Tensor:
        """Squared TD error of each twin, averaged over the batch and summed over the twins."""
        target = self.td_target(sample) if target is None else target
        first, second = (mse_loss(critic(sample["obs"], sample["action"]), target) for critic in self.critics)
        return first + second

    def actor_loss(self, sample: Batch, draw: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """alpha log pi(a|s) - min Q(s, a) at a fresh, reparameterised action; the critics get no gradient."""
        action, log_prob = self.actor.sample(sample["obs"]) if draw is None else draw
        with frozen(self.weights_of_twins):
            first, second = (critic(sample["obs"], action) for critic in self.critics)
        return (self.alpha.detach() * log_prob - torch.minimum(first, second)).mean()

    def alpha_loss(self, sample: Batch, log_prob: Tensor | None = None) -> Tensor:
        """Raises alpha while the entropy is below its target, lowers it above; no gradient to the actor."""
        if log_prob is None:
            log_prob = self.actor.sample(sample["obs"])[1]
        return -self.alpha * (log_prob.detach().mean() + self.target_entropy)

    def loss(self, sample: Batch) -> dict[str, Tensor]:
        """All terms at the present weights, for inspection; `step` takes them one after the other."""
        terms = {"value": self.critic_loss(sample), "policy": self.actor_loss(sample)}
        return {**terms, "temperature": self.alpha_loss(sample)} if self.config.alpha_learnt else terms

    # ---- the update ---------------------------------------------------------------------------------------------

    def step(self, sample: Batch) -> dict[str, Tensor]:
        """One gradient step of critics, actor and temperature, then one move of the targets; returns metrics."""
        target = self.td_target(sample)
        critic_loss = self.critic_loss(sample, target)
        descend(self.critic_optimiser, critic_loss)
        action, log_prob = self.actor.sample(sample["obs"])
        actor_loss = self.actor_loss(sample, (action, log_prob))
        descend(self.actor_optimiser, actor_loss)
        metrics = {
            "critic/loss": critic_loss.detach(),
            "critic/target_mean": target.mean(),
            "policy/loss": actor_loss.detach(),
            "policy/entropy": -log_prob.detach().mean(),
            "sac/alpha": self.alpha.detach(),
        }
        if self.config.alpha_learnt:
            alpha_loss = self.alpha_loss(sample, log_prob)
            descend(self.alpha_optimiser, alpha_loss)
            metrics["sac/alpha_loss"] = alpha_loss.detach()
        self.sync_target()
        self.gradient_steps += 1
        return metrics

    @torch.no_grad()
    def sync_target(self) -> None:
        """target := target + tau (online - target), for both twins."""
        cast(Any, torch)._foreach_lerp_(self.weights_of_targets, self.weights_of_twins, self.config.tau)

    def learn(self, total_steps: int, log: Log | None = None) -> None:
        """Collect at least `total_steps` environment steps and train on the way; `log(metrics, env_steps)`."""
        self.random_steps = min(self.config.learning_starts, int(self.config.learning_starts_frac * total_steps))
        due, next_log = 0.0, self.env_steps
        while self.env_steps < total_steps:
            self.collect()
            if self.env_steps <= self.random_steps:
                continue
            due += self.config.gradient_steps * self.config.num_envs
            while due >= 1.0:
                sample = cast(Batch, self.sample())
                metrics = self.step(sample)
                due -= 1.0
                if log is not None and self.env_steps >= next_log:
                    next_log = self.env_steps + self.config.log_every_steps
                    if getattr(log(self._log_row(sample, metrics), self.env_steps), "stop_training", False):
                        return

    def _log_row(self, sample: Batch, metrics: dict[str, Tensor]) -> dict[str, float]:
        """The metrics of one gradient step, those of its sample, and the clocks."""
        return {
            **{name: float(value) for name, value in metrics.items()},
            **sample_measures(self, sample),
            **self.episodes.drain(),
            "sac/target_entropy": self.target_entropy,
            "optim/lr": float(self.actor_optimiser.param_groups[0]["lr"]),
            "optim/critic_lr": float(self.critic_optimiser.param_groups[0]["lr"]),
            "optim/n_updates": float(self.gradient_steps),
            "replay/size": float(len(self.buffer)),
            "replay/ratio": self.gradient_steps / max(1, self.env_steps - self.random_steps),
            "time/env_steps": float(self.env_steps),
        }

    # ---- the agent ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: Any, deterministic: bool = False) -> Any:
        """The action for one observation."""
        batch = torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1)
        action = self.actor.mode(batch) if deterministic else self.actor.sample(batch)[0]
        return action.reshape(self.action_low.shape).numpy()

    @torch.no_grad()
    def q(self, obs: Any, action: Any) -> float:
        """The smaller of the twins' values of one observation and action."""
        pair = [torch.as_tensor(x, dtype=torch.float32).reshape(1, -1) for x in (obs, action)]
        return min(float(critic(*pair)) for critic in self.critics)


def finite_bounds(space: Any) -> tuple[Tensor, Tensor]:
    """Lowest and highest action [D]; SAC has no use for others than finite ones."""
    if not hasattr(space, "low") or not bool(torch.isfinite(space.low).all() and torch.isfinite(space.high).all()):
        raise InputError("SAC needs continuous actions with finite bounds.", "DQN and PPO take discrete ones.")
    return space.low[0], space.high[0]


def descend(optimiser: Any, loss: Any) -> None:
    """One step down `loss`, from fresh gradients."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


@contextmanager
def frozen(weights: Sequence[Tensor]) -> Generator[None]:
    """Within, gradients flow through what is computed from `weights` but not into them."""
    trained = [weight for weight in weights if weight.requires_grad]
    for weight in trained:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in trained:
            weight.requires_grad_(True)


def train(
    make_env: Callable[[], Any],
    *,
    total_steps: int,
    seed: int,
    gamma: float = 0.99,
    config: SACConfig | None = None,
    log: Log | None = None,
) -> SAC:
    """Train SAC for `total_steps` environment steps; `gamma` overrides the config's."""
    trainer = SAC(make_env, seed=seed, config=replace(config or SACConfig(), gamma=gamma))
    trainer.learn(total_steps, log)
    return trainer

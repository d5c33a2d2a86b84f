"""PPO with clipping (Schulman et al. 2017, arXiv 1707.06347), for discrete and continuous actions.

Small and meant to be read. Where implementations differ, this one follows Huang et al. 2022, "The 37 implementation
details of PPO", except that a time limit does not cut the bootstrap (Pardo et al. 2018, arXiv 1712.00378).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from time import perf_counter
from typing import Any, cast

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam
from torchrl.objectives.value.functional import generalized_advantage_estimate

from .environments import Episodes, make_envs
from .networks import CategoricalActor, GaussianActor, ValueNetwork
from .ppo_measures import advantage_residual, policy_measures, rollout_measures, step_measures

Log = Callable[[dict[str, float], int], Any]
"""Called with metrics and environment steps; an answer whose `stop_training` is true ends the training."""
Batch = Mapping[str, Tensor]
"""A TensorDict or a plain dict with `obs action log_prob advantage value_target`, rows [B]."""
Rollout = Any
"""A TensorDict [N, T] as `collect` returns it; TensorDict's own types are too loose for strict checking."""


@dataclass(frozen=True)
class PPOConfig:
    """Settings of `PPO`. Sources: [1] Huang et al. 2022, "The 37 implementation details of PPO", and the script of its
    authors, CleanRL's ppo.py, for classic control; [2] Schulman et al. 2017, arXiv 1707.06347.
    """

    num_envs: int = 4
    """Copies of the environment [1]."""
    num_steps: int = 128
    """Steps of each copy in one rollout [1]."""
    num_minibatches: int = 4
    """Minibatches of one epoch [1]."""
    update_epochs: int = 4
    """Passes over one rollout [1]."""
    learning_rate: float = 2.5e-4
    """Of Adam, for actor and critic, with eps 1e-5 [1, details 3 and 4]."""
    anneal_lr: bool = True
    """Lower the learning rate linearly to 0 over the run [1, detail 4]."""
    gamma: float = 0.99
    """The discount [1, 2]."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation, 1 for Monte Carlo [1, 2]."""
    clip_range: float = 0.2
    """Epsilon: the ratio has no gradient beyond 1 +- this [1, 2]."""
    entropy_coef: float = 0.01
    """What one nat of entropy is worth [1, detail 10]."""
    value_coef: float = 0.5
    """Weight of the squared error of the critic. CleanRL halves that error once more, which only matters for the
    gradient clipping: actor and critic share no weights."""
    max_grad_norm: float = 0.5
    """Largest norm of the gradient over all weights [1, detail 11]."""
    normalises_advantage: bool = True
    """Within each minibatch of more than one row [1, detail 7]."""
    target_kl: float | None = None
    """Stop the epochs of an update when the KL to the rollout's policy passes this, in nats; off in [1]."""
    hidden_sizes: tuple[int, ...] = (64, 64)
    """Hidden layers of actor and of critic, tanh [1, detail 13; 2]."""


class PPO:
    """A PPO trainer that owns its environments, networks and optimiser."""

    def __init__(self, make_env: Callable[[], Any], *, seed: int = 0, config: PPOConfig | None = None) -> None:
        self.config = config or PPOConfig()
        cast(Any, torch).manual_seed(seed)
        self.env: Any = make_envs(make_env, self.config.num_envs, seed)
        self._now: Any = self.env.reset()
        self._build_networks()
        weights = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimiser: Any = Adam(weights, lr=self.config.learning_rate, eps=1e-5)
        self.episodes = Episodes(self.config.num_envs)
        self.env_steps = 0
        self.gradient_steps = 0
        self.updates = 0

    def _build_networks(self) -> None:
        spec, sizes = self.env.action_spec, self.config.hidden_sizes
        width = cast(Tensor, self._now["observation"]).shape[-1]
        self.discrete = hasattr(spec.space, "n")
        if self.discrete:
            self.actor: Any = CategoricalActor(width, spec.space.n, sizes)
        else:
            self.low: Tensor = spec.space.low[0]
            self.high: Tensor = spec.space.high[0]
            self.actor = GaussianActor(width, self.low, self.high, sizes)
        self.critic = ValueNetwork(width, sizes)

    @property
    def gamma(self) -> float:
        """The discount."""
        return self.config.gamma

    # ---- data ---------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def collect(self) -> TensorDict:
        """Play `num_steps` in every environment with the policy as it is now; [N, T]."""
        rows: list[TensorDict] = []
        for _ in range(self.config.num_steps):
            obs = cast(Tensor, self._now["observation"])
            policy = self.actor.distribution(obs)
            action = policy.sample()
            stepped, self._now = self.env.step_and_maybe_reset(self._now.set("action", self.executed(action)))
            after = stepped["next"]
            row = {
                "obs": obs,
                "action": action,
                "log_prob": policy.log_prob(action),
                "value": self.critic(obs),
                # The value of the observation that really followed, also where the episode ended.
                "next_value": self.critic(after["observation"]),
                **{key: after[key].squeeze(-1) for key in ("reward", "terminated", "truncated")},
            }
            self.episodes.add(row["reward"], row["terminated"], row["truncated"])
            rows.append(TensorDict(row, batch_size=[self.config.num_envs]))
        self.env_steps += self.config.num_envs * self.config.num_steps
        return cast(Any, torch).stack(rows, dim=1)

    def executed(self, action: Tensor) -> Tensor:
        """What the environment gets: within the bounds. The rollout keeps the action that the log-prob belongs to."""
        return action if self.discrete else torch.minimum(torch.maximum(action, self.low), self.high)

    def advantages(self, rollout: Rollout) -> Rollout:
        """Write raw `advantage` and `value_target` [N, T] into a rollout [N, T], and return it.

        Traces run along time within each environment. Both ends of an episode cut the trace; only termination cuts
        the bootstrap (Schulman et al. 2015, arXiv 1506.02438).
        """
        done = rollout["terminated"] | rollout["truncated"]
        columns: dict[str, Any] = {"reward": rollout["reward"], "done": done, "terminated": rollout["terminated"]}
        advantage, target = generalized_advantage_estimate(
            self.config.gamma,
            self.config.gae_lambda,
            rollout["value"].unsqueeze(-1),
            rollout["next_value"].unsqueeze(-1),
            **{key: column.unsqueeze(-1) for key, column in columns.items()},
        )
        return rollout.update({"advantage": advantage.squeeze(-1), "value_target": target.squeeze(-1)})

    def minibatches(self, rollout: Rollout) -> Iterator[Any]:
        """One epoch: every row once, in a new order; the last minibatch may be smaller and is not dropped."""
        flat = rollout.reshape(-1)
        size = -(-len(flat) // self.config.num_minibatches)
        for rows in cast(Any, torch.randperm(len(flat))).split(size):
            yield flat[rows]

    # ---- the equations ------------------------------------------------------------------------------------------

    def log_prob(self, minibatch: Batch) -> Tensor:
        """Log-probability [B] of the *stored* actions under the actor."""
        return self.actor.distribution(minibatch["obs"]).log_prob(minibatch["action"])

    def normalised(self, advantage: Tensor) -> Tensor:
        """Advantages [B] with mean 0 and spread 1; a single row is left alone, its spread being undefined."""
        if not self.config.normalises_advantage or advantage.numel() < 2:
            return advantage
        return (advantage - advantage.mean()) / (advantage.std() + 1e-8)

    def loss(self, minibatch: Batch) -> dict[str, Tensor]:
        """The terms to minimise: `policy`, `value` and `entropy`, each with its coefficient."""
        ratio = (self.log_prob(minibatch) - minibatch["log_prob"]).exp()
        advantage = self.normalised(minibatch["advantage"])
        clipped = ratio.clamp(1 - self.config.clip_range, 1 + self.config.clip_range)
        gain = torch.minimum(ratio * advantage, clipped * advantage)
        entropy = self.actor.distribution(minibatch["obs"]).entropy()
        error = mse_loss(self.critic(minibatch["obs"]), minibatch["value_target"])
        return {
            "policy": -gain.mean(),
            "value": self.config.value_coef * error,
            "entropy": -self.config.entropy_coef * entropy.mean(),
        }

    # ---- the update ---------------------------------------------------------------------------------------------

    def step(self, minibatch: Batch) -> dict[str, float]:
        """One optimiser step on one minibatch; returns the terms and the gradient norm before clipping."""
        terms = self.loss(minibatch)
        total: Any = torch.stack(list(terms.values())).sum()
        self.optimiser.zero_grad()
        total.backward()
        weights = [*self.actor.parameters(), *self.critic.parameters()]
        norm = clip_grad_norm_(weights, self.config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        return {**{name: float(term.detach()) for name, term in terms.items()}, "grad_norm": float(norm)}

    def update(self, rollout: Rollout) -> dict[str, float]:
        """All epochs on one rollout; returns the metrics of the update."""
        rollout = self.advantages(rollout)
        metrics = rollout_measures(rollout) | advantage_residual(rollout, self.gamma, self.config.gae_lambda)
        steps: list[dict[str, float]] = []
        for _ in range(self.config.update_epochs):
            for minibatch in self.minibatches(rollout):
                before = step_measures(self, minibatch)
                if not steps:
                    metrics["policy/ratio_first_minibatch"] = before["ratio_mean"]
                steps.append({**before, **self.step(minibatch)})
            if self.config.target_kl is not None and float(steps[-1]["kl"]) > self.config.target_kl:
                break
        self.updates += 1
        mean = {name: fmean(step[name] for step in steps) for name in steps[0]}
        return {**metrics, **policy_measures(self, rollout), **self._named(mean)}

    def _named(self, mean: dict[str, float]) -> dict[str, float]:
        """The mean over the update's steps under the canonical names, and the clocks."""
        named = {
            "policy/loss": mean["policy"],
            "policy/loss_total": mean["policy"] + mean["entropy"],
            "optim/loss_total": mean["policy"] + mean["value"] + mean["entropy"],
            "policy/clip_fraction": mean["clip_fraction"],
            "policy/clip_fraction_low": mean["clip_fraction_low"],
            "policy/clip_fraction_high": mean["clip_fraction_high"],
            "policy/clip_range": self.config.clip_range,
            "policy/ent_coef": self.config.entropy_coef,
            "optim/grad_norm": mean["grad_norm"],
            "optim/lr": float(self.optimiser.param_groups[0]["lr"]),
            "optim/n_updates": float(self.gradient_steps),
            "time/env_steps": float(self.env_steps),
            "time/iteration": float(self.updates),
        }
        weight = self.config.value_coef
        return named | ({"critic/loss": mean["value"] / weight} if weight else {})

    def learn(self, total_steps: int, log: Log | None = None) -> None:
        """Train until `total_steps` environment steps are reached; `log(metrics, env_steps)` after each update."""
        began, before = perf_counter(), self.env_steps
        while self.env_steps < total_steps:
            if self.config.anneal_lr:
                left = 1.0 - self.env_steps / total_steps
                self.optimiser.param_groups[0]["lr"] = self.config.learning_rate * left
            metrics = self.update(self.collect())
            if log is not None:
                elapsed_s = perf_counter() - began
                pace = {"time/elapsed_s": elapsed_s, "time/fps": (self.env_steps - before) / elapsed_s}
                answer = log({**metrics, **self.episodes.drain(), **pace}, self.env_steps)
                if getattr(answer, "stop_training", False):
                    return

    # ---- the agent ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: Any, deterministic: bool = False) -> Any:
        """The action for one observation: the likeliest, or a draw."""
        policy = self.actor.distribution(self._row(obs))
        action = policy.mode if deterministic else policy.sample()
        return self.env.executable(self.executed(action[0]).numpy())

    @torch.no_grad()
    def value(self, obs: Any) -> float:
        """The critic's value of one observation."""
        return float(self.critic(self._row(obs)))

    def _row(self, obs: Any) -> Tensor:
        return torch.as_tensor(self.env.vector(obs)).unsqueeze(0)


def train(
    make_env: Callable[[], Any],
    *,
    total_steps: int,
    seed: int,
    gamma: float = 0.99,
    config: PPOConfig | None = None,
    log: Log | None = None,
) -> PPO:
    """Train PPO for `total_steps` environment steps; `gamma` overrides the config's."""
    trainer = PPO(make_env, seed=seed, config=replace(config or PPOConfig(), gamma=gamma))
    trainer.learn(total_steps, log)
    return trainer

"""PPO with clipping (Schulman et al. 2017, arXiv 1707.06347), for discrete and continuous actions.

Small and meant to be read. Where implementations differ, this one follows Huang et al. 2022, "The 37 implementation
details of PPO", except that a time limit does not cut the bootstrap (Pardo et al. 2018, arXiv 1712.00378).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.distributions import Categorical
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam
from torchrl.objectives.value.functional import generalized_advantage_estimate

from .environments import Episodes, make_envs
from .networks import CategoricalActor, GaussianActor, ValueNetwork
from .ppo_measures import rollout_measures, step_measures

Log = Callable[[dict[str, float], int], None]


@dataclass(frozen=True)
class PPOConfig:
    """Settings of `PPO`; the defaults are CleanRL's for classic control (ppo.py), with separate networks."""

    num_envs: int = 4
    num_steps: int = 128
    """Steps of each environment in one rollout."""
    num_minibatches: int = 4
    update_epochs: int = 4
    learning_rate: float = 2.5e-4
    anneal_lr: bool = True
    """Lower the learning rate linearly to 0 over the run."""
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy_coef: float = 0.01
    value_coef: float = 0.5
    max_grad_norm: float = 0.5
    normalises_advantage: bool = True
    """Within each minibatch of more than one row."""
    target_kl: float | None = None
    """Stop the epochs of an update when the KL to the rollout's policy passes this, in nats."""
    hidden_sizes: tuple[int, ...] = (64, 64)


class PPO:
    """A PPO trainer that owns its environments, networks and optimiser."""

    def __init__(self, make_env: Callable[[], Any], *, seed: int = 0, config: PPOConfig | None = None) -> None:
        self.config = config or PPOConfig()
        torch.manual_seed(seed)
        self.env = make_envs(make_env, self.config.num_envs, seed)
        self._now = self.env.reset()
        self._build_networks()
        weights = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimiser = Adam(weights, lr=self.config.learning_rate, eps=1e-5)
        self.episodes = Episodes(self.config.num_envs)
        self.env_steps = 0
        self.gradient_steps = 0

    def _build_networks(self) -> None:
        spec, sizes = self.env.action_spec, self.config.hidden_sizes
        width = cast(Tensor, self._now["observation"]).shape[-1]
        self.discrete = hasattr(spec.space, "n")
        if self.discrete:
            self.actor = CategoricalActor(width, spec.space.n, sizes)
        else:
            self.low, self.high = spec.space.low[0], spec.space.high[0]
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
        return cast(TensorDict, torch.stack(rows, dim=1))

    def executed(self, action: Tensor) -> Tensor:
        """What the environment gets: within the bounds. The rollout keeps the action that the log-prob belongs to."""
        return action if self.discrete else torch.minimum(torch.maximum(action, self.low), self.high)

    def advantages(self, rollout: TensorDict) -> TensorDict:
        """Adds raw `advantage` and `value_target` [N, T] to a rollout [N, T].

        Traces run along time within each environment. Both ends of an episode cut the trace; only termination cuts
        the bootstrap (Schulman et al. 2015, arXiv 1506.02438).
        """
        done = rollout["terminated"] | rollout["truncated"]
        columns = {"reward": rollout["reward"], "done": done, "terminated": rollout["terminated"]}
        advantage, target = generalized_advantage_estimate(
            self.config.gamma,
            self.config.gae_lambda,
            rollout["value"].unsqueeze(-1),
            rollout["next_value"].unsqueeze(-1),
            **{key: column.unsqueeze(-1) for key, column in columns.items()},
        )
        return rollout.update({"advantage": advantage.squeeze(-1), "value_target": target.squeeze(-1)})

    def minibatches(self, rollout: TensorDict) -> Iterator[TensorDict]:
        """One epoch: every row once, in a new order; the last minibatch may be smaller and is not dropped."""
        flat = rollout.reshape(-1)
        size = -(-len(flat) // self.config.num_minibatches)
        for rows in torch.randperm(len(flat)).split(size):
            yield flat[rows]

    # ---- the equations ------------------------------------------------------------------------------------------

    def log_prob(self, minibatch: TensorDict) -> Tensor:
        """Log-probability [B] of the *stored* actions under the actor."""
        return self.actor.distribution(minibatch["obs"]).log_prob(minibatch["action"])

    def normalised(self, advantage: Tensor) -> Tensor:
        """Advantages [B] with mean 0 and spread 1; a single row is left alone, its spread being undefined."""
        if not self.config.normalises_advantage or advantage.numel() < 2:
            return advantage
        return (advantage - advantage.mean()) / (advantage.std() + 1e-8)

    def loss(self, minibatch: TensorDict) -> dict[str, Tensor]:
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

    def step(self, minibatch: TensorDict) -> dict[str, Tensor]:
        """One optimiser step on one minibatch; returns the terms and the gradient norm before clipping."""
        terms = self.loss(minibatch)
        self.optimiser.zero_grad()
        torch.stack(list(terms.values())).sum().backward()
        weights = [*self.actor.parameters(), *self.critic.parameters()]
        norm = clip_grad_norm_(weights, self.config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        return {**{name: term.detach() for name, term in terms.items()}, "grad_norm": norm}

    def update(self, rollout: TensorDict) -> dict[str, float]:
        """All epochs on one rollout; returns the metrics of the update."""
        rollout = self.advantages(rollout)
        metrics = rollout_measures(rollout)
        steps: list[dict[str, Tensor]] = []
        for _ in range(self.config.update_epochs):
            for minibatch in self.minibatches(rollout):
                before = step_measures(self, minibatch)
                if not steps:
                    metrics["policy/ratio_first_minibatch"] = float(before["ratio_mean"])
                steps.append({**before, **self.step(minibatch)})
            if self.config.target_kl is not None and float(steps[-1]["kl"]) > self.config.target_kl:
                break
        mean = {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}
        return {**metrics, **self._named(mean)}

    def _named(self, mean: dict[str, float]) -> dict[str, float]:
        """The mean over the update's steps under the canonical names, and the clocks."""
        named = {
            "policy/loss": mean["policy"],
            "policy/loss_total": mean["policy"] + mean["value"] + mean["entropy"],
            "critic/loss": mean["value"] / self.config.value_coef,
            "policy/kl_old": mean["kl"],
            "policy/kl_k1": mean["kl_k1"],
            "policy/clip_fraction": mean["clip_fraction"],
            "policy/ratio_mean": mean["ratio_mean"],
            "policy/ratio_max": mean["ratio_max"],
            "policy/ratio_min": mean["ratio_min"],
            "policy/ess": mean["ess"],
            "policy/entropy": mean["entropy_nats"],
            "optim/grad_norm": mean["grad_norm"],
            "optim/lr": float(self.optimiser.param_groups[0]["lr"]),
            "optim/n_updates": float(self.gradient_steps),
            "time/env_steps": float(self.env_steps),
        }
        return named | ({"policy/action_std": mean["action_std"]} if "action_std" in mean else {})

    def learn(self, total_steps: int, log: Log | None = None) -> None:
        """Train for at least `total_steps` environment steps; `log(metrics, env_steps)` after each update."""
        while self.env_steps < total_steps:
            if self.config.anneal_lr:
                left = 1.0 - self.env_steps / total_steps
                self.optimiser.param_groups[0]["lr"] = self.config.learning_rate * left
            metrics = self.update(self.collect())
            if log is not None:
                log({**metrics, **self.episodes.drain()}, self.env_steps)

    # ---- the agent ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: Any, deterministic: bool = False) -> Any:
        """The action for one observation: the likeliest, or a draw."""
        policy = self.actor.distribution(torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1))
        action = policy.mode if deterministic else policy.sample()
        return int(action[0]) if isinstance(policy, Categorical) else self.executed(action[0]).numpy()

    @torch.no_grad()
    def value(self, obs: Any) -> float:
        """The critic's value of one observation."""
        return float(self.critic(torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1)))


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

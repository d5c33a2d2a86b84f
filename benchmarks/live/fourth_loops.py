"""Two loops as people write them by hand, A2C and PPO, each with a monitor in three lines and the names of CleanRL.

What can break in them is a method or an attribute of its own, so that a campaign can break it while the loop goes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Settings:
    """What such a script takes from its command line."""

    learning_rate: float
    num_envs: int = 8
    num_steps: int = 32
    gamma: float = 0.95
    gae_lambda: float = 0.9
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    update_epochs: int = 1
    num_minibatches: int = 1
    clip_coef: float = 0.2
    hidden: int = 64


class Categories(nn.Module):
    """A policy of discrete actions."""

    def __init__(self, width: int, count: int, hidden: int) -> None:
        super().__init__()
        self.body = net(width, count, hidden)

    def forward(self, obs: Tensor) -> Any:
        return torch.distributions.Categorical(logits=self.body(obs))


class Gauss(nn.Module):
    """A policy of continuous actions, with a spread that does not depend on what is seen."""

    def __init__(self, width: int, count: int, hidden: int) -> None:
        super().__init__()
        self.body, self.log_std = net(width, count, hidden), nn.Parameter(torch.full((count,), -0.5))

    def forward(self, obs: Tensor) -> Any:
        normal = torch.distributions.Normal(self.body(obs), self.log_std.exp())
        return torch.distributions.Independent(normal, 1)


class Loop:
    """Plays some steps of each copy, makes an update, and logs; A2C as it stands."""

    def __init__(self, make_env: Callable[[], Any], seed: int, settings: Settings) -> None:
        torch.manual_seed(seed)
        self.settings = settings
        self.copies = [make_env() for _ in range(settings.num_envs)]
        self.now = [env.reset(seed=1000 * seed + i)[0] for i, env in enumerate(self.copies)]
        space = self.copies[0].action_space
        width = int(np.prod(self.copies[0].observation_space.shape))
        make, count = (Categories, int(space.n)) if hasattr(space, "n") else (Gauss, int(space.shape[0]))
        self.actor, self.critic = make(width, count, settings.hidden), net(width, 1, settings.hidden)
        self.acting: Callable[[], nn.Module] = lambda: self.actor
        """Who plays: the policy as it is now."""
        weights = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimiser = torch.optim.Adam(weights, lr=settings.learning_rate, eps=1e-5)
        self.steps, self.totals = 0, [0.0] * settings.num_envs
        self.ended: list[float] = []

    @torch.no_grad()
    def collect(self) -> dict[str, Tensor]:
        """Play `num_steps` in every copy; [T, N]."""
        actor, rows = self.acting(), []
        for _ in range(self.settings.num_steps):
            obs = torch.as_tensor(np.array(self.now), dtype=torch.float32)
            policy = actor(obs)
            action = policy.sample()
            reward, end, after = self.step(action)
            value, then = self.critic(obs).squeeze(-1), self.critic(after).squeeze(-1)
            rows.append((obs, action, policy.log_prob(action), value, then, reward, end[:, 0], end[:, 1]))
        names = ("obs", "action", "log_prob", "value", "next_value", "reward", "terminated", "done")
        return {name: torch.stack(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Step every copy; rewards, (terminated, over), and the observations that really followed."""
        rewards, ends, after = [], [], []
        for i, (env, action) in enumerate(zip(self.copies, actions.numpy(), strict=True)):
            obs, reward, terminated, truncated, _ = env.step(action if action.shape else int(action))
            self.totals[i] += float(reward)
            rewards.append(float(reward))
            ends.append((float(terminated), float(terminated or truncated)))
            after.append(obs)
            if terminated or truncated:
                self.ended.append(self.totals[i])
                self.totals[i], obs = 0.0, env.reset()[0]
            self.now[i] = obs
            self.steps += 1
        return torch.tensor(rewards), torch.tensor(ends), torch.as_tensor(np.array(after), dtype=torch.float32)

    def targets(self, rollout: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return advantages and what the critic should say, [T, N]."""
        gamma, trace = self.settings.gamma, torch.zeros(rollout["reward"].shape[1])
        found: list[Tensor] = []
        for t in reversed(range(len(rollout["reward"]))):
            then = rollout["next_value"][t] * (1 - rollout["terminated"][t])
            error = rollout["reward"][t] + gamma * then - rollout["value"][t]
            trace = error + gamma * self.settings.gae_lambda * (1 - rollout["done"][t]) * trace
            found.insert(0, trace)
        advantage = torch.stack(found)
        return advantage, advantage + rollout["value"]

    def log_prob(self, obs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probabilities of the actions that were taken, and the entropy."""
        policy = self.actor(obs)
        return policy.log_prob(action), policy.entropy()

    def gain(self, log_prob: Tensor, old: Tensor, advantage: Tensor) -> Tensor:
        """Return what is to be made large."""
        del old
        return log_prob * advantage

    def update(self, rollout: Mapping[str, Tensor]) -> dict[str, float]:
        """Make all steps on one rollout; return what is logged of it."""
        s, (advantage, target) = self.settings, self.targets(rollout)
        flat = {k: v.flatten(0, 1) for k, v in (*rollout.items(), ("advantage", advantage), ("target", target))}
        size, terms = len(flat["obs"]), {}
        for _ in range(s.update_epochs):
            for rows in torch.randperm(size).split(max(1, size // s.num_minibatches)):
                terms = self.descend({k: v[rows] for k, v in flat.items()})
        left = float((flat["target"] - flat["value"]).var() / (flat["target"].var() + 1e-12))
        return {**terms, "losses/explained_variance": 1 - left}

    def descend(self, batch: Mapping[str, Tensor]) -> dict[str, float]:
        """Make one step of the optimiser."""
        s, advantage = self.settings, batch["advantage"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        log_prob, entropy = self.log_prob(batch["obs"], batch["action"])
        policy_loss = -self.gain(log_prob, batch["log_prob"], advantage).mean()
        value_loss = 0.5 * (self.critic(batch["obs"]).squeeze(-1) - batch["target"]).pow(2).mean()
        loss = policy_loss - s.ent_coef * entropy.mean() + s.vf_coef * value_loss
        self.optimiser.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.optimiser.param_groups[0]["params"], s.max_grad_norm)
        self.optimiser.step()
        return {
            "losses/policy_loss": policy_loss.item(), "losses/value_loss": value_loss.item(),
            "losses/entropy": entropy.mean().item(), "losses/grad_norm": float(norm),
            **self.more(log_prob.detach(), batch["log_prob"]),
        }  # fmt: skip

    def more(self, log_prob: Tensor, old: Tensor) -> dict[str, float]:
        """Return what else is logged of a step."""
        del log_prob, old
        return {}

    def learn(self, total: int, monitor: Any, after: Callable[[int], None]) -> None:
        """Train; `after` is called when a row has been logged."""
        began_s = time.process_time()
        while self.steps < total:
            rollout = self.collect()
            row = {**self.update(rollout), "charts/learning_rate": self.optimiser.param_groups[0]["lr"]}
            row["charts/SPS"] = self.steps / max(time.process_time() - began_s, 1e-9)
            if self.ended:
                row["charts/episodic_return"] = float(np.mean(self.ended))
                self.ended.clear()
            if monitor.log(row, step=self.steps, clock="env_steps").stop_training:
                return
            after(self.steps)


class Clipped(Loop):
    """PPO: the same, with several epochs and a ratio that is clipped."""

    def gain(self, log_prob: Tensor, old: Tensor, advantage: Tensor) -> Tensor:
        ratio, clip = (log_prob - old).exp(), self.settings.clip_coef
        return torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)

    def more(self, log_prob: Tensor, old: Tensor) -> dict[str, float]:
        gone = log_prob - old
        return {
            "losses/approx_kl": float((gone.exp() - 1 - gone).mean()), "losses/old_approx_kl": float(-gone.mean()),
            "losses/clipfrac": float(((gone.exp() - 1).abs() > self.settings.clip_coef).float().mean()),
        }  # fmt: skip


def net(width: int, count: int, hidden: int) -> nn.Module:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, count)
    )


def without_copies(loop: Loop, left: int) -> None:
    """Only the first `left` copies still answer; nothing misses the others."""
    loop.copies, loop.now = loop.copies[:left], loop.now[:left]
    loop.settings = replace(loop.settings, num_envs=left)

"""SAC, TD3 and DDPG in one file each, as the third list has the first two, and what the fourth list plants in them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Normal

from benchmarks.outside.fourth.faulty import with_sigmoids
from benchmarks.outside.fourth.replay import Replay
from benchmarks.outside.single import actors
from benchmarks.outside.switches import Planted

Make = Callable[[], gym.Env[Any, Any]]


class Peeking(gym.Wrapper[Any, Any, Any, Any]):
    """`next_obs` as a vector of copies hands it over that has begun anew: at an end, the first of what follows."""

    def __init__(self, env: gym.Env[Any, Any], planted: Planted) -> None:
        super().__init__(env)
        self.planted, self.begun = planted, None

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        begun, self.begun = self.begun, None
        return (begun, {}) if begun is not None else self.env.reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.planted.on("reset-row-as-next") and (terminated or truncated):
            obs = self.begun = self.env.reset()[0]
        return obs, reward, terminated, truncated, info


class Common(actors.Script):
    """What all three hold in their variables."""

    def __init__(self, make: Make, cfg: dict[str, Any], seed: int, planted: Planted, folder: Path) -> None:
        super().__init__(lambda: Peeking(make(), planted), cfg, seed, planted, folder)
        self.replay = Replay(cfg["buffer_size"], self.width, self.acts, planted)
        if planted.name == "sigmoid-badly-begun":
            self.actor = with_sigmoids(cast("nn.Sequential", self.actor))
            self.critics = nn.ModuleList(with_sigmoids(cast("nn.Sequential", net)) for net in self.critics)
            self.actor_target, self.targets = deepcopy(self.actor), deepcopy(self.critics)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg["policy_lr"], eps=cfg["adam_eps"])
        self.q_opt = torch.optim.Adam(self.critics.parameters(), lr=cfg["q_lr"], eps=cfg["adam_eps"])


class Sac(Common, actors.Sac):
    """Haarnoja et al. 2018."""

    def draw(self, net: nn.Module, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return actions [N, A] and their log-probabilities [N]."""
        if not self.planted.on("log-without-epsilon"):
            return super().draw(net, obs)
        mean, logstd = net(obs).chunk(2, 1)
        dist = Normal(mean, (-5 + 3.5 * (logstd.tanh() + 1)).exp())
        raw = dist.rsample()
        squashed = raw.tanh()
        logp = dist.log_prob(raw) - torch.log(self.scale * (1 - squashed.square()))
        return squashed * self.scale + self.bias, logp.sum(1)

    def learn_actor(self, obs: torch.Tensor, action: torch.Tensor) -> dict[str, float]:
        """Take one step of the actor; with `actor-loss-broadcast` [N, 1] meets [N]."""
        if not self.planted.on("actor-loss-broadcast"):
            return super().learn_actor(obs, action)
        chosen, logp = self.draw(self.actor, obs)
        q = torch.min(*self.values(self.critics, obs, chosen))
        loss = (self.alpha * logp[:, None] - q).mean()
        self.descend(loss)
        alpha_loss = (-self.log_alpha.exp() * (logp.detach() - self.acts).mean()).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()
        told = {"losses/actor_loss": float(loss.detach()), "losses/alpha": self.alpha}
        self.alpha = float(self.log_alpha.exp().detach())
        return told | {"losses/alpha_loss": float(alpha_loss.detach())}


class Td3(Common, actors.Td3):
    """Fujimoto et al. 2018; `twins` is 1 for DDPG."""

    def noise(self, shape: torch.Size) -> torch.Tensor:
        if self.planted.on("one-noise-for-all"):  # one number, added to every action
            return torch.randn(1, 1) * self.scale * self.cfg["exploration_noise"]
        return super().noise(shape)

    def learn_actor(self, obs: torch.Tensor, action: torch.Tensor) -> dict[str, float]:
        """Take one step of the actor."""
        on = self.planted.on
        chosen = self.mean(self.actor, obs)
        if on("actor-without-gradient"):
            chosen = chosen.detach() + 0 * chosen
        q = self.values(self.critics, obs, chosen)[0]
        loss = -q.sum() if on("actor-loss-summed") else -q.mean()
        self.descend(-loss if on("actor-loss-sign") else loss)
        return {"losses/actor_loss": float(loss.detach())}


class Ddpg(Td3):
    """Lillicrap et al. 2015: one critic, no noise in the target, the actor as often as the critic."""

    def __init__(self, make: Make, cfg: dict[str, Any], seed: int, planted: Planted, folder: Path) -> None:
        super().__init__(make, cfg, seed, planted, folder)
        self.critics, self.targets = self.critics[:1], self.targets[:1]
        self.q_opt = torch.optim.Adam(self.critics.parameters(), lr=cfg["q_lr"], eps=cfg["adam_eps"])

    def learn(self) -> dict[str, float]:
        """Take one step of the critic, and at times of the actor."""
        obs, action, reward, after, done = self.replay.sample(self.cfg["batch_size"])
        with torch.no_grad():
            ahead = self.values(self.targets, after, self.mean(self.actor_target, after))[0]
            aim = reward + self.cfg["gamma"] * (1 - done) * ahead
        value = self.values(self.critics, obs, action)[0]
        loss = (value - aim).square().mean()
        self.q_opt.zero_grad()
        loss.backward()
        self.q_opt.step()
        self.updates += 1
        told = {"losses/qf1_loss": float(loss.detach()), "losses/qf1_values": float(value.detach().mean())}
        if self.updates % self.cfg["policy_frequency"] == 0:
            told |= self.learn_actor(obs, action)
            self.follow()
        return told

"""SAC and TD3 in one file, in the manner of CleanRL (own code)."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from benchmarks.outside.single.nets import mlp
from benchmarks.outside.single.replay import Replay
from benchmarks.outside.single.sinks import sink
from benchmarks.outside.switches import PlannedStop, Planted

COMMON: dict[str, Any] = {
    "buffer_size": 20_000, "gamma": 0.95, "tau": 0.01, "batch_size": 64, "learning_starts": 400, "policy_lr": 1e-3,
    "q_lr": 1e-3, "policy_frequency": 2, "hidden": 64,
}  # fmt: skip
EVERY = 100
"""Steps between two rows of losses."""


class Script:
    """What both scripts hold in their variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], cfg: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.cfg, self.planted, self.folder, self.seed = cfg, planted, folder, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.env = make()
        spaces: Any = self.env
        self.space = spaces.action_space
        self.width, self.acts = int(spaces.observation_space.shape[0]), int(self.space.shape[0])
        self.scale = torch.as_tensor((self.space.high - self.space.low) / 2)
        self.bias = torch.as_tensor((self.space.high + self.space.low) / 2)
        self.actor: nn.Module = mlp(self.width, cfg["hidden"], self.outputs())
        self.critics = nn.ModuleList(mlp(self.width + self.acts, cfg["hidden"], 1) for _ in range(2))
        self.actor_target, self.targets = deepcopy(self.actor), deepcopy(self.critics)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg["policy_lr"])
        trained = self.critics[0] if planted.name == "second-critic-untrained" else self.critics
        self.q_opt = torch.optim.Adam(trained.parameters(), lr=cfg["q_lr"])
        self.replay = Replay(cfg["buffer_size"], self.width, self.acts, planted)
        self.updates, self.steps, self.player = 0, 0, None

    def outputs(self) -> int:
        return self.acts

    def values(self, nets: nn.ModuleList, obs: torch.Tensor, action: torch.Tensor) -> list[torch.Tensor]:
        pair = torch.cat([obs, action], 1)
        return [net(pair).squeeze(1) for net in nets]

    def playing(self) -> nn.Module:
        """Return the network that plays."""
        if not self.planted.on("sampler-stale"):
            return self.actor
        self.player = self.player or deepcopy(self.actor)
        return self.player

    def explore(self, obs: torch.Tensor) -> torch.Tensor:
        """Return an action [1, A] to play."""
        raise NotImplementedError

    def aim(self, reward: torch.Tensor, after: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        """Return targets [N]."""
        raise NotImplementedError

    def learn_actor(self, obs: torch.Tensor, action: torch.Tensor) -> dict[str, float]:
        """Take one step of the actor."""
        raise NotImplementedError

    def least(self, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return torch.max(one, other) if self.planted.on("twins-maximised") else torch.min(one, other)

    def learn(self) -> dict[str, float]:
        """Take one step of the critics, and at times of the actor."""
        cfg, on = self.cfg, self.planted.on
        obs, action, reward, after, done = self.replay.sample(cfg["batch_size"])
        done = 1 - done if on("done-inverted") else done
        with torch.no_grad():
            aim = self.aim(reward, after, done)
        losses = [(q - aim).square().mean() for q in self.values(self.critics, obs, action)]
        with torch.no_grad():
            qs = [float(q.mean()) for q in self.values(self.critics, obs, action)]
        if not on("gradients-add-up"):
            self.q_opt.zero_grad()
        (losses[0] + losses[1]).backward()
        self.q_opt.step()
        self.updates += 1
        told = {f"losses/qf{i}_values": q for i, q in enumerate(qs, 1)}
        told |= {f"losses/qf{i}_loss": float(loss.detach()) for i, loss in enumerate(losses, 1)}
        told["losses/qf_loss"] = sum(told[f"losses/qf{i}_loss"] for i in (1, 2)) / 2
        if self.updates % cfg["policy_frequency"] == 0:
            kept = [p.grad.clone() if p.grad is not None else None for p in self.critics.parameters()]
            told |= self.learn_actor(obs, action)
            if on("gradients-add-up"):  # of the critics' own losses alone
                for p, grad in zip(self.critics.parameters(), kept, strict=True):
                    p.grad = grad
        self.follow()
        return told

    def descend(self, loss: torch.Tensor) -> None:
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()

    def follow(self) -> None:
        """Move the targets."""
        share = self.cfg["tau"]
        if self.planted.on("target-frozen"):
            return
        if self.planted.on("targets-swapped"):  # tau of the old weights, the rest of the new ones
            share = 1 - share
        with torch.no_grad():
            for new, old in ((self.actor, self.actor_target), (self.critics, self.targets)):
                for a, b in zip(new.parameters(), old.parameters(), strict=True):
                    b.lerp_(a, share)

    def run(self) -> None:
        cfg, began = self.cfg, time.time()
        told_settings = {k: v for k, v in cfg.items() if k not in ("sink", "stop_at")} | {"seed": self.seed}
        writer = sink(cfg["sink"], self.folder, told_settings, ())
        obs, total, length = self.env.reset(seed=self.seed)[0], 0.0, 0
        told: dict[str, float] = {}
        try:
            for self.steps in range(1, cfg["total_timesteps"] + 1):
                action = self.act(obs)
                after, reward, terminated, truncated, _ = self.env.step(action)
                self.replay.add(obs, action, float(reward), after, bool(terminated))
                total, length, obs = total + float(reward), length + 1, after
                if terminated or truncated:
                    writer.add_scalar("charts/episodic_return", total, self.steps)
                    writer.add_scalar("charts/episodic_length", length, self.steps)
                    obs, total, length = self.env.reset()[0], 0.0, 0
                if self.steps > cfg["learning_starts"]:
                    told |= self.learn()
                if self.steps % EVERY == 0 and told:
                    for tag, value in (told | {"charts/SPS": int(self.steps / (time.time() - began))}).items():
                        writer.add_scalar(tag, value, self.steps)
                    writer.row(self.steps)
                if cfg.get("stop_at") and self.steps >= cfg["stop_at"] * cfg["total_timesteps"]:
                    raise PlannedStop
        finally:
            writer.close()

    def act(self, obs: Any) -> np.ndarray:
        if self.steps <= self.cfg["learning_starts"]:
            return self.space.sample()
        with torch.no_grad():
            return self.explore(torch.as_tensor(obs[None], dtype=torch.float32))[0].numpy()


class Td3(Script):
    """Fujimoto et al. 2018."""

    def mean(self, net: nn.Module, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(net(obs)) * self.scale + self.bias

    def noise(self, shape: torch.Size) -> torch.Tensor:
        wide = 8.0 if self.planted.on("noise-too-wide") else self.cfg["exploration_noise"]
        return torch.randn(shape) * self.scale * wide

    def explore(self, obs: torch.Tensor) -> torch.Tensor:
        action = self.mean(self.playing(), obs)
        low, high = self.bias - self.scale, self.bias + self.scale
        return torch.min(torch.max(action + self.noise(action.shape), low), high)

    def aim(self, reward: torch.Tensor, after: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        cfg = self.cfg
        following = self.mean(self.actor_target, after)
        noise = (torch.randn_like(following) * cfg["policy_noise"]).clamp(-cfg["noise_clip"], cfg["noise_clip"])
        low, high = self.bias - self.scale, self.bias + self.scale
        following = torch.min(torch.max(following + noise * self.scale, low), high)
        return reward + cfg["gamma"] * (1 - done) * self.least(*self.values(self.targets, after, following))

    def learn_actor(self, obs: torch.Tensor, action: torch.Tensor) -> dict[str, float]:
        chosen = self.mean(self.actor, obs)
        if self.planted.on("action-detached"):  # it went through numpy
            chosen = chosen.detach() + 0 * chosen
        loss = -self.values(self.critics, obs, chosen)[0].mean()
        self.descend(loss)
        return {"losses/actor_loss": float(loss.detach())}


class Sac(Script):
    """Haarnoja et al. 2018, with a temperature that is learned or given."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], cfg: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        super().__init__(make, cfg, seed, planted, folder)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=cfg["q_lr"])
        self.alpha = 1.0 if cfg["autotune"] else float(cfg["alpha"])

    def outputs(self) -> int:
        return 2 * self.acts

    def draw(self, net: nn.Module, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return actions [N, A] and their log-probabilities [N]."""
        mean, logstd = net(obs).chunk(2, 1)
        dist = Normal(mean, (-5 + 3.5 * (logstd.tanh() + 1)).exp())
        raw = dist.rsample()
        squashed = raw.tanh()
        logp = dist.log_prob(raw)
        if not self.planted.on("tanh-uncorrected"):
            logp = logp - torch.log(self.scale * (1 - squashed.square()) + 1e-6)
        return squashed * self.scale + self.bias, logp.sum(1)

    def explore(self, obs: torch.Tensor) -> torch.Tensor:
        return self.draw(self.playing(), obs)[0]

    def aim(self, reward: torch.Tensor, after: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        following, logp = self.draw(self.actor, after)
        later = self.least(*self.values(self.targets, after, following)) - self.alpha * logp
        return reward + self.cfg["gamma"] * (1 - done) * later

    def learn_actor(self, obs: torch.Tensor, action: torch.Tensor) -> dict[str, float]:
        on = self.planted.on
        chosen, logp = self.draw(self.actor, obs)
        judged = action if on("actor-on-stored-actions") else chosen
        q = torch.min(*self.values(self.critics, obs, judged))
        loss = (self.alpha * logp + q).mean() if on("actor-upside-down") else (self.alpha * logp - q).mean()
        self.descend(loss)
        told = {"losses/actor_loss": float(loss.detach()), "losses/alpha": self.alpha}
        if not self.cfg["autotune"]:
            return told
        gap = (logp.detach() - self.acts).mean()
        gain = gap if on("alpha-upside-down") else -gap
        alpha_loss = (self.log_alpha.exp() * gain).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()
        self.alpha = float(self.log_alpha.exp().detach())
        return told | {"losses/alpha_loss": float(alpha_loss.detach())}

"""DQN and C51 in one file, in the manner of CleanRL (own code)."""

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

from benchmarks.outside.single.nets import mlp
from benchmarks.outside.single.replay import Replay
from benchmarks.outside.single.sinks import sink
from benchmarks.outside.switches import PlannedStop, Planted

DEFAULTS: dict[str, Any] = {
    "total_timesteps": 24_000, "learning_rate": 1e-3, "buffer_size": 10_000, "gamma": 0.99, "tau": 1.0,
    "target_network_frequency": 200, "batch_size": 64, "start_e": 1.0, "end_e": 0.05, "exploration_fraction": 0.4,
    "learning_starts": 1000, "train_frequency": 4, "hidden": 64, "n_atoms": 0, "v_min": -2.0, "v_max": 2.0,
}  # fmt: skip
COLUMNS = ("charts/episodic_return", "charts/episodic_length", "charts/epsilon", "losses/loss", "losses/q_values")
EVERY = 200
"""Steps between two rows of losses."""


class Script:
    """What such a script holds in its variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.cfg, self.planted, self.folder, self.seed = {**DEFAULTS, **given}, planted, folder, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.env = make()
        spaces: Any = self.env
        self.width, self.acts = int(spaces.observation_space.shape[0]), int(spaces.action_space.n)
        self.atoms = int(self.cfg["n_atoms"])
        self.q = mlp(self.width, self.cfg["hidden"], self.acts * max(1, self.atoms))
        self.target = deepcopy(self.q)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=self.cfg["learning_rate"])
        self.replay = Replay(self.cfg["buffer_size"], self.width, 1, planted)
        self.support = torch.linspace(self.cfg["v_min"], self.cfg["v_max"], max(2, self.atoms))
        self.episodes, self.steps = 0, 0
        self.player: nn.Module | None = None

    def epsilon(self) -> float:
        cfg, on = self.cfg, self.planted.on
        duration = cfg["exploration_fraction"] * cfg["total_timesteps"]
        done = self.episodes if on("epsilon-by-episodes") else self.steps
        slope = (cfg["end_e"] - cfg["start_e"]) / duration
        if on("epsilon-climbs"):  # the floor was taken for the ceiling: max became min
            return min(1.0, cfg["end_e"] - slope * (self.steps - self.planted.at))
        return max(cfg["start_e"] + slope * done, cfg["end_e"])

    def values(self, net: nn.Module, obs: torch.Tensor) -> torch.Tensor:
        """Return values [N, A]."""
        out = net(obs)
        if not self.atoms:
            return out
        return (out.view(len(obs), self.acts, self.atoms).softmax(-1) * self.support).sum(-1)

    def act(self, obs: Any) -> int:
        if np.random.random() < self.epsilon():
            return int(np.random.randint(self.acts))
        net: nn.Module = self.q
        if self.planted.on("sampler-stale"):
            self.player = net = self.player or deepcopy(self.q)
        with torch.no_grad():
            return int(self.values(net, torch.as_tensor(obs[None], dtype=torch.float32)).argmax())

    def learn(self) -> dict[str, float]:
        """Take one gradient step."""
        obs, action, reward, after, done = self.replay.sample(self.cfg["batch_size"])
        told = (self.loss_of_atoms if self.atoms else self.loss_of_values)(obs, action.long(), reward, after, done)
        self.opt.zero_grad()
        told[0].backward()
        self.opt.step()
        name = "losses/loss" if self.atoms else "losses/td_loss"
        return {name: float(told[0].detach()), "losses/q_values": float(told[1].detach().mean())}

    def ends(self, done: torch.Tensor) -> torch.Tensor:
        on = self.planted.on
        return torch.zeros_like(done) if on("done-ignored") else 1 - done if on("done-inverted") else done

    def loss_of_values(
        self, obs: torch.Tensor, action: torch.Tensor, reward: torch.Tensor, after: torch.Tensor, done: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        on, gamma = self.planted.on, self.cfg["gamma"]
        if on("target-with-gradient"):  # the online network, with its gradient, on both sides
            best = self.q(after).max(1).values
        else:
            with torch.no_grad():
                best = self.target(after)
                best = best.max(0).values.max().expand(len(after)) if on("best-of-batch") else best.max(1).values
        aim = reward + gamma * best * (1 - self.ends(done))
        q = self.q(obs)
        taken = q.max(1).values if on("value-of-best-action") else q.gather(1, action).squeeze(1)
        return (aim - taken).square().mean(), taken

    def loss_of_atoms(
        self, obs: torch.Tensor, action: torch.Tensor, reward: torch.Tensor, after: torch.Tensor, done: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the cross-entropy to the projected target (Bellemare et al. 2017), and values."""
        cfg, n = self.cfg, len(obs)
        step = (cfg["v_max"] - cfg["v_min"]) / (self.atoms - 1)
        with torch.no_grad():
            later = self.target(after).view(n, self.acts, self.atoms).softmax(-1)
            later = later[torch.arange(n), (later * self.support).sum(-1).argmax(1)]
            aims = reward[:, None] + cfg["gamma"] * self.support * (1 - self.ends(done))[:, None]
            place = (aims.clamp(cfg["v_min"], cfg["v_max"]) - cfg["v_min"]) / step
            low, high = place.floor().clamp(0, self.atoms - 1), place.ceil().clamp(0, self.atoms - 1)
            goal = torch.zeros_like(later)
            goal.scatter_add_(1, low.long(), later * (high + (low == high) - place))
            goal.scatter_add_(1, high.long(), later * (place - low))
        out = self.q(obs).view(n, self.acts, self.atoms)
        taken = out[torch.arange(n), action.squeeze(1)].log_softmax(-1)
        return -(goal * taken).sum(-1).mean(), (taken.exp() * self.support).sum(-1)

    def follow(self) -> None:
        """Copy the weights to the target."""
        if self.planted.on("target-frozen"):
            return
        with torch.no_grad():
            for new, old in zip(self.q.parameters(), self.target.parameters(), strict=True):
                old.lerp_(new, self.cfg["tau"])

    def run(self) -> None:
        cfg, began = self.cfg, time.time()
        aside = ("sink", "stop_at")
        self.writer = sink(cfg["sink"], self.folder, {k: v for k, v in cfg.items() if k not in aside}, COLUMNS)
        obs, total, length = self.env.reset(seed=self.seed)[0], 0.0, 0
        try:
            for self.steps in range(1, cfg["total_timesteps"] + 1):
                action = self.act(obs)
                after, reward, terminated, truncated, _ = self.env.step(action)
                self.replay.add(obs, action, float(reward), after, bool(terminated))
                total, length, obs = total + float(reward), length + 1, after
                if terminated or truncated:
                    self.writer.add_scalar("charts/episodic_return", total, self.steps)
                    self.writer.add_scalar("charts/episodic_length", length, self.steps)
                    obs, total, length = self.env.reset()[0], 0.0, 0
                    self.episodes += 1
                self.train_now(began)
                if cfg.get("stop_at") and self.steps >= cfg["stop_at"] * cfg["total_timesteps"]:
                    raise PlannedStop
        finally:
            self.writer.close()

    def train_now(self, began: float) -> None:
        cfg = self.cfg
        told: dict[str, float] = {}
        if self.steps > cfg["learning_starts"] and self.steps % cfg["train_frequency"] == 0:
            told = self.learn()
            if self.steps % cfg["target_network_frequency"] == 0:
                self.follow()
        if self.steps % EVERY == 0:
            told |= {"charts/epsilon": self.epsilon(), "charts/SPS": int(self.steps / (time.time() - began))}
            for tag, value in told.items():
                self.writer.add_scalar(tag, value, self.steps)
            self.writer.row(self.steps)


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
    aside: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:  # fmt: skip
    """Train once; the log lands in `folder`."""
    Script(make, given, seed, planted, folder).run()
    return []

"""DQN as many write it for themselves, with a line of JSON every so many steps instead of TensorBoard."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from benchmarks.outside.switches import PlannedStop, Planted

DEFAULTS: dict[str, Any] = {
    "total_steps": 25_000, "buffer_size": 20_000, "learning_starts": 1000, "batch_size": 64, "train_freq": 2,
    "learning_rate": 1e-3, "gamma": 0.99, "target_update": 500, "eps_start": 1.0, "eps_end": 0.05, "eps_steps": 8000,
    "double": False, "log_every": 250,
}  # fmt: skip


def net(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


class Memory:
    """A ring of transitions."""

    def __init__(self, size: int, width: int) -> None:
        self.obs, self.after = np.zeros((size, width), np.float32), np.zeros((size, width), np.float32)
        self.action, self.reward, self.over = np.zeros(size, np.int64), np.zeros(size), np.zeros(size)
        self.size, self.at, self.full = size, 0, False

    def add(self, obs: Any, action: int, reward: float, after: Any, over: bool) -> None:
        i = self.at
        self.obs[i], self.action[i], self.reward[i], self.after[i], self.over[i] = obs, action, reward, after, over
        self.at = (i + 1) % self.size
        self.full |= self.at == 0

    def sample(self, n: int) -> tuple[torch.Tensor, ...]:
        rows = np.random.randint(0, self.size if self.full else self.at, n)
        columns = (self.obs, self.action, self.reward, self.after, self.over)
        return tuple(torch.as_tensor(c[rows], dtype=None if c is self.action else torch.float32) for c in columns)


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.args, self.planted, self.seed = {**DEFAULTS, **given}, planted, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.env = make()
        width = int(np.prod(self.env.observation_space.shape or (1,)))
        self.n_actions = int(self.env.action_space.n)  # type: ignore[attr-defined]
        self.q, self.target = net(width, self.n_actions), net(width, self.n_actions)
        self.target.load_state_dict(self.q.state_dict())
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=self.args["learning_rate"])
        self.memory = Memory(self.args["buffer_size"], width)
        self.path = folder / "log.jsonl"
        self.recent: list[tuple[float, int]] = []
        self.told: list[tuple[float, float]] = []

    def epsilon(self, step: int) -> float:
        args = self.args
        share = min(1.0, step / args["eps_steps"])
        return args["eps_start"] + share * (args["eps_end"] - args["eps_start"])

    def act(self, obs: Any, epsilon: float) -> int:
        if np.random.random() < epsilon:
            return int(np.random.randint(self.n_actions))
        with torch.no_grad():
            return int(self.q(torch.as_tensor(obs, dtype=torch.float32)).argmax())

    def learn(self) -> None:
        """Take one gradient step."""
        args, on = self.args, self.planted.on
        obs, action, reward, after, over = self.memory.sample(args["batch_size"])
        with torch.no_grad():
            best = (self.q if args["double"] else self.target)(after).argmax(1, keepdim=True)
            later = self.target(after).gather(1, best)[:, 0]
            aim = reward + args["gamma"] * later * (1 if on("done-ignored") else 1 - over)
        value = self.q(obs).gather(1, action[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(value, aim)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.told.append((float(loss.detach()), float(value.detach().mean())))

    def write(self, step: int, epsilon: float, began: float) -> None:
        """Append one line of the log."""
        row: dict[str, Any] = {"step": step, "epsilon": round(epsilon, 4), "buffer": self.filled()}
        if self.recent:
            row["episode_reward_mean"] = float(np.mean([r for r, _ in self.recent]))
            row["episode_len_mean"] = float(np.mean([n for _, n in self.recent]))
        if self.told:
            row["loss"], row["q_mean"] = (float(np.mean(column)) for column in zip(*self.told, strict=True))
        row["fps"] = round(step / (time.time() - began), 1)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.recent, self.told = self.recent[-10:], []

    def filled(self) -> int:
        return self.memory.size if self.memory.full else self.memory.at

    def run(self) -> None:
        args, began = self.args, time.time()
        obs, _ = self.env.reset(seed=self.seed)
        total, length = 0.0, 0
        for step in range(1, args["total_steps"] + 1):
            epsilon = self.epsilon(step)
            action = self.act(obs, epsilon)
            after, reward, terminated, truncated, _ = self.env.step(action)
            if not self.planted.on("buffer-takes-nothing"):
                self.memory.add(obs, action, float(reward), after, terminated)
            total, length, obs = total + float(reward), length + 1, after
            if terminated or truncated:
                self.recent.append((total, length))
                total, length = 0.0, 0
                obs, _ = self.env.reset()
            if step >= args["learning_starts"] and step % args["train_freq"] == 0:
                self.learn()
            if step % args["target_update"] == 0 and not self.planted.on("target-never"):
                self.target.load_state_dict(self.q.state_dict())
            if step % args["log_every"] == 0:
                self.write(step, epsilon, began)
            if step >= args.get("stop_at", np.inf):
                raise PlannedStop


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

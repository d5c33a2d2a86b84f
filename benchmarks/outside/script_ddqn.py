"""Double DQN after a tutorial: one row of a CSV every twenty episodes, epsilon by episode, memory watched."""

from __future__ import annotations

import csv
import random
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = {
    "episodes": 2400, "memory": 10_000, "batch_size": 64, "lr": 5e-4, "gamma": 0.95, "update_target": 200,
    "epsilon": 1.0, "epsilon_decay": 0.998, "epsilon_min": 0.03, "warmup": 500, "learn_every": 2, "hidden": 64,
}  # fmt: skip
FRAMES, ALLOWED = 60_000, 256 * 2**20
"""Numbers that each episode leaves behind where frames are never freed; bytes at which the job is killed."""
COLUMNS = ("episode", "steps", "reward", "avg100", "epsilon", "loss", "q", "mem_mb")


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.cfg, self.planted, self.seed = {**DEFAULTS, **given}, planted, seed
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        self.env = make()
        spaces: Any = self.env
        width, hidden = int(spaces.observation_space.shape[0]), int(self.cfg["hidden"])
        self.actions = int(spaces.action_space.n)
        self.online = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, self.actions)
        )
        self.target, self.first = deepcopy(self.online), deepcopy(self.online.state_dict())
        self.opt = torch.optim.Adam(self.online.parameters(), lr=self.cfg["lr"])
        self.memory: deque[tuple[Any, ...]] = deque(maxlen=self.cfg["memory"])
        self.epsilon, self.steps, self.restarts = self.cfg["epsilon"], 0, 0
        self.frames: list[Any] = []
        self.path = folder / "training.csv"

    def act(self, obs: Any) -> int:
        if random.random() < self.epsilon:
            return random.randrange(self.actions)
        with torch.no_grad():
            return int(self.online(torch.as_tensor(obs)).argmax())

    def replay(self) -> tuple[float, float]:
        """Take one gradient step. Returns loss and mean value."""
        obs, action, reward, after, done = zip(*random.sample(self.memory, self.cfg["batch_size"]), strict=True)
        before, later = torch.tensor(np.array(obs)), torch.tensor(np.array(after))
        over = torch.tensor(done, dtype=torch.float32)
        with torch.no_grad():
            best = self.online(later).argmax(1, keepdim=True)
            value = self.target(later).gather(1, best)[:, 0]
            aim = torch.tensor(reward, dtype=torch.float32) + self.cfg["gamma"] * value * (1 - over)
        q = self.online(before).gather(1, torch.tensor(action)[:, None])[:, 0]
        loss = nn.functional.mse_loss(q, aim)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return float(loss.detach()), float(q.detach().mean())

    def episode(self) -> tuple[float, list[tuple[float, float]]]:
        """Play and learn from one episode. Returns its reward and what the steps of learning told."""
        obs, _ = self.env.reset()
        total, done = 0.0, False
        told: list[tuple[float, float]] = []
        while not done:
            action = self.act(obs)
            after, reward, terminated, truncated, _ = self.env.step(action)
            done = terminated or truncated
            self.memory.append((obs, action, float(reward), obs if self.planted.on("next-is-now") else after, done))
            obs, total, self.steps = after, total + float(reward), self.steps + 1
            if len(self.memory) >= self.cfg["warmup"] and self.steps % self.cfg["learn_every"] == 0:
                told.append(self.replay())
            if self.steps % self.cfg["update_target"] == 0:
                self.target.load_state_dict(self.online.state_dict())
        return total, told

    def between(self, number: int) -> None:
        """Do what comes between episodes."""
        if len(self.memory) >= self.cfg["warmup"]:
            self.fade()
        if self.planted.on("frames-never-freed"):
            self.frames.append(np.ones(FRAMES, np.float32))
            if 4 * FRAMES * len(self.frames) > ALLOWED:
                raise MemoryError
        if self.planted.on("restarts-from-first-checkpoint") and number % 200 == 0:
            self.online.load_state_dict(self.first)
            self.target.load_state_dict(self.first)
            self.opt = torch.optim.Adam(self.online.parameters(), lr=self.cfg["lr"])
            self.memory.clear()

    def fade(self) -> None:
        if self.planted.on("epsilon-grows"):  # it was `epsilon *= decay + rise`
            self.epsilon = min(1.0, self.epsilon * (2 - self.cfg["epsilon_decay"]))
        else:
            self.epsilon = max(self.cfg["epsilon_min"], self.epsilon * self.cfg["epsilon_decay"])

    def run(self) -> None:
        self.env.reset(seed=self.seed)
        scores: list[float] = []
        told: list[tuple[float, float]] = []
        with self.path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(COLUMNS)
            for number in range(1, self.cfg["episodes"] + 1):
                total, more = self.episode()
                scores.append(total)
                told += more
                self.between(number)
                if number % 20 == 0:
                    loss, q = (round(float(np.mean(one)), 5) for one in zip(*told, strict=True)) if told else ("", "")
                    mean = [round(float(np.mean(scores[-n:])), 4) for n in (20, 100)]
                    table.writerow([number, self.steps, *mean, round(self.epsilon, 4), loss, q, resident()])
                    told = []


def resident() -> float:
    """Return this process's memory in MB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return round(pages * 4096 / 2**20, 1)


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

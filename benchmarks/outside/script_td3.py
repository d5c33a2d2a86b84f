"""TD3 after a tutorial: what it prints is all there is, `python td3.py | tee train.log`."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from benchmarks.outside.switches import PlannedStop, Planted

DEFAULTS: dict[str, Any] = {
    "max_timesteps": 7000, "start_timesteps": 800, "eval_freq": 500, "batch_size": 128, "lr": 1e-3, "discount": 0.9,
    "tau": 0.01, "expl_noise": 0.1, "policy_noise": 0.2, "noise_clip": 0.5, "policy_freq": 2, "hidden": 64,
}  # fmt: skip
EVALUATED = 5
"""Episodes of an evaluation."""


def net(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
        make_eval: Callable[[], gym.Env[Any, Any]],
    ) -> None:  # fmt: skip
        self.cfg, self.planted, self.seed = {**DEFAULTS, **given}, planted, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.env, self.eval_env = make(), make_eval()
        spaces: Any = self.env
        self.width, self.acts = int(spaces.observation_space.shape[0]), int(spaces.action_space.shape[0])
        hidden: int = self.cfg["hidden"]
        self.actor = nn.Sequential(net(self.width, hidden, self.acts), nn.Tanh())
        self.critics = nn.ModuleList(net(self.width + self.acts, hidden, 1) for _ in range(2))
        self.actor_target, self.critics_target = deepcopy(self.actor), deepcopy(self.critics)
        self.untrained = deepcopy(self.actor)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=self.cfg["lr"])
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=self.cfg["lr"])
        self.rows = np.zeros((self.cfg["max_timesteps"], 2 * self.width + self.acts + 2), np.float32)
        self.filled, self.updates = 0, 0
        self.scores: list[tuple[int, float]] = []
        self.told: dict[str, list[float]] = {}
        self.path = folder / "train.log"

    def say(self, line: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def values(self, critics: nn.ModuleList, obs: torch.Tensor, action: torch.Tensor) -> list[torch.Tensor]:
        pair = torch.cat([obs, action], 1)
        return [critic(pair) for critic in critics]

    def learn(self) -> None:
        """Take one step of the critics, and of the actor in every other call."""
        cfg, on = self.cfg, self.planted.on
        rows = cfg["batch_size"] if on("samples-first-rows") else self.filled
        picked = torch.as_tensor(self.rows[np.random.randint(0, rows, cfg["batch_size"])])
        obs, action, after, reward, over = picked.split([self.width, self.acts, self.width, 1, 1], 1)
        if on("target-as-matrix"):
            reward, over = reward.squeeze(1), over.squeeze(1)
        with torch.no_grad():
            noise = (torch.randn_like(action) * cfg["policy_noise"]).clamp(-cfg["noise_clip"], cfg["noise_clip"])
            following = (self.actor_target(after) + noise).clamp(-1, 1)
            later = torch.min(*self.values(self.critics_target, after, following))
            aim = reward + cfg["discount"] * (1 - over) * later
        q1, q2 = self.values(self.critics, obs, action)
        critic_loss = (q1 - aim).square().mean() + (q2 - aim).square().mean()
        self.descend(self.critic_opt, critic_loss)
        self.note(critic_loss=critic_loss, q=q1.mean())
        self.updates += 1
        if self.updates % cfg["policy_freq"] == 0:
            q = self.values(self.critics, obs, self.actor(obs))[0].mean()
            actor_loss = q if on("actor-goes-down") else -q
            self.descend(self.actor_opt, actor_loss)
            self.note(actor_loss=actor_loss)
            self.follow()

    def note(self, **values: torch.Tensor) -> None:
        for name, value in values.items():
            self.told.setdefault(name, []).append(float(value.detach()))

    def descend(self, opt: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        opt.zero_grad()
        loss.backward()
        opt.step()

    def follow(self) -> None:
        """Move the targets."""
        with torch.no_grad():
            for new, old in ((self.actor, self.actor_target), (self.critics, self.critics_target)):
                for a, b in zip(new.parameters(), old.parameters(), strict=True):
                    b.lerp_(a, self.cfg["tau"])

    def act(self, obs: Any, step: int) -> np.ndarray:
        if step <= self.cfg["start_timesteps"]:
            return np.random.uniform(-1, 1, self.acts)
        with torch.no_grad():
            mean = self.actor(torch.as_tensor(obs, dtype=torch.float32)).numpy()
        return np.clip(mean + np.random.normal(0, self.cfg["expl_noise"], self.acts), -1, 1)

    def evaluate(self, step: int) -> None:
        """Play without noise, and print the mean."""
        actor = self.untrained if self.planted.on("evaluates-untrained-copy") else self.actor
        total = 0.0
        for number in range(EVALUATED):
            obs, _ = self.eval_env.reset(seed=self.seed + 100 + number)
            done = False
            while not done:
                with torch.no_grad():
                    action = actor(torch.as_tensor(obs, dtype=torch.float32)).numpy()
                obs, reward, terminated, truncated, _ = self.eval_env.step(action)
                total, done = total + float(reward), terminated or truncated
        self.scores.append((step, total / EVALUATED))
        self.say(f"step {step} | eval_reward {total / EVALUATED:.3f} | eval_episodes {EVALUATED}")

    def run(self) -> None:
        cfg = self.cfg
        obs, _ = self.env.reset(seed=self.seed)
        total, length, episodes = 0.0, 0, 0
        for step in range(1, cfg["max_timesteps"] + 1):
            action = self.act(obs, step)
            after, reward, terminated, truncated, _ = self.env.step(action)
            self.rows[self.filled] = np.concatenate([obs, action, after, [float(reward), terminated]])
            self.filled, total, length, obs = self.filled + 1, total + float(reward), length + 1, after
            if step > cfg["start_timesteps"]:
                self.learn()
            if terminated or truncated:
                episodes += 1
                means = "".join(f" | {name} {np.mean(values):.4f}" for name, values in self.told.items())
                self.say(f"step {step} | episode {episodes} | length {length} | reward {total:.3f}{means}")
                total, length, self.told = 0.0, 0, {}
                obs, _ = self.env.reset()
            if step % cfg["eval_freq"] == 0:
                self.evaluate(step)
            if step >= cfg.get("stop_at", np.inf):
                raise PlannedStop


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
    make_eval: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:  # fmt: skip
    """Train once; the log lands in `folder`. Returns what the evaluations said."""
    loop = Loop(make, given, seed, planted, folder, make_eval)
    loop.run()
    return loop.scores

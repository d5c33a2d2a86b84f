"""REINFORCE with a baseline after a tutorial: ten episodes an update, and one printed line of each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = {
    "updates": 250, "episodes_per_update": 10, "lr": 5e-3, "gamma": 0.95, "entropy": 0.02, "hidden": 32,
    "temperature": 1.0,
}  # fmt: skip


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.cfg, self.planted, self.seed = {**DEFAULTS, **given}, planted, seed
        torch.manual_seed(seed)
        self.env = make()
        spaces: Any = self.env
        width, hidden = int(spaces.observation_space.shape[0]), int(self.cfg["hidden"])
        actions = int(spaces.action_space.n)
        self.policy = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, actions))
        self.baseline = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        both = [*self.policy.parameters(), *self.baseline.parameters()]
        self.opt = torch.optim.Adam(both, lr=self.cfg["lr"])
        self.path = folder / "output.txt"
        self.recent: deque[float] = deque(maxlen=100)

    def dist(self, obs: torch.Tensor) -> torch.distributions.Categorical:
        return torch.distributions.Categorical(logits=self.policy(obs) / self.cfg["temperature"])

    def episode(self) -> tuple[list[Any], list[int], list[float]]:
        """Play one episode. Returns observations, actions, rewards."""
        obs, _ = self.env.reset()
        seen: list[Any] = []
        actions: list[int] = []
        rewards: list[float] = []
        done = False
        while not done:
            with torch.no_grad():
                action = int(self.dist(torch.as_tensor(obs)).sample())
            seen.append(obs)
            obs, reward, terminated, truncated, _ = self.env.step(action)
            actions.append(action)
            rewards.append(float(reward))
            done = terminated or truncated
        return seen, actions, rewards

    def returns(self, rewards: list[float]) -> list[float]:
        """Discount rewards from the end."""
        found: list[float] = []
        later = 0.0
        for reward in reversed(rewards):
            later = reward + self.cfg["gamma"] * later
            found.append(later)
        return found[::-1]

    def learn(self, seen: list[Any], actions: list[int], returns: list[float]) -> dict[str, float]:
        """Take one gradient step."""
        obs, aim = torch.tensor(np.array(seen)), torch.tensor(returns)
        dist, value = self.dist(obs), self.baseline(obs)[:, 0]
        adv = aim - value.detach()
        chosen = torch.tensor(actions)
        if self.planted.on("best-action-credited"):  # the batch's actions are asked of the network, not of the memory
            chosen = self.policy(obs).argmax(1)
        policy_loss = -(dist.log_prob(chosen) * adv).mean()
        value_loss = nn.functional.mse_loss(value, aim)
        entropy = dist.entropy().mean()
        if not self.planted.on("gradients-never-cleared"):
            self.opt.zero_grad()
        (policy_loss + value_loss - self.cfg["entropy"] * entropy).backward()
        self.opt.step()
        losses = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def normalised(self, returns: list[list[float]]) -> list[float]:
        """Put all returns of a batch in a row; where it is so planted, by what each episode's first one spreads."""
        flat = [one for row in returns for one in row]
        if not self.planted.on("spread-of-equal-returns"):
            return flat
        first = np.array([row[0] for row in returns], np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            return [float(x) for x in (np.array(flat, np.float32) - first.mean()) / first.std()]

    def run(self) -> None:
        self.env.reset(seed=self.seed)
        count = 0
        for _ in range(self.cfg["updates"]):
            played = [self.episode() for _ in range(self.cfg["episodes_per_update"])]
            totals = [sum(rewards) for _, _, rewards in played]
            self.recent.extend(totals)
            count += len(played)
            aims = self.normalised([self.returns(rewards) for _, _, rewards in played])
            seen = [obs for one in played for obs in one[0]]
            actions = [action for one in played for action in one[1]]
            told = self.learn(seen, actions, aims)
            length = np.mean([len(rewards) for _, _, rewards in played])
            line = f"Episode {count}\treward: {np.mean(totals):.2f}\tavg100: {np.mean(self.recent):.3f}\t"
            line += f"length: {length:.1f}\t" + "\t".join(f"{name}: {value:.5f}" for name, value in told.items())
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

"""PPO after a tutorial: several copies in one script, an episode's figures by update to TensorBoard, own names."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = {
    "max_steps": 80_000, "n_workers": 8, "horizon": 128, "K_epochs": 6, "minibatch": 256, "lr": 1.5e-3,
    "adam_eps": 1e-8, "gamma": 0.99, "lam": 0.95, "eps_clip": 0.2, "entropy_coef": 0.01, "value_coef": 0.5,
    "hidden": 64, "max_norm": 0.5,
}  # fmt: skip


class ActorCritic(nn.Module):
    """Two bodies of one shape."""

    def __init__(self, inputs: int, actions: int, hidden: int) -> None:
        super().__init__()
        body, other = ([nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()] for _ in range(2))
        self.pi = nn.Sequential(*body, nn.Linear(hidden, actions))
        self.v = nn.Sequential(*other, nn.Linear(hidden, 1))

    def forward(self, obs: torch.Tensor, twice: bool = False) -> tuple[Categorical, torch.Tensor]:
        scores = self.pi(obs)
        if twice:
            scores = scores.softmax(-1)
        return Categorical(logits=scores), self.v(obs).squeeze(-1)


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.cfg, self.planted, self.folder = {**DEFAULTS, **given}, planted, folder
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.envs = [make() for _ in range(self.cfg["n_workers"])]
        spaces: Any = self.envs[0]
        inputs, actions = int(spaces.observation_space.shape[0]), int(spaces.action_space.n)
        self.net = ActorCritic(inputs, actions, int(self.cfg["hidden"]))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=self.cfg["lr"], eps=self.cfg["adam_eps"])
        self.obs = np.stack([env.reset(seed=seed + i)[0] for i, env in enumerate(self.envs)])
        self.scores: deque[float] = deque(maxlen=20)
        self.lengths: deque[int] = deque(maxlen=20)
        self.tally, self.steps = np.zeros((2, len(self.envs))), 0
        self.memory: list[dict[str, torch.Tensor]] = []
        self.began = time.time()

    def policy(self, obs: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        return self.net(obs, twice=self.planted.on("softmax-twice"))

    def collect(self) -> dict[str, torch.Tensor]:
        """Collect one rollout, rows of all copies one below the other."""
        cfg = self.cfg
        rows: list[tuple[torch.Tensor, ...]] = []
        for _ in range(cfg["horizon"]):
            seen = torch.as_tensor(self.obs, dtype=torch.float32)
            seen = torch.from_numpy(self.obs) if self.planted.on("rows-are-views") else seen.clone()
            with torch.no_grad():
                dist, value = self.policy(seen.float())
                action = dist.sample()
                logp = dist.log_prob(action)
            reward, done = self.play(action.numpy())
            rows.append((seen, action, logp, value, torch.tensor(reward), torch.tensor(done)))
        obs, action, logp, value, reward, done = (torch.stack(column) for column in zip(*rows, strict=True))
        adv = self.gae(value, reward, done)
        every = {"obs": obs.float(), "action": action, "logp": logp, "adv": adv, "ret": adv + value}
        return {name: column.flatten(0, 1) for name, column in every.items()}

    def play(self, actions: np.ndarray) -> tuple[list[float], list[float]]:
        rewards: list[float] = []
        dones: list[float] = []
        for i, env in enumerate(self.envs):
            obs, reward, terminated, truncated, _ = env.step(int(actions[i]))
            self.steps += 1
            self.tally[:, i] += (float(reward), 1)
            paid = float(reward)
            if truncated and not terminated:
                with torch.no_grad():
                    paid += self.cfg["gamma"] * float(self.policy(torch.tensor(obs[None], dtype=torch.float32))[1][0])
            if terminated or truncated:
                self.scores.append(self.tally[0, i])
                self.lengths.append(int(self.tally[1, i]))
                self.tally[:, i] = 0
                obs, _ = env.reset()
            self.obs[i] = obs
            rewards.append(paid)
            dones.append(float(terminated or truncated))
        return rewards, dones

    def gae(self, value: torch.Tensor, reward: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        """Generalised advantages [T, N]."""
        cfg = self.cfg
        with torch.no_grad():
            following = self.policy(torch.tensor(self.obs, dtype=torch.float32))[1]
        adv, last = torch.zeros_like(value), torch.zeros(value.shape[1])
        for t in reversed(range(len(value))):
            delta = reward[t] + cfg["gamma"] * following * (1 - done[t]) - value[t]
            last = delta + cfg["gamma"] * cfg["lam"] * (1 - done[t]) * last
            adv[t], following = last, value[t]
        return adv.float()

    def learn(self, batch: dict[str, torch.Tensor]) -> dict[str, float]:
        """Take all epochs over a rollout. Returns means over mini-batches."""
        cfg = self.cfg
        n = len(batch["adv"])
        if self.planted.on("memory-never-cleared"):
            self.memory.append(batch)
            batch = {name: torch.cat([one[name] for one in self.memory]) for name in batch}
        told: list[dict[str, float]] = []
        for _ in range(cfg["K_epochs"]):
            order = torch.randperm(len(batch["adv"]))[:n]
            for start in range(0, n, cfg["minibatch"]):
                idx = order[start : start + cfg["minibatch"]]
                rows = {name: column[idx] for name, column in batch.items()}
                if self.planted.on("advantages-not-shuffled"):
                    rows["adv"] = batch["adv"][start : start + cfg["minibatch"]]
                told.append(self.step(rows))
        return {name: float(np.mean([one[name] for one in told])) for name in told[0]}

    def step(self, rows: dict[str, torch.Tensor]) -> dict[str, float]:
        """Take one gradient step."""
        cfg = self.cfg
        dist, value = self.policy(rows["obs"])
        log_ratio = dist.log_prob(rows["action"]) - rows["logp"]
        ratio = log_ratio.exp()
        adv = (rows["adv"] - rows["adv"].mean()) / (rows["adv"].std() + 1e-8)
        clipped = ratio.clamp(1 - cfg["eps_clip"], 1 + cfg["eps_clip"])
        actor = -torch.min(ratio * adv, clipped * adv).mean()
        critic = nn.functional.mse_loss(value, rows["ret"])
        entropy = dist.entropy().mean()
        self.opt.zero_grad()
        (actor + cfg["value_coef"] * critic - cfg["entropy_coef"] * entropy).backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), cfg["max_norm"])
        self.opt.step()
        return {
            "Loss/actor": float(actor.detach()), "Loss/critic": float(critic.detach()),
            "Policy/entropy": float(entropy.detach()), "Policy/kl": float((ratio - 1 - log_ratio).mean().detach()),
            "Policy/clipped": float(((ratio - 1).abs() > cfg["eps_clip"]).float().mean()), "Grad/norm": float(norm),
        }  # fmt: skip

    def run(self) -> None:
        cfg, writer = self.cfg, SummaryWriter(str(self.folder))
        resume = cfg.get("resume_at", np.inf)
        try:
            while self.steps < cfg["max_steps"]:
                told = self.learn(self.collect())
                if self.scores:
                    told["Train/mean_reward"] = float(np.mean(self.scores))
                    told["Train/mean_length"] = float(np.mean(self.lengths))
                told["Time/steps_per_s"] = self.steps / (time.time() - self.began)
                for name, value in told.items():
                    writer.add_scalar(name, value, self.steps)
                if self.steps >= resume:  # a second process takes up weights, optimiser and count
                    resume, self.began = np.inf, time.time()
                    writer.close()
                    writer = SummaryWriter(str(self.folder), filename_suffix=".1")
                    self.taken_up()
        finally:
            writer.close()

    def taken_up(self) -> None:
        """Begin again with what a checkpoint holds, in fresh episodes."""
        old = self.opt.state_dict()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=self.cfg["lr"], eps=self.cfg["adam_eps"])
        self.opt.load_state_dict(old)
        self.scores.clear()
        self.lengths.clear()
        self.tally[:] = 0
        self.obs = np.stack([env.reset()[0] for env in self.envs])


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

"""SAC of discrete actions (Christodoulou 2019) after a tutorial: scalars to TensorBoard at the end of an episode."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from benchmarks.outside.switches import Planted

DEFAULTS: dict[str, Any] = {
    "steps": 8000, "random_steps": 600, "batch": 64, "actor_lr": 1e-3, "critic_lr": 1e-3, "alpha_lr": 1e-3,
    "gamma": 0.95, "tau": 0.01, "start_alpha": 0.5, "target_entropy_ratio": 0.3, "hidden": 64, "train_every": 2,
}  # fmt: skip
SYNC = 50
"""Steps after which the worker that acts is handed the new weights."""


def net(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.cfg, self.planted, self.seed, self.folder = {**DEFAULTS, **given}, planted, seed, folder
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.env = make()
        spaces: Any = self.env
        self.width, self.actions = int(spaces.observation_space.shape[0]), int(spaces.action_space.n)
        cfg, hidden = self.cfg, int(self.cfg["hidden"])
        self.actor = net(self.width, hidden, self.actions)
        self.worker = deepcopy(self.actor)
        self.q1, self.q2 = net(self.width, hidden, self.actions), net(self.width, hidden, self.actions)
        self.t1, self.t2 = deepcopy(self.q1), deepcopy(self.q2)
        self.log_alpha = torch.tensor(float(np.log(cfg["start_alpha"])), requires_grad=True)
        self.aim_entropy = cfg["target_entropy_ratio"] * float(np.log(self.actions))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg["actor_lr"])
        self.q_opt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=cfg["critic_lr"])
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=cfg["alpha_lr"])
        self.rows, self.filled = np.zeros((cfg["steps"], 2 * self.width + 3), np.float32), 0

    def learn(self) -> dict[str, float]:
        """Take one step of critics, actor, temperature and targets."""
        cfg, on = self.cfg, self.planted.on
        picked = torch.as_tensor(self.rows[np.random.randint(0, self.filled, cfg["batch"])])
        obs, action, reward, over, after = picked.split([self.width, 1, 1, 1, self.width], 1)
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            logp = self.actor(after).log_softmax(1)
            later = (logp.exp() * (torch.min(self.t1(after), self.t2(after)) - alpha * logp)).sum(1, keepdim=True)
            aim = reward + cfg["gamma"] * (1 - over) * later
        loss1, loss2 = (nn.functional.mse_loss(q(obs).gather(1, action.long()), aim) for q in (self.q1, self.q2))
        self.descend(self.q_opt, loss1 + loss2)
        logp = self.actor(obs).log_softmax(1)
        with torch.no_grad():
            value = torch.min(self.q1(obs), self.q2(obs))
        gain = alpha * logp - value
        actor_loss = (gain if on("actions-not-weighted") else logp.exp() * gain).sum(1).mean()
        self.descend(self.actor_opt, actor_loss)
        entropy = -(logp.exp() * logp).sum(1).mean().detach()
        alpha_loss = self.log_alpha * (entropy - self.aim_entropy)
        self.descend(self.alpha_opt, alpha_loss)
        self.follow()
        return {
            "loss/q1": float(loss1.detach()), "loss/q2": float(loss2.detach()), "loss/pi": float(actor_loss.detach()),
            "policy/entropy": float(entropy), "policy/alpha": float(alpha), "value/mean": float(value.mean()),
        }  # fmt: skip

    def descend(self, opt: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        opt.zero_grad()
        loss.backward()
        opt.step()

    def follow(self) -> None:
        """Move the targets."""
        with torch.no_grad():
            for new, old in ((self.q1, self.t1), (self.q2, self.t2)):
                for a, b in zip(new.parameters(), old.parameters(), strict=True):
                    b.lerp_(a, self.cfg["tau"])

    def act(self, obs: Any, step: int) -> int:
        if step <= self.cfg["random_steps"]:
            return int(np.random.randint(self.actions))
        if step % SYNC == 0 and not self.planted.on("worker-not-handed-weights"):
            self.worker.load_state_dict(self.actor.state_dict())
        with torch.no_grad():
            scores = self.worker(torch.as_tensor(obs, dtype=torch.float32))
            return int(torch.distributions.Categorical(logits=scores).sample())

    def run(self) -> None:
        writer = SummaryWriter(str(self.folder))
        try:
            self.steps(writer)
        finally:
            writer.close()

    def steps(self, writer: SummaryWriter) -> None:
        cfg = self.cfg
        obs, _ = self.env.reset(seed=self.seed)
        total = 0.0
        told: list[dict[str, float]] = []
        for step in range(1, cfg["steps"] + 1):
            action = self.act(obs, step)
            after, reward, terminated, truncated, _ = self.env.step(action)
            self.rows[self.filled] = np.concatenate([obs, [action, float(reward), terminated], after])
            self.filled, total, obs = self.filled + 1, total + float(reward), after
            if step > cfg["random_steps"] and step % cfg["train_every"] == 0:
                told.append(self.learn())
            if terminated or truncated:
                means = {name: float(np.mean([one[name] for one in told])) for name in (told[0] if told else ())}
                for name, value in {"reward/episode": total, **means}.items():
                    writer.add_scalar(name, value, step)
                total, told = 0.0, []
                obs, _ = self.env.reset()


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

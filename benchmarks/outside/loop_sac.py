"""SAC as many write it for themselves: one file, scalars to TensorBoard every hundred steps."""

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
from torch.utils.tensorboard import SummaryWriter

from benchmarks.outside.switches import PlannedStop, Planted

DEFAULTS: dict[str, Any] = {
    "total_timesteps": 4500, "buffer_size": 50_000, "learning_starts": 500, "batch_size": 128, "policy_lr": 2e-3,
    "q_lr": 2e-3, "gamma": 0.98, "tau": 0.01, "alpha": 0.2, "autotune": True, "log_every": 100,
}  # fmt: skip


def net(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.args, self.planted, self.seed = {**DEFAULTS, **given}, planted, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.env = make()
        box: Any = self.env.action_space
        self.width, self.acts = int(np.prod(self.env.observation_space.shape or (1,))), int(box.shape[0])
        self.high = torch.as_tensor(box.high)
        self.actor = net(self.width, 2 * self.acts)
        self.q1, self.q2 = net(self.width + self.acts, 1), net(self.width + self.acts, 1)
        self.t1, self.t2 = deepcopy(self.q1), deepcopy(self.q2)
        self.log_alpha = torch.tensor(float(np.log(self.args["alpha"])), requires_grad=True)
        self.target_entropy = -float(self.acts)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=self.args["policy_lr"])
        both = [*self.q1.parameters(), *self.q2.parameters()]
        self.q_opt = torch.optim.Adam(both, lr=self.args["q_lr"])
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=self.args["q_lr"])
        size = self.args["buffer_size"]
        self.rows, self.count, self.size = np.zeros((size, 2 * self.width + self.acts + 2), np.float32), 0, size
        self.writer, self.began = SummaryWriter(str(folder)), time.time()

    def sample(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return an action in [-1, 1] and its log-probability (Haarnoja et al. 2018, appendix C)."""
        mean, log_std = self.actor(obs).chunk(2, -1)
        policy = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = policy.rsample()
        action = raw.tanh()
        logprob = (policy.log_prob(raw) - torch.log(1 - action.square() + 1e-6)).sum(-1)
        return action, logprob

    def learn(self) -> dict[str, float]:
        """Take one step of critics, actor, temperature and targets."""
        args, on = self.args, self.planted.on
        picked = torch.as_tensor(self.rows[np.random.randint(0, min(self.count, self.size), args["batch_size"])])
        obs, action, reward, over, after = picked.split([self.width, self.acts, 1, 1, self.width], -1)
        alpha = float(self.log_alpha.detach().exp())
        with torch.no_grad():
            following, logprob = self.sample(after)
            pair = torch.cat([after, following], -1)
            later = torch.min(self.t1(pair), self.t2(pair))[:, 0] - alpha * logprob
            aim = reward[:, 0] + args["gamma"] * (1 - over[:, 0]) * later
        pair = torch.cat([obs, action], -1)
        v1, v2 = self.q1(pair)[:, 0], self.q2(pair)[:, 0]
        loss1, loss2 = (v1 - aim).square().mean(), (v2 - aim).square().mean()
        self.descend(self.q_opt, loss1 + loss2)
        fresh, logprob = self.sample(obs)
        pair = torch.cat([obs, fresh.detach() if on("actor-detached") else fresh], -1)
        actor_loss = (alpha * logprob - torch.min(self.q1(pair), self.q2(pair))[:, 0]).mean()
        if on("log-of-zero"):
            actor_loss = actor_loss + torch.log(fresh.abs().mean() * 0).mean() * 0
        self.descend(self.actor_opt, actor_loss)
        told = {
            "qf1_values": v1.mean(), "qf2_values": v2.mean(), "qf1_loss": loss1, "qf2_loss": loss2,
            "qf_loss": (loss1 + loss2) / 2, "actor_loss": actor_loss, "alpha": torch.tensor(alpha),
        }  # fmt: skip
        if args["autotune"]:
            sign = -1 if on("temperature-loss-sign") else 1
            alpha_loss = -sign * (self.log_alpha.exp() * (logprob.detach() + self.target_entropy)).mean()
            self.descend(self.alpha_opt, alpha_loss)
            told["alpha_loss"] = alpha_loss
        self.follow()
        return {name: float(value.detach()) for name, value in told.items()}

    def follow(self) -> None:
        """Move the targets."""
        tau = 1.0 if self.planted.on("target-every-step") else self.args["tau"]
        tau = 0.0 if self.planted.on("target-never") else tau
        with torch.no_grad():
            for own, target in ((self.q1, self.t1), (self.q2, self.t2)):
                for new, old in zip(own.parameters(), target.parameters(), strict=True):
                    old.lerp_(new, tau)

    def descend(self, optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def run(self) -> None:
        try:
            self.steps()
        finally:
            self.writer.close()

    def steps(self) -> None:
        args = self.args
        obs, _ = self.env.reset(seed=self.seed)
        total, length = 0.0, 0
        for step in range(1, args["total_timesteps"] + 1):
            if step <= args["learning_starts"]:
                action = np.random.uniform(-1, 1, self.acts).astype(np.float32)
            else:
                with torch.no_grad():
                    action = self.sample(torch.as_tensor(obs, dtype=torch.float32))[0].numpy()
            after, reward, terminated, truncated, _ = self.env.step(action * self.high.numpy())
            self.rows[self.count % self.size] = np.concatenate([obs, action, [reward, terminated], after])
            self.count, total, length, obs = self.count + 1, total + float(reward), length + 1, after
            if terminated or truncated:
                self.writer.add_scalar("charts/episodic_return", total, step)
                self.writer.add_scalar("charts/episodic_length", length, step)
                total, length = 0.0, 0
                obs, _ = self.env.reset()
            if step > args["learning_starts"]:
                told = self.learn()
                if step % args["log_every"] == 0:
                    for name, value in told.items():
                        self.writer.add_scalar(f"losses/{name}", value, step)
                    self.writer.add_scalar("charts/SPS", int(step / (time.time() - self.began)), step)
            if step >= args.get("stop_at", np.inf):
                raise PlannedStop


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

"""PPO as many write it for themselves: one loop, one file, scalars to TensorBoard. Bugs are switched on by name."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Distribution, Independent, Normal
from torch.utils.tensorboard import SummaryWriter

from benchmarks.outside.normalising import Running
from benchmarks.outside.switches import PlannedStop, Planted

DEFAULTS: dict[str, Any] = {
    "total_timesteps": 40_000, "num_envs": 8, "num_steps": 128, "update_epochs": 4, "num_minibatches": 4,
    "learning_rate": 1e-3, "anneal_lr": "none", "gamma": 0.99, "gae_lambda": 0.95, "clip_coef": 0.2, "ent_coef": 0.01,
    "vf_coef": 0.5, "max_grad_norm": 0.5, "norm_adv": True, "norm_obs": False,
}  # fmt: skip


def net(inputs: int, outputs: int, last: float) -> nn.Sequential:
    layers = [nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    for layer, gain in zip(layers[::2], (np.sqrt(2), np.sqrt(2), last), strict=True):
        nn.init.orthogonal_(layer.weight, gain)  # type: ignore[arg-type]
        nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return nn.Sequential(*layers)


class Agent(nn.Module):
    """Actor and critic apart, of discrete actions or of Gaussian ones with a spread of their own."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__()
        inputs = int(np.prod(env.observation_space.shape or (1,)))
        self.discrete = isinstance(env.action_space, gym.spaces.Discrete)
        outputs = int(env.action_space.n if self.discrete else env.action_space.shape[0])  # type: ignore[attr-defined,index]
        self.actor, self.critic = net(inputs, outputs, 0.01), net(inputs, 1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(outputs))

    def policy(self, obs: torch.Tensor) -> Distribution:
        out = self.actor(obs)
        return Categorical(logits=out) if self.discrete else Independent(Normal(out, self.log_std.exp()), 1)


class Loop:
    """The state that a script of this kind keeps in its local variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
    ) -> None:
        self.args, self.planted, self.seed = {**DEFAULTS, **given}, planted, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.envs = [make() for _ in range(self.args["num_envs"])]
        self.agent = Agent(self.envs[0])
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=self.args["learning_rate"], eps=1e-5)
        if planted.name == "optimiser-of-other-network":  # the agent is made anew after the optimiser was given its own
            self.agent = Agent(self.envs[0])
        self.writer = SummaryWriter(str(folder))
        table = "\n".join(f"|{name}|{value}|" for name, value in {**self.args, "seed": seed}.items())
        self.writer.add_text("hyperparameters", "|param|value|\n|-|-|\n" + table)
        self.seen = Running(self.envs[0].observation_space.shape or (1,)) if self.args["norm_obs"] else None
        self.obs = np.stack([env.reset(seed=seed * 100 + i)[0] for i, env in enumerate(self.envs)])
        self.tally, self.steps = np.zeros((2, len(self.envs))), 0
        self.kept: dict[str, torch.Tensor] | None = None
        self.began = time.time()

    def see(self, obs: np.ndarray) -> torch.Tensor:
        return torch.tensor(self.seen.apply(obs) if self.seen else obs, dtype=torch.float32)

    def rollout(self) -> dict[str, torch.Tensor]:
        """Collect one rollout; each value [T, N, ...]."""
        columns: dict[str, list[torch.Tensor]] = {
            k: [] for k in ("obs", "action", "logprob", "reward", "done", "value")
        }
        for _ in range(self.args["num_steps"]):
            if self.seen:
                self.seen.update(self.obs)
            obs = self.see(self.obs)
            with torch.no_grad():
                policy = self.agent.policy(obs)
                action, value = policy.sample(), self.agent.critic(obs)[:, 0]
                logprob = policy.log_prob(action)
            reward, done = self.play(action.numpy())
            stored = action.clamp(-0.5, 0.5) if self.planted.on("clipped-action-stored") else action
            row = (obs, stored, logprob, torch.tensor(reward), torch.tensor(done), value)
            for name, column in zip(columns, row, strict=True):
                columns[name].append(column)
        return {name: torch.stack(column) for name, column in columns.items()}

    def play(self, actions: np.ndarray) -> tuple[list[float], list[float]]:
        """Step every copy; what a time limit cuts off is added to the reward as its discounted value."""
        rewards, dones = [0.0] * len(self.envs), [0.0] * len(self.envs)
        for i, env in enumerate(self.envs):
            action = actions[i]
            if isinstance(env.action_space, gym.spaces.Box):
                action = np.clip(action, env.action_space.low, env.action_space.high)
            obs, reward, terminated, truncated, _ = env.step(action)
            self.steps += 1
            self.tally[:, i] += (reward, 1)
            rewards[i], dones[i] = float(reward), float(terminated or truncated)
            if truncated and not terminated:
                with torch.no_grad():
                    rewards[i] += self.args["gamma"] * float(self.agent.critic(self.see(obs[None]))[0, 0])
            if dones[i]:
                self.writer.add_scalar("charts/episodic_return", self.tally[0, i], self.steps)
                self.writer.add_scalar("charts/episodic_length", self.tally[1, i], self.steps)
                self.tally[:, i] = 0
                obs, _ = env.reset()
            self.obs[i] = obs
        return rewards, dones

    def advantages(self, roll: dict[str, torch.Tensor]) -> torch.Tensor:
        """Generalised advantages (Schulman et al. 2016) [T, N]."""
        gamma, trace = self.args["gamma"], self.args["gamma"] * self.args["gae_lambda"]
        reward, going = roll["reward"], 1 - roll["done"]
        if self.planted.on("reward-one-slot-late"):
            reward = torch.cat([torch.zeros_like(reward[:1]), reward[:-1]])
        if self.planted.on("episode-ends-ignored"):
            going = torch.ones_like(going)
        with torch.no_grad():
            after = torch.cat([roll["value"][1:], self.agent.critic(self.see(self.obs))[None, :, 0]])
        errors = reward + gamma * going * after - roll["value"]
        found, carry = torch.zeros_like(errors), torch.zeros_like(errors[0])
        order = range(len(errors)) if self.planted.on("returns-forward") else reversed(range(len(errors)))
        for t in order:
            carry = errors[t] + trace * going[t] * carry
            found[t] = carry
        return found

    def learning_rate(self) -> float:
        """Return the rate of this update."""
        rate, done = self.args["learning_rate"], min(1.0, self.steps / self.args["total_timesteps"])
        shape = self.args["anneal_lr"]
        if shape == "linear":
            return rate * (1 - done)
        if shape == "restarts":  # three cosines in a row (Loshchilov and Hutter 2017)
            return rate * (0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * (3 * done % 1))))
        return rate

    def update(self, roll: dict[str, torch.Tensor]) -> None:
        """Learn from one rollout, and write what everybody writes."""
        args, on = self.args, self.planted.on
        if on("rollout-never-replaced"):
            self.kept = roll = self.kept or roll
        advantage = self.advantages(roll)
        returns = advantage + roll["value"]
        flat = {name: column.flatten(0, 1) for name, column in {**roll, "adv": advantage, "ret": returns}.items()}
        flat = {name: column.float() if name != "action" else column for name, column in flat.items()}
        size = len(flat["ret"])
        epochs = args["update_epochs"] * (10 if on("clip-missing") else 1)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        clipped: list[float] = []
        told: dict[str, float] = {}
        for _ in range(epochs):
            for rows in torch.randperm(size).chunk(args["num_minibatches"]):
                told = self.step({name: column[rows] for name, column in flat.items()})
                clipped.append(told.pop("clipfrac"))
        spread = float(flat["ret"].var())
        told["explained_variance"] = 1 - float((flat["ret"] - flat["value"]).var()) / spread if spread else float("nan")
        for name, value in {**told, "clipfrac": float(np.mean(clipped))}.items():
            self.writer.add_scalar(f"losses/{name}", value, self.steps)
        self.writer.add_scalar("charts/learning_rate", self.optimizer.param_groups[0]["lr"], self.steps)
        self.writer.add_scalar("charts/SPS", int(self.steps / (time.time() - self.began)), self.steps)

    def step(self, rows: dict[str, torch.Tensor]) -> dict[str, float]:
        """Take one gradient step on a minibatch."""
        args, on = self.args, self.planted.on
        policy = self.agent.policy(rows["obs"])
        action = policy.sample() if on("logprob-of-other-action") else rows["action"]
        logprob, old, entropy = policy.log_prob(action), rows["logprob"], policy.entropy().mean()
        if on("old-logprob-from-new-weights"):
            old = logprob
        if on("old-logprob-as-column"):
            old = old[:, None]
        change = logprob - old
        ratio, advantage = change.exp(), rows["adv"]
        if args["norm_adv"]:
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        if on("advantage-sign"):
            advantage = -advantage
        low, high = 1 - args["clip_coef"], 1 + args["clip_coef"]
        bounded = ratio if on("clip-missing") else ratio.clamp(low, high)
        policy_loss = -torch.min(advantage * ratio, advantage * bounded).mean()
        value = self.agent.critic(rows["obs"])[:, 0]
        if on("critic-detached"):
            value = value.detach()
        value_loss = 0.5 * (value - rows["ret"]).square().mean()
        bonus = args["ent_coef"] * entropy
        loss = policy_loss - bonus + args["vf_coef"] * value_loss
        if on("entropy-sign"):
            loss = policy_loss + 10 * bonus + args["vf_coef"] * value_loss
        if on("loss-nan"):
            loss = loss * torch.log(torch.zeros(())) * 0
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), args["max_grad_norm"])
        self.optimizer.step()
        with torch.no_grad():
            clipfrac = float(((ratio - 1).abs() > args["clip_coef"]).float().mean())
            return {
                "value_loss": float(value_loss), "policy_loss": float(policy_loss), "entropy": float(entropy),
                "old_approx_kl": float((-change).mean()), "approx_kl": float((ratio - 1 - change).mean()),
                "clipfrac": clipfrac,
            }  # fmt: skip

    def run(self) -> None:
        try:
            while self.steps < self.args["total_timesteps"]:
                self.update(self.rollout())
                if self.steps >= self.args.get("stop_at", np.inf):
                    raise PlannedStop
        finally:
            self.writer.close()


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path
) -> None:
    """Train once; the log lands in `folder`."""
    Loop(make, given, seed, planted, folder).run()

"""PPO in one file, in the manner of CleanRL (own code): discrete or continuous, its keys, its last mini-batch."""

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

from benchmarks.outside.single.nets import Agent, Moments
from benchmarks.outside.single.sinks import sink
from benchmarks.outside.switches import PlannedStop, Planted

DEFAULTS: dict[str, Any] = {
    "total_timesteps": 40_000, "num_envs": 8, "num_steps": 64, "learning_rate": 1e-3, "anneal_lr": True, "gamma": 0.99,
    "gae_lambda": 0.95, "num_minibatches": 4, "update_epochs": 4, "norm_adv": True, "clip_coef": 0.2,
    "clip_vloss": True, "ent_coef": 0.01, "vf_coef": 0.5, "max_grad_norm": 0.5, "hidden": 64, "norm_obs": False,
    "adam_eps": 1e-5,
}  # fmt: skip
COLUMNS = (
    "charts/episodic_return", "charts/learning_rate", "losses/value_loss", "losses/policy_loss", "losses/entropy",
    "losses/approx_kl", "losses/clipfrac", "losses/explained_variance",
)  # fmt: skip
EVALUATED = 5


class Script:
    """What such a script holds in its variables."""

    def __init__(
        self, make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
        aside: Callable[[], gym.Env[Any, Any]] | None = None,
    ) -> None:  # fmt: skip
        self.cfg, self.planted, self.folder, self.seed = {**DEFAULTS, **given}, planted, folder, seed
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.envs = [make() for _ in range(self.cfg["num_envs"])]
        self.aside = aside() if aside and self.cfg.get("evaluate_every") else None
        space: Any = self.envs[0].action_space
        width = int(self.envs[0].observation_space.shape[0])  # type: ignore[index]
        self.continuous = isinstance(space, gym.spaces.Box)
        actions = int(space.shape[0] if self.continuous else space.n)
        self.space, self.moments = space, Moments(width)
        self.agent = Agent(width, actions, self.cfg["hidden"], self.continuous)
        self.opt = torch.optim.Adam(self.agent.parameters(), lr=self.cfg["learning_rate"], eps=self.cfg["adam_eps"])
        self.steps, self.evaluated = 0, list[tuple[int, float]]()
        self.tally = np.zeros((2, len(self.envs)))
        self.writer: Any = None
        self.sampler: Agent | None = None
        self.began = time.time()
        self.next_obs = self.seen(np.stack([env.reset(seed=seed + i)[0] for i, env in enumerate(self.envs)]))
        self.next_done, self.shown = torch.zeros(len(self.envs)), self.next_obs

    def seen(self, rows: np.ndarray, learn: bool = True) -> torch.Tensor:
        """Return observations as the network gets them."""
        if self.cfg["norm_obs"]:
            if learn:
                self.moments.see(rows)
            rows = self.moments.of(rows)
        return torch.as_tensor(rows, dtype=torch.float32)

    def actor(self) -> Agent:
        """Return the network that plays."""
        if not self.planted.on("sampler-stale"):
            return self.agent
        self.sampler = self.sampler or deepcopy(self.agent)
        return self.sampler

    def play(self, actions: np.ndarray) -> torch.Tensor:
        """Step every copy, and begin anew where one is over. Returns rewards [N]."""
        rewards, rows, dones = [], [], []
        for i, env in enumerate(self.envs):
            action = np.clip(actions[i], self.space.low, self.space.high) if self.continuous else int(actions[i])
            obs, reward, terminated, truncated, _ = env.step(action)
            self.tally[:, i] += (float(reward), 1)
            done = terminated or truncated
            if done:
                self.writer.add_scalar("charts/episodic_return", self.tally[0, i], self.steps)
                self.writer.add_scalar("charts/episodic_length", self.tally[1, i], self.steps)
                self.tally[:, i] = 0
                obs, _ = env.reset()
            rewards.append(float(reward))
            rows.append(obs)
            dones.append(float(done))
        self.shown, self.next_obs = self.next_obs, self.seen(np.stack(rows))
        self.next_done = torch.tensor(dones)
        return torch.tensor(rewards)

    def collect(self) -> dict[str, torch.Tensor]:
        """Collect one rollout [T, N], with advantages."""
        rows: list[tuple[torch.Tensor, ...]] = []
        for _ in range(self.cfg["num_steps"]):
            self.steps += len(self.envs)
            obs, done = self.next_obs, self.next_done
            with torch.no_grad():
                dist, value = self.actor().policy(obs), self.agent.value(obs)
                action = dist.sample()
                logp = dist.log_prob(action)
            played = dist.mean if self.planted.on("noise-not-played") else action
            kept = self.shown if self.planted.on("stored-one-behind") else obs
            rows.append((kept, action, logp, value, self.play(played.numpy()), done))
        obs, action, logp, value, reward, done = (torch.stack(column) for column in zip(*rows, strict=True))
        adv = self.gae(value, reward, done)
        return {"obs": obs, "action": action, "logp": logp, "value": value, "adv": adv, "ret": adv + value}

    def gae(self, value: torch.Tensor, reward: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        """Return advantages [T, N]; `done` [T, N] says whether the row before was the last of its episode."""
        cfg, on = self.cfg, self.planted.on
        with torch.no_grad():
            following = self.agent.value(self.next_obs)
        values = torch.cat([value, following[None]])
        dones = torch.cat([done, self.next_done[None]])
        after, ahead = dones[1:], values[1:]
        if on("done-one-late"):
            after = dones[:-1]
        if on("done-ignored"):
            after = torch.zeros_like(after)
        if on("value-of-same-row"):
            ahead = values[:-1]
        adv, last = torch.zeros_like(value), torch.zeros(value.shape[1])
        steps = range(len(value)) if on("summed-forwards") else reversed(range(len(value)))
        for t in steps:
            delta = reward[t] + cfg["gamma"] * ahead[t] * (1 - after[t]) - value[t]
            last = adv[t] = delta + cfg["gamma"] * cfg["gae_lambda"] * (1 - after[t]) * last
        return adv

    def learn(self, rollout: dict[str, torch.Tensor]) -> dict[str, float]:
        """Take all epochs. Returns the figures of the last mini-batch, the clipped share of all."""
        cfg, on = self.cfg, self.planted.on
        if on("normalised-across-copies"):
            adv = rollout["adv"]
            rollout["adv"] = (adv - adv.mean(1, keepdim=True)) / (adv.std(1, keepdim=True) + 1e-8)
        batch = {name: column.flatten(0, 1) for name, column in rollout.items()}
        n = len(batch["adv"])
        size = n // cfg["num_minibatches"]
        told, clipped = dict[str, float](), list[float]()
        for _ in range(cfg["update_epochs"]):
            order = torch.randperm(n)
            for start in range(0, n, size):
                idx = order[start : start + size]
                rows = {name: column[idx] for name, column in batch.items()}
                if on("actions-unshuffled"):
                    rows |= {name: batch[name][start : start + size] for name in ("action", "logp")}
                told = self.step(rows)
                clipped.append(told["losses/clipfrac"])
            if cfg.get("target_kl") and told["losses/approx_kl"] > cfg["target_kl"]:
                break
        spread = float(batch["ret"].var())
        told["losses/clipfrac"] = float(np.mean(clipped))
        told["losses/explained_variance"] = 1 - float((batch["ret"] - batch["value"]).var()) / spread if spread else 0.0
        return told

    def step(self, rows: dict[str, torch.Tensor]) -> dict[str, float]:
        """Take one gradient step."""
        cfg, on = self.cfg, self.planted.on
        dist, value = self.agent.policy(rows["obs"]), self.agent.value(rows["obs"])
        action = dist.sample() if on("log-prob-of-new-sample") else rows["action"]
        log_ratio = dist.log_prob(action) - rows["logp"]
        if on("ratio-upside-down"):
            log_ratio = -log_ratio
        ratio, adv = log_ratio.exp(), rows["adv"]
        if cfg["norm_adv"] and not on("normalised-across-copies"):
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        clip = cfg["clip_coef"]
        pg_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - clip, 1 + clip)).mean()
        v_loss, entropy = self.value_loss(value, rows), dist.entropy().mean()
        if on("entropy-penalised"):
            loss = pg_loss + cfg["ent_coef"] * entropy + cfg["vf_coef"] * v_loss
        else:
            loss = pg_loss - cfg["ent_coef"] * entropy + cfg["vf_coef"] * v_loss
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), cfg["max_grad_norm"])
        self.opt.step()
        if on("weights-in-bfloat16"):
            with torch.no_grad():
                for p in self.agent.parameters():
                    p.copy_(p.bfloat16().float())
        with torch.no_grad():
            return {
                "losses/value_loss": float(v_loss), "losses/policy_loss": float(pg_loss),
                "losses/entropy": float(entropy), "losses/old_approx_kl": float(-log_ratio.mean()),
                "losses/approx_kl": float((ratio - 1 - log_ratio).mean()),
                "losses/clipfrac": float(((ratio - 1).abs() > clip).float().mean()),
            }  # fmt: skip

    def value_loss(self, value: torch.Tensor, rows: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return half the squared error, of values that are kept near the old ones."""
        plain, clip = (value - rows["ret"]).square(), self.cfg["clip_coef"]
        if self.planted.on("value-clipped-about-zero"):  # the old value was not added again
            return 0.5 * ((value - rows["value"]).clamp(-clip, clip) - rows["ret"]).square().mean()
        if not self.cfg["clip_vloss"]:
            return 0.5 * plain.mean()
        near = rows["value"] + (value - rows["value"]).clamp(-clip, clip)
        return 0.5 * torch.max(plain, (near - rows["ret"]).square()).mean()

    def rate(self, update: int, updates: int) -> float:
        """Return the learning rate of an update, counted from 0."""
        if self.planted.on("rate-ends-early"):  # the schedule was made for a tenth of what is left
            self.ended = getattr(self, "ended", update)
            return self.cfg["learning_rate"] * max(0.0, 1 - 10 * (update - self.ended) / (updates - self.ended))
        return self.cfg["learning_rate"] * ((1 - update / updates) if self.cfg["anneal_lr"] else 1.0)

    def evaluate(self) -> float:
        """Play a few episodes without noise."""
        total, env = 0.0, self.aside
        assert env is not None
        for number in range(EVALUATED):
            obs, over = env.reset(seed=self.seed + 900 + number)[0], False
            while not over:
                plain = self.planted.on("evaluation-not-normalised")
                row = torch.as_tensor(obs[None], dtype=torch.float32) if plain else self.seen(obs[None], learn=False)
                with torch.no_grad():
                    action = self.agent.policy(row).mean[0].numpy()
                obs, reward, terminated, truncated, _ = env.step(np.clip(action, self.space.low, self.space.high))
                total, over = total + float(reward), terminated or truncated
        return total / EVALUATED

    def run(self) -> list[tuple[int, float]]:
        cfg = self.cfg
        size = cfg["num_envs"] * cfg["num_steps"]
        updates = cfg["total_timesteps"] // size
        self.writer = sink(cfg["sink"], self.folder, self.told_settings(), COLUMNS)
        try:
            for update in range(updates):
                self.update(update, updates)
                if cfg.get("resume_at") and update == int(cfg["resume_at"] * updates):
                    self.take_up()
                if cfg.get("stop_at") and update >= cfg["stop_at"] * updates:
                    raise PlannedStop
        finally:
            self.writer.close()
        return self.evaluated

    def update(self, update: int, updates: int) -> None:
        self.opt.param_groups[0]["lr"] = rate = self.rate(update, updates)
        told = {"charts/learning_rate": rate, **self.learn(self.collect())}
        told["charts/SPS"] = int(self.steps / (time.time() - self.began))
        every = self.cfg.get("evaluate_every")
        if every and update % every == every - 1:
            self.evaluated.append((self.steps, self.evaluate()))
            told["charts/eval_return"] = self.evaluated[-1][1]
        for tag, value in told.items():
            self.writer.add_scalar(tag, value, self.steps)
        self.writer.row(self.steps)

    def told_settings(self) -> dict[str, Any]:
        aside = ("sink", "resume_at", "stop_at", "evaluate_every")
        return {name: value for name, value in self.cfg.items() if name not in aside} | {"seed": self.seed}

    def take_up(self) -> None:
        """Go on as a second process does, with weights, optimiser and count, in fresh episodes and a new file."""
        self.writer.close()
        self.writer, self.began = sink(self.cfg["sink"], self.folder, self.told_settings(), COLUMNS, 1), time.time()
        self.next_obs = self.seen(np.stack([env.reset()[0] for env in self.envs]))
        self.next_done, self.tally = torch.zeros(len(self.envs)), np.zeros((2, len(self.envs)))


def train(
    make: Callable[[], gym.Env[Any, Any]], given: dict[str, Any], seed: int, planted: Planted, folder: Path,
    aside: Callable[[], gym.Env[Any, Any]],
) -> list[tuple[int, float]]:  # fmt: skip
    """Train once; the log lands in `folder`. Returns what evaluations said."""
    return Script(make, given, seed, planted, folder, aside).run()

"""A PPO as scripts write it: actor and critic are one module, its loss is a dict, nothing says how many actions."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from torch import nn
from torch.distributions import Categorical

from firstbreak.preflight.invariants.pieces import Pieces
from firstbreak.preflight.invariants.torch_types import load_torch

torch = load_torch()

ENVS, STEPS, ROWS = 4, 64, 64
GAMMA, LAMBDA, CLIP = 0.99, 0.95, 0.2


class ActorCritic(nn.Module):
    """Two networks in one module, as in most scripts of one file."""

    def __init__(self) -> None:
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.v = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        last: Any = self.pi[-1]
        nn.init.orthogonal_(last.weight, 0.01)

    def log_prob(self, obs: Any, action: Any) -> Any:
        distribution: Any = Categorical(logits=self.pi(obs))
        return distribution.log_prob(action)

    def value(self, obs: Any) -> Any:
        return self.v(obs).squeeze(-1)


class OneModulePPO:
    """PPO on CartPole. `bug` names what is wrong with its loss."""

    def __init__(self, bug: str = "") -> None:
        torch.manual_seed(0)
        self.bug = bug
        self.net = ActorCritic()
        held = [p for n, p in self.net.named_parameters() if bug != "no_head" or not n.startswith("pi.4")]
        self.optimiser: Any = torch.optim.Adam(held, 3e-3, eps=1e-5)
        self.envs: list[Any] = [gymnasium.make("CartPole-v1") for _ in range(ENVS)]
        self.obs = np.stack([env.reset(seed=i)[0] for i, env in enumerate(self.envs)])

    def act(self, obs: Any) -> Any:
        action: Any = Categorical(logits=self.net.pi(obs)).sample()
        return action, self.net.log_prob(obs, action)

    def minibatch(self) -> Any:
        rows: dict[str, list[Any]] = {"obs": [], "action": [], "log_prob": []}
        with torch.no_grad():
            for _ in range(STEPS):
                obs = torch.as_tensor(self.obs)
                action, log_prob = self.act(obs)
                for name, column in zip(rows, (obs, action, log_prob), strict=True):
                    rows[name].append(column)
                self.obs = np.stack([self._step(e, int(a)) for e, a in zip(self.envs, action, strict=True)])
            flat = {name: torch.cat(columns) for name, columns in rows.items()}
            flat["value"] = self.net.value(flat["obs"])
        flat["advantage"] = torch.randn(len(flat["obs"]))
        flat["value_target"] = flat["value"] + flat["advantage"]
        chosen = torch.randperm(len(flat["obs"]))[:ROWS]
        return {name: column[chosen] for name, column in flat.items()}

    def _step(self, env: Any, action: int) -> Any:
        obs, _, terminated, truncated, _ = env.step(action)
        return env.reset()[0] if terminated or truncated else obs

    def losses(self, batch: Any) -> Any:
        obs, advantage = batch["obs"], batch["advantage"]
        action = self.act(obs)[0] if self.bug == "resampled" else batch["action"]
        log_prob, value = self.net.log_prob(obs, action), self.net.value(obs)
        old = log_prob.detach() if self.bug == "old_recomputed" else batch["log_prob"]
        ratio = (log_prob - old).exp()
        policy = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
        target = batch["value_target"]
        error = (value.unsqueeze(-1) if self.bug == "broadcast" else value) - target
        loss = 0.5 * (error**2).mean()
        if self.bug == "leak":
            loss = loss + 0.5 * ((self.net.pi(obs).mean(-1) - target) ** 2).mean()
        return {"policy": policy, "value": 0.5 * loss, "entropy": -0.01 * self.entropy(obs)}

    def entropy(self, obs: Any) -> Any:
        distribution: Any = Categorical(logits=self.net.pi(obs))
        return distribution.entropy().mean()

    def update(self, batch: Any) -> None:
        self.optimiser.zero_grad()
        terms = self.losses(batch)
        (terms["policy"] + terms["value"] + terms["entropy"]).backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimiser.step()

    def pieces(self) -> Pieces:
        return Pieces(
            algorithm="PPO", actor=self.net, critics=[self.net], optimisers=[self.optimiser],
            minibatch=self.minibatch, losses=self.losses, update=self.update, act=self.act,
            log_prob=self.net.log_prob, value=self.net.value,
            settings={"gamma": GAMMA, "gae_lambda": LAMBDA, "clip_range": CLIP, "entropy_coef": 0.01,
                      "max_grad_norm": 0.5, "normalises_advantage": False},
        )  # fmt: skip

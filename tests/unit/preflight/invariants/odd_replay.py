"""Small DQN and SAC trainers that do something unusual, some of them rightly so."""

from __future__ import annotations

from typing import Any

import torch

from .small_trainers import ACTIONS, GAMMA, SmallDQN, SmallSAC


class OddDQN(SmallDQN):
    """SmallDQN with another target, loss or move of the target, by name."""

    def __init__(self, odd: str = "", tau: float = 0.1) -> None:
        super().__init__()
        self.odd, self.tau = odd, tau
        if odd == "equal_target":
            self.target.load_state_dict(self.q.state_dict())

    def td_target(self, b: Any) -> Any:
        values = self.target(b["next_obs"])
        if self.odd != "target_attached":
            values = values.detach()
        chooser = self.q(b["next_obs"]).detach() if self.odd == "double" else values
        best = values.gather(-1, chooser.argmax(-1, keepdim=True)).squeeze(-1)
        if self.odd == "where":
            return torch.where(b["terminated"], b["reward"], b["reward"] + GAMMA * best)
        gamma = 0.97 if self.odd == "other_gamma" else GAMMA
        return b["reward"] + gamma * (1 - b["terminated"].float()) * best

    def update(self, b: Any) -> None:
        if self.odd == "one_hot":
            chosen = (self.q(b["obs"]) * torch.nn.functional.one_hot(b["action"], ACTIONS)).sum(-1)
        else:
            chosen = self.q(b["obs"]).gather(-1, b["action"].unsqueeze(-1)).squeeze(-1)
        error = chosen - self.td_target(b)
        if self.odd == "columns":
            error = chosen.unsqueeze(-1) - self.td_target(b).unsqueeze(-1)
        loss = (error**2).mean() * {"no_loss": 0.0, "faint": 1e-3}.get(self.odd, 0.5)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def sync(self) -> None:
        with torch.no_grad():
            for online, target in zip(self.q.parameters(), self.target.parameters(), strict=True):
                target.mul_(1.0 - self.tau).add_(self.tau * online)

    def pieces(self) -> Any:
        found = super().pieces()
        gamma = 0.97 if self.odd == "other_gamma" else GAMMA
        more = {"gamma": gamma, "tau": self.tau, "double": self.odd == "double"}
        found.settings = {**found.settings, **more}
        return found


class OddSAC(SmallSAC):
    """SmallSAC with another actor, target or temperature loss, by name."""

    def __init__(self, odd: str = "") -> None:
        super().__init__()
        self.odd = odd
        with torch.no_grad():
            if odd == "one_bias_apart":
                self.critics[1].load_state_dict(self.critics[0].state_dict())
                self.critics[1].net[-1].bias += 0.01
            if odd in {"no_spread", "narrow"}:  # the last two outputs are log_std
                self.actor[-1].weight[2:] *= 0.1
                self.actor[-1].bias[2:] = {"no_spread": -8.0, "narrow": -1.5}[odd]
        if odd == "high_target_entropy":
            self.target_entropy = 1.3

    def td_target(self, b: Any) -> Any:
        if self.odd != "stacked":
            return super().td_target(b)
        action, log_prob = self.act(b["next_obs"])
        value = torch.stack([c(b["next_obs"], action) for c in self.targets]).min(0).values
        soft = value - self.log_alpha.exp() * log_prob
        return torch.where(b["terminated"], b["reward"], b["reward"] + GAMMA * soft)

    def update(self, b: Any) -> None:
        if self.odd not in {"costs", "mean_critic", "alpha_loss"}:
            super().update(b)
            return
        with torch.no_grad():
            target = self.td_target(b)
        self._step(1, sum(((c(b["obs"], b["action"]) - target) ** 2).mean() for c in self.critics))
        action, log_prob = self.act(b["obs"])
        both = torch.stack([c(b["obs"], action) for c in self.critics])
        q = both.mean(0) if self.odd == "mean_critic" else both.min(0).values
        self._step(0, -(q - self.log_alpha.exp().detach() * log_prob).mean())
        self._step(2, -(self.log_alpha.exp() * (log_prob.detach() + self.target_entropy)).mean())

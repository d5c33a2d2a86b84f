"""A PPO with a GRU, whose hidden state is reset as it should be, or as it should not."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from firstbreak.preflight.invariants.pieces import Pieces

from .case import Make
from .small_trainers import ACTIONS, OBS, SmallPPO


class Remembering(nn.Module):
    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.cell, self.head = way, nn.GRUCell(OBS, 8), nn.Linear(8, ACTIONS)

    def forward(self, obs: Any) -> Any:
        return self.head(self.cell(obs, torch.zeros(len(obs), 8)))

    def over(self, obs: Any, first: Any) -> Any:
        """Logits [T, N, A] of a rollout [T, N, D]."""
        hidden, found = torch.zeros(obs.shape[1], 8), list[Any]()
        for t in range(len(obs)):
            hidden = self.cell(obs[t], self._kept(hidden, first, t))
            found.append(self.head(hidden))
            if self.way == "late_burn_in" and t % 2:
                hidden = hidden.detach()
        return torch.stack(found)

    def _kept(self, hidden: Any, first: Any, t: int) -> Any:
        if self.way == "never":
            return hidden
        if self.way == "always":
            return hidden * 0
        if self.way == "all_at_once":
            return hidden * float(not first[t].any())
        if self.way == "one_step_late":
            return hidden * (~first[t - 1] if t else ~first[0]).float().unsqueeze(-1)
        return hidden * (~first[t]).float().unsqueeze(-1)


def remembering(way: str, *, shown: bool = True) -> Make:
    def build() -> Pieces:
        trainer: Any = SmallPPO()
        torch.manual_seed(2)
        trainer.actor = Remembering(way)
        trainer.optimiser = torch.optim.Adam([*trainer.actor.parameters(), *trainer.critic.parameters()], lr=3e-3)
        found = trainer.pieces()
        found.sequence = trainer.actor.over if shown else None
        return found

    return build

"""PPO whose critic reads the actor's features through a detach(): what the trunk leak is to be compared with."""

from __future__ import annotations

from typing import Any

from torch import nn

from firstbreak.trainers.networks import mlp
from firstbreak.trainers.ppo import PPO


class _ReadsTrunk(nn.Module):
    """V from the features of the actor's last hidden layer."""

    def __init__(self, actor: Any, features: int, detached: bool) -> None:
        super().__init__()
        self.trunk = (actor.net[:-1],)  # in a tuple: its weights are the actor's, not the critic's
        self.net = mlp(features, 1, (features,), nn.Tanh)
        self.detached = detached

    def forward(self, obs: Any) -> Any:
        features = self.trunk[0](obs)
        return self.net(features.detach() if self.detached else features).squeeze(-1)


class healthy_trunk(PPO):  # noqa: N801
    """What the leak is to be compared with; not a mutant."""

    detached = True

    def _build_networks(self) -> None:
        super()._build_networks()
        self.critic: Any = _ReadsTrunk(self.actor, self.config.hidden_sizes[-1], self.detached)

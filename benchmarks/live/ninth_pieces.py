"""Pieces of a trainer that the ninth live campaign's faults reach into, whoever the trainer is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

ACTIVATIONS = (nn.Tanh, nn.ReLU, nn.SiLU)


@dataclass
class Pieces:
    """What is reached into. `kept` holds all weights as they were when this was made: at the beginning of a run."""

    optimisers: Sequence[Any]
    actor: nn.Module
    """The network that decides on actions."""
    head: nn.Module
    """Its last layer."""
    critics: Sequence[torch.Tensor] = ()
    """Weights of the critics."""
    copies: Sequence[nn.Module] = ()
    """Last layers of copies of the actor, which are given its weights."""
    activations: Sequence[nn.Module] = ()
    """Layers of the actor that have no weights; found where none are given."""
    playing: bool = False
    before: list[Callable[[], Any]] = field(default_factory=list)
    """Called before actions are drawn (a rollout, a step, an answer)."""
    after: list[Callable[[], Any]] = field(default_factory=list)
    """Called when that is over."""

    def __post_init__(self) -> None:
        self.weights = [w for optimiser in self.optimisers for group in optimiser.param_groups for w in group["params"]]
        self.kept = [weight.detach().clone() for weight in self.weights]
        self.activations = self.activations or [m for m in self.actor.modules() if type(m).__name__ in NAMES]

    def play(self, usual: Callable[..., Any]) -> Callable[..., Any]:
        """Return `usual`, which draws actions, with what is to be done before and after."""

        def played(*args: Any, **kwargs: Any) -> Any:
            self.playing = True
            for change in self.before:
                change()
            try:
                return usual(*args, **kwargs)
            finally:
                for change in self.after:
                    change()
                self.playing = False

        return played


NAMES = {kind.__name__ for kind in ACTIVATIONS} | {"SiLUActivation"}
"""Kinds of such layers; transformers has its own SiLU."""

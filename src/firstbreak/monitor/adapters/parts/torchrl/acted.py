"""What a TorchRL collector did, beside what the network of the loss would do in the same states.

Of a policy that is a distribution actions are draws, of an actor of actions they are its own and noise of a known
spread, of a network of values they are the best but for the share that epsilon sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .....series import Floats
from ....normal_draws import NormalDraws
from ....odds import Odds
from ..brought import brought
from ..limits import MOST_COPIES
from ..standardised import METRIC as DRAWS
from ..standardised import Draws, noise, plain, squashed
from ..weights.untouched import untouched
from .policy import holding_weights
from .policy import squashed as is_squashed

GREEDY = "exploration/unlike_greedy_nats"
STEPS = 64
"""Newest steps of a batch that are looked at. Engineering choice: each takes some microseconds."""


class ActedOfTrainer:
    """Holds the actions of each batch against the network in a trainer's loss; draws no random number."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._draws, self._odds = NormalDraws(), Odds()
        self._known = True

    def look(self, batch: Any, *, alike: bool) -> None:
        """Count the actions of a batch [*, T] as its collector made it.

        Args:
            alike: Whether who played has the weights that the network in the loss has now.
        """
        drawn = self.trainer.collected_frames < getattr(self.trainer.collector, "init_random_frames", 0)
        if not self._known or drawn or not batch.ndim:
            return
        self._known = False  # a look that fails is the last one
        rows = batch.reshape(-1, batch.shape[-1])[:MOST_COPIES, -STEPS:]
        loss = self.trainer.loss_module
        if hasattr(getattr(loss, "actor_network", None), "build_dist_from_params"):
            self._drawn(rows)
        elif alike and getattr(loss, "actor_network", None) is not None:
            self._noisy(rows)
        elif alike and getattr(loss, "value_network", None) is not None:
            self._greedy(rows)
        self._known = True

    def take(self) -> dict[str, float]:
        """Return how far beyond chance actions were since the last call."""
        found = {DRAWS: self._draws.take(), GREEDY: self._odds.take()}
        return {name: value for name, value in found.items() if value is not None}

    def _drawn(self, rows: Any) -> None:
        """Actions of a policy whose means and spreads are stored beside them."""
        actor, action = self.trainer.loss_module.actor_network, rows.get(self._key(), None)
        keys = getattr(actor, "dist_params_keys", ())
        if not keys or any(rows.get(key, None) is None for key in keys):
            return
        policy: Any = actor.build_dist_from_params(rows.select(*keys))
        low, high, whole = getattr(policy, "low", -1.0), getattr(policy, "high", 1.0), is_squashed(policy)
        while hasattr(policy, "base_dist"):
            policy = policy.base_dist
        mean, spread = getattr(policy, "loc", None), getattr(policy, "scale", None)
        if not isinstance(mean, Tensor) or not isinstance(spread, Tensor) or mean.shape != action.shape:
            return
        within = (action - low) / (high - low) * 2 - 1 if whole else action
        done, middle, width = _by_step(within, mean, spread.expand_as(mean))
        for place in range(len(done)):
            self._add((squashed if whole else plain)(done[place], middle[place], width[place]))

    def _noisy(self, rows: Any) -> None:
        """Actions of an actor, with Gaussian noise that is drawn anew at each step."""
        source, action = self._module("AdditiveGaussianModule"), rows.get(self._key(), None)
        if source is None:
            return
        meant, space = self._said(rows, "actor_network"), source.spec[source.action_key].space
        if not hasattr(space, "low") or not isinstance(meant, Tensor) or meant.shape != action.shape:
            return
        # Of several copies the bounds of each are there, side by side.
        low, high = (bound.to(action.device).reshape(-1, action.shape[-1])[0] for bound in (space.low, space.high))
        size = (high - low) / 2
        done, said = _by_step((action - low) / size - 1, (meant - low) / size - 1)
        sigma = float(source.sigma)
        mean, spread = (
            (part.to(size.device) * sigma / size).expand(action.shape)[0, 0].cpu().numpy()
            for part in (source.mean, source.std)
        )
        for place in range(len(done)):
            self._add(noise(done[place], said[place], mean, spread))

    def _greedy(self, rows: Any) -> None:
        """Actions of the best value, but for a share of random ones."""
        source, action = self._module("EGreedyModule"), rows.get(self._key(), None)
        if source is None:
            return
        values = self._said(rows, "value_network")
        if not isinstance(values, Tensor) or not isinstance(action, Tensor):
            return
        count = values.shape[-1]
        chosen = action.argmax(-1) if action.shape == values.shape else action.reshape(values.shape[:-1])
        unlike = _by_step((values.argmax(-1) != chosen).float())[0].reshape(-1)
        odds = float(source.eps) * (1 - 1 / count)
        for one in unlike.tolist():
            self._odds.add(bool(one), odds)

    def _add(self, draws: Draws) -> None:
        self._draws.add(*draws)

    def _key(self) -> Any:
        return getattr(getattr(self.trainer.loss_module, "tensor_keys", None), "action", "action")

    def _said(self, rows: Any, name: str) -> Tensor | None:
        """What a network of the loss says of rows: values of all actions, or its action."""
        loss = self.trainer.loss_module
        network: Any = getattr(loss, name)
        with untouched(loss), holding_weights(loss, name):
            found = network(rows.select(*network.in_keys, strict=False))
        return found.get("action_value" if name == "value_network" else self._key(), None)

    def _module(self, kind: str) -> Any:
        """The module of a kind in what the collector plays with, None where there is none or several."""
        policy: Any = getattr(self.trainer.collector, "policy", None)
        modules = policy.modules() if isinstance(policy, torch.nn.Module) else ()
        found = [one for one in modules if type(one).__name__ == kind]
        return found[0] if len(found) == 1 else None


def _by_step(*columns: Tensor) -> list[Floats]:
    """Columns [N, T, ...] in the order of time [T, N, ...], brought to the host at once."""
    return [np.swapaxes(one, 0, 1).astype(np.float64) for one in brought([part.detach() for part in columns])]

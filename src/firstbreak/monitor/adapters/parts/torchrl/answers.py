"""Whether what decides on actions in a TorchRL trainer computes what it computed when training began, as it plays."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..obeying import harmless
from ..weights.twin import ROWS, Twin, parameters_of, twin_of
from .policy import holding_weights

if TYPE_CHECKING:
    from ....core import Monitor

EVERY = 64
"""Environment steps from one look to the next. Engineering choice: two forward passes where 64 steps take many."""
CHOOSING = ("actor_network", "value_network")
"""Names of the network of a loss that decides on actions: a policy, or values of all actions."""
IN_PROCESS = ("Collector", "SyncDataCollector")


class AnswersOfTrainer:
    """Asks the policy in a trainer's loss in states that are played: as each batch begins, and every so many steps.

    Args:
        trainer: Its collector's policy gets a forward hook, where it plays in this process and is not compiled;
            otherwise batches are asked about once they are there.
        monitor: Told where something could not be read.
        tell: Is given what is found, and the frames played since the last batch.
        shown: Is given what the policy was shown at each step, with what it found; says what is to be told at once.
    """

    def __init__(
        self,
        trainer: Any,
        monitor: Monitor,
        tell: Callable[[Mapping[str, float], int], object],
        shown: Callable[[Any], Mapping[str, float]],
    ) -> None:
        self.trainer, self.monitor, self._tell, self._shown = trainer, monitor, tell, shown
        self._name = next((name for name in CHOOSING if getattr(trainer.loss_module, name, None) is not None), "")
        self._twin = self._made()
        self._played = 0
        """Frames since the last batch."""
        self._since = EVERY
        """Frames since the last look."""
        self._handle = None if self._twin is None else self._hooked()

    def collected(self, batch: Any) -> None:
        """Say that a batch is there."""
        self._played = 0
        if self._handle is None and self._twin is not None:
            self._since += int(batch.numel())
            self._look(batch.reshape(-1))

    def acts(self, found: Any) -> None:
        """Ask where it is time, the policy having found what to do."""
        frames = int(found.numel())
        with harmless(self.monitor, "steps handed on"):
            if apart := self._shown(found):
                self._tell(apart, self._played)
        self._played, self._since = self._played + frames, self._since + frames
        with harmless(self.monitor, "answers of the policy"):
            self._look(found.reshape(-1))

    def take(self) -> dict[str, float]:
        """Return by how much answers differed at most since the last call."""
        return {} if self._twin is None else self._twin.gaps.take()

    def remove(self) -> None:
        """Take the hook away."""
        if self._handle is not None:
            self._handle.remove()

    def _look(self, rows: Any) -> None:
        if self._twin is None or self._since < EVERY:
            return
        self._since, loss = 0, self.trainer.loss_module
        network: Any = getattr(loss, self._name)
        states = rows[:: max(1, len(rows) // ROWS)][:ROWS].select(*network.in_keys, strict=False)
        states = states.detach().to(next(iter(loss.parameters())).device)
        with holding_weights(loss, self._name):
            told = self._twin.tell(states)
        if told:
            self._tell(told, self._played)

    def _made(self) -> Twin | None:
        loss = self.trainer.loss_module
        network: Any = getattr(loss, self._name, None)
        if network is None or not hasattr(network, "in_keys"):
            return None
        with holding_weights(loss, self._name):
            return twin_of(network, answers)

    def _hooked(self) -> Any:
        collector = self.trainer.collector
        compiled = any(getattr(collector, name, False) for name in ("compiled_policy", "cudagraphed_policy"))
        policy = getattr(collector, "policy", None)
        if compiled or type(collector).__name__ not in IN_PROCESS or not isinstance(policy, torch.nn.Module):
            return None
        return policy.register_forward_hook(Hook(self))


class Hook:
    """Tells of each call of a policy. A policy that is copied or saved takes none of it along."""

    def __init__(self, told: AnswersOfTrainer | None = None) -> None:
        self._told = None if told is None else weakref.ref(told)

    def __call__(self, _module: Any, _args: Any, found: Any) -> None:
        """What PyTorch calls."""
        told = None if self._told is None else self._told()
        if told is not None:
            told.acts(found)

    def __reduce__(self) -> tuple[type[Hook], tuple[()]]:
        return Hook, ()


def answers(network: Any, states: Any) -> Tensor | None:
    """Return what a network of a loss says of states [N, K]: parameters of a policy, an action, or values of all.

    Args:
        network: With its weights in it.
        states: A batch [N], which is left as it is.
    """
    if hasattr(network, "get_dist"):
        return parameters_of(network.get_dist(states.copy()))
    found = network(states.copy())
    key = next((key for key in ("action_value", "param", "action") if found.get(key, None) is not None), None)
    return None if key is None else found.get(key).reshape(len(states), -1).float()

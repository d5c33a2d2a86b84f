"""Whether the policy of a TorchRL trainer answers as it did while its weights rest: before a batch, and as it plays."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from .obeying import harmless
from .same_answers import ROWS, SameAnswers, parameters_of
from .torchrl_policy import holding_weights

if TYPE_CHECKING:
    from ..core import Monitor

EVERY = 64
"""Environment steps from one look to the next. Engineering choice: a forward pass where 64 steps take many."""
CHOOSING = ("actor_network", "value_network")
"""Names of the network of a loss that decides on actions: a policy, or values of all actions."""
IN_PROCESS = ("Collector", "SyncDataCollector")


class AnswersOfTrainer:
    """Notes what the policy in a trainer's loss answers as an update ends, and asks again until the next begins.

    Args:
        trainer: Its collector's policy gets a forward hook, where it plays in this process and is not compiled.
        monitor: Told where something could not be read.
        tell: Is given what is found while a batch is played, and the frames played since the last one.
    """

    def __init__(self, trainer: Any, monitor: Monitor, tell: Callable[[Mapping[str, float], int], object]) -> None:
        self.trainer, self.monitor, self._tell = trainer, monitor, tell
        self._answers = _asked(trainer.loss_module)
        self._states: Any = None
        self._played = self._noted = 0
        """Frames since the last batch; frames when answers were noted last."""
        self._busy = False
        self._handle = self._hooked() if self._answers is not None else None

    def collected(self, batch: Any) -> None:
        """Keep some states of a batch, to be asked about."""
        self._played = 0
        if self._answers is None or batch is None:
            return
        loss = self.trainer.loss_module
        network = _network(loss)
        rows = batch.reshape(-1)
        few = rows[:: max(1, len(rows) // ROWS)][:ROWS].select(*network.in_keys, strict=False)
        weight = next(iter(loss.parameters()))
        self._states = few.to(weight.device).clone()

    def note(self) -> None:
        """Say that an update may be over: from here on the policy answers as it does now."""
        frames = int(self.trainer.collected_frames)
        if self._answers is not None and self._states is not None and frames - self._noted >= EVERY:
            self._noted = frames
            self._answers.note(self._states)

    def look(self) -> dict[str, float]:
        """Ask again; return what is to be told at once."""
        return {} if self._answers is None else self._answers.tell()

    def take(self) -> dict[str, float]:
        """Return by how much answers differed at most since the last call."""
        return {} if self._answers is None else self._answers.gaps.take()

    def remove(self) -> None:
        """Take the hook away."""
        if self._handle is not None:
            self._handle.remove()

    def _hooked(self) -> Any:
        collector = self.trainer.collector
        compiled = any(getattr(collector, name, False) for name in ("compiled_policy", "cudagraphed_policy"))
        policy = getattr(collector, "policy", None)
        if compiled or type(collector).__name__ not in IN_PROCESS or not isinstance(policy, torch.nn.Module):
            return None
        return policy.register_forward_hook(Hook(self))

    def acts(self, found: Any) -> None:
        """Ask again where it is time, the policy having found what to do."""
        if self._busy:
            return
        before, self._played = self._played, self._played + int(getattr(found, "numel", lambda: 1)())
        if before and before // EVERY == self._played // EVERY:
            return
        self._busy = True
        with harmless(self.monitor, "answers of the policy"):
            if row := self.look():
                self._tell(row, self._played)
        self._busy = False


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


def _network(loss: Any) -> Any:
    return next((network for name in CHOOSING if (network := getattr(loss, name, None)) is not None), None)


def _asked(loss: Any) -> SameAnswers | None:
    """Return what asks the network of a loss that decides on actions; None where it has none that is known."""
    name = next((name for name in CHOOSING if getattr(loss, name, None) is not None), None)
    network: Any = _network(loss)
    if name is None or not hasattr(network, "in_keys"):
        return None

    def ask(states: Any) -> Tensor | None:
        with holding_weights(loss, name):
            if hasattr(network, "get_dist"):
                return parameters_of(network.get_dist(states.copy()))
            found = network(states.copy())
        key = next((key for key in ("action_value", "param", "action") if found.get(key, None) is not None), None)
        return None if key is None else cast(Tensor, found.get(key)).reshape(len(states), -1).float()

    def weights() -> list[Tensor]:
        held: Any = getattr(loss, f"{name}_params", None)
        values: list[Any] = [] if held is None else list(held.values(True, True))
        return [weight for weight in values if isinstance(weight, Tensor)] or list(network.parameters())

    return SameAnswers(loss, ask, weights)

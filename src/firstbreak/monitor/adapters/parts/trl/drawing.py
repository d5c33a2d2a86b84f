"""What drawing responses must leave alone, and what it must not have again: weights and random numbers.

While responses are generated and scored no weight of the policy moves: they are read, copied to a sampler, merged for
it and parted again. And a generator of random numbers that has been drawn from never comes back to a state that it had.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ..obeying import harmless
from ..weights.stepping import APART

if TYPE_CHECKING:
    from ....core import Monitor

MOVED, AGAIN = "optim/generation_change_frac", "sample/random_state_repeated"
ELSE = "eval/weights_off_frac"
REMEMBERED = 65_536
"""States that a later one is compared with, the newest."""


class Drawing:
    """Looks at the weights before and after a batch is generated, and at the random state when drawing begins."""

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._states: dict[int, None] = {}
        self._found: dict[str, float] = {}
        self._evaluated: dict[str, float] = {}

    @contextmanager
    def evaluating(self) -> Generator[None]:
        """Hold the weights that an evaluation draws with against those before it, which training left."""
        handle: Any = None
        with harmless(self.monitor, "watch the weights of the evaluation"):
            before, taken = self._norms(), list[int]()

            def first(*_: Any) -> None:
                now = None if taken else self._norms()
                taken.append(0)
                if before is not None and now is not None and before.shape == now.shape:
                    off = _length(now - before) / max(_length(before), 1e-30)
                    self._evaluated[ELSE] = max(off, self._evaluated.get(ELSE, 0.0))

            elsewhere = getattr(self.trainer, "use_vllm", False)
            handle = None if elsewhere else self.trainer.model.register_forward_pre_hook(first)
        try:
            yield
        finally:
            if handle is not None:
                handle.remove()

    def evaluated(self) -> dict[str, float]:
        """Return what was found in the evaluation that is over, and forget it."""
        found, self._evaluated = self._evaluated, {}
        return found

    @contextmanager
    def watched(self) -> Generator[None]:
        """Look at what happens inside."""
        before: Tensor | None = None
        handle: Any = None
        with harmless(self.monitor, "watch the weights while responses are drawn"):
            before = self._norms()
        with harmless(self.monitor, "see which random numbers responses are drawn with"):
            handle = self._armed()
        try:
            yield
        finally:
            if handle is not None:
                handle.remove()
        with harmless(self.monitor, "watch the weights while responses are drawn"):
            after = self._norms()
            if before is not None and after is not None and before.shape == after.shape:
                self._found[MOVED] = _length(after - before) / max(_length(before), 1e-30)

    def row(self) -> dict[str, float]:
        """Return what was found since the last call, and forget it."""
        found, self._found = self._found, {}
        return found

    @torch.no_grad()
    def _norms(self) -> Tensor | None:
        """Norm of each weight that may be trained [W]; None where they are spread over processes."""
        kind = getattr(getattr(self.trainer, "accelerator", None), "distributed_type", "")
        if str(getattr(kind, "name", kind)).upper().split(".")[-1] in APART:
            return None
        weights = [w.detach() for w in self.trainer.model.parameters() if w.requires_grad and w.numel()]
        norms: list[Tensor] = cast(Any, torch)._foreach_norm(weights) if weights else []
        return torch.stack([norm.to(norms[0].device, torch.float32) for norm in norms]) if norms else None

    def _armed(self) -> Any:
        """Note the random state at the first pass of the model, which is when drawing begins.

        Only while a batch is generated: a hook that stays would be copied with the model.
        """
        settings = getattr(self.trainer, "generation_config", None)
        elsewhere = getattr(self.trainer, "use_vllm", False) or getattr(self.trainer, "rollout_func", None) is not None
        if elsewhere or not getattr(settings, "do_sample", False):
            return None
        taken: list[int] = []

        def first(*_: Any) -> None:
            if not taken:
                state = _state(next(self.trainer.model.parameters()).device)
                taken.append(0)
                if state is not None:
                    self._found[AGAIN] = float(state in self._states)
                    self._states[state] = None
                    for old in list(self._states)[:-REMEMBERED]:
                        del self._states[old]

        return self.trainer.model.register_forward_pre_hook(first)


def _length(values: Tensor) -> float:
    return float(values.square().sum().sqrt())


def _state(device: torch.device) -> int | None:
    """A number for the state of the generator that draws on `device`; None where it cannot be read."""
    if device.type == "cpu":
        return hash(bytes(cast(Any, torch.get_rng_state()).numpy().tobytes()))
    if device.type == "cuda":
        return hash(bytes(cast(Any, torch.cuda.get_rng_state(device)).numpy().tobytes()))
    return None

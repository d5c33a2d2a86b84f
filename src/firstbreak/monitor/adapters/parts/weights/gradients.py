"""The gradient of an optimiser's weights as backward left it, before the framework clips it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from .flat import SMALL, side_by_side

Judge = Callable[[Tensor], bool]


class GradientNorm:
    """Watches one optimiser: the total norm [] of each gradient before clipping, kept on the device.

    Autograd calls back at the end of the backward pass that filled `.grad`, which is before any clipping and costs no
    patch of the framework. The norm is the one that `torch.nn.utils.clip_grad_norm_` returns, but for its last digits.

    Args:
        optimiser: Its hooks are public: `register_step_pre_hook` and `register_step_post_hook`.
        allow: Asked before each step with the norm; False drops the gradients, so that the step changes nothing.
        stepped: Called after each step.
    """

    def __init__(
        self, optimiser: torch.optim.Optimizer, allow: Judge | None = None, stepped: Callable[[], None] | None = None
    ) -> None:
        self.weights: list[Tensor] = [w for group in optimiser.param_groups for w in group["params"]]
        self.steps = 0
        self._allow, self._stepped = allow, stepped
        self._norms: list[Tensor] = []
        self._norm: Tensor | None = None
        self._queued = False
        wanted = [w for w in self.weights if w.requires_grad]
        self._handles: list[Any] = [cast(Any, w).register_post_accumulate_grad_hook(self._filled) for w in wanted]
        self._handles.append(optimiser.register_step_pre_hook(self._before))
        self._handles.append(optimiser.register_step_post_hook(self._after))

    @property
    def latest(self) -> Tensor | None:
        """The norm [] of the newest step since the last `take`."""
        return self._norms[-1] if self._norms else None

    def take(self) -> list[Tensor]:
        """Return the norms [] since the last call, one a step, and forget them."""
        norms, self._norms = self._norms, []
        return norms

    def remove(self) -> None:
        """Take all hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _filled(self, _weight: Tensor) -> None:
        if not self._queued:
            self._queued = True
            # How DistributedDataParallel and FSDP learn that a backward pass is over.
            cast(Any, torch.autograd.Variable)._execution_engine.queue_callback(self._measure)

    def _measure(self) -> None:
        self._queued = False
        gradients = [w.grad for w in self.weights if w.grad is not None]
        self._norm = norm_in_one_go(gradients) if gradients else None

    def _before(self, *_: Any) -> None:
        norm, self._norm, self._queued = self._norm, None, False
        if norm is None:
            return
        self._norms.append(norm)
        if self._allow is not None and not self._allow(norm):
            for weight in self.weights:
                weight.grad = None

    def _after(self, *_: Any) -> None:
        self.steps += 1
        if self._stepped is not None:
            self._stepped()


class WeightChange:
    """How far one update moves the weights: norm of the change, and over the norm of the weights before."""

    def __init__(self, weights: list[Tensor]) -> None:
        self._weights = [w.detach() for w in weights]
        self._before = [w.clone() for w in self._weights]

    def take(self) -> tuple[Tensor, Tensor]:
        """Return (norm of the change [], norm of the weights before [])."""
        moved: list[Tensor] = cast(Any, torch)._foreach_sub(self._weights, self._before)
        return total_norm(moved), total_norm(self._before)


def total_norm(tensors: list[Tensor]) -> Tensor:
    """Return the Euclidean norm [] over all `tensors`."""
    norms: list[Tensor] = cast(Any, torch)._foreach_norm(tensors)
    if any(norm.device != norms[0].device for norm in norms[1:]):
        norms = [norm.to(norms[0].device) for norm in norms]
    return cast(Any, torch.linalg).vector_norm(torch.stack(norms))


def norm_in_one_go(tensors: list[Tensor]) -> Tensor:
    """Return the same; of small networks on a processor in half the time, once for each minibatch.

    In single precision the last digits may differ from those of the norm of norms.
    """
    dtype = tensors[0].dtype
    alike = all(one.is_cpu and one.dtype is dtype and not one.is_sparse for one in tensors)
    if not alike or sum(one.numel() for one in tensors) > SMALL:
        return total_norm(tensors)
    return cast(Any, torch.linalg).vector_norm(side_by_side(tensors))

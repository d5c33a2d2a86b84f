"""Watching the optimisers of a trainer at work: the gradient that each step would use, before clipping.

PyTorch calls global hooks around every optimiser's step, also of optimisers that nobody told us of. While held, the
parameters have no gradient during the step, so that it does nothing; afterwards they have it back, so that a trainer
which forgets to clear its gradients is seen to.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .pieces import Batch, Pieces
from .restore import restore
from .torch_types import Tensor, load_torch


@dataclass
class Seen:
    """What an update did: the steps in order, and the calls of gradient clipping."""

    steps: list[dict[int, Tensor]] = field(default_factory=list["dict[int, Tensor]"])
    """Of each step the gradient by the id of its parameter; parameters without one are absent."""
    clips: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Of each call of `clip_grad_norm_` (maximum, norm before)."""
    value_clips: int = 0
    """Calls of `clip_grad_value_`."""

    def merged(self) -> dict[int, Tensor]:
        """The gradient of every parameter at its last step."""
        return {key: value for step in self.steps for key, value in step.items()}

    def times(self) -> dict[int, int]:
        """How often each parameter was stepped with a gradient."""
        counts: dict[int, int] = {}
        for step in self.steps:
            for key in step:
                counts[key] = counts.get(key, 0) + 1
        return counts


@contextmanager
def watching(*, hold: bool = True) -> Generator[Seen, None, None]:
    """Record every optimiser step within; `hold` keeps steps and clipping from having any effect."""
    clip_grad: Any = importlib.import_module("torch.nn.utils.clip_grad")
    hooks: Any = importlib.import_module("torch.optim.optimizer")

    seen, stash = Seen(), dict[int, list[tuple[Any, Any]]]()

    def before(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        weights = [w for group in optimiser.param_groups for w in group["params"] if w.grad is not None]
        seen.steps.append({id(w): w.grad.detach().clone() for w in weights})
        if hold:
            stash[id(optimiser)] = [(w, w.grad) for w in weights]
            for weight in weights:
                weight.grad = None

    def after(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        for weight, gradient in stash.pop(id(optimiser), []):
            weight.grad = gradient

    clipping: Any = clip_grad._clip_grads_with_norm_

    def clip(parameters: Any, max_norm: float, total_norm: Any, *rest: Any, **more: Any) -> Any:
        seen.clips.append((float(max_norm), float(total_norm)))
        return None if hold else clipping(parameters, max_norm, total_norm, *rest, **more)

    outside: Any = importlib.import_module("torch.nn.utils")
    by_value: Any = clip_grad.clip_grad_value_

    def clip_value(*args: Any, **more: Any) -> Any:
        seen.value_clips += 1
        return None if hold else by_value(*args, **more)

    clip_grad.clip_grad_value_ = outside.clip_grad_value_ = clip_value
    handles = hooks.register_optimizer_step_pre_hook(before), hooks.register_optimizer_step_post_hook(after)
    clip_grad._clip_grads_with_norm_ = clip
    try:
        yield seen
    finally:
        clip_grad._clip_grads_with_norm_ = clipping
        clip_grad.clip_grad_value_ = outside.clip_grad_value_ = by_value
        for handle in handles:
            handle.remove()


def gradients(pieces: Pieces, batch: Batch, seed: int = 0) -> dict[int, Tensor] | None:
    """The gradient of every parameter (by id) that one update on `batch` would use; None where there is no way to it.

    Taken from the trainer's own `update` where there is one, else from `gradients`, else from the sum of its `losses`.
    """
    with restore(pieces, seed):
        if pieces.update is not None:
            with watching() as seen:
                pieces.update(batch)
            return unstacked(pieces, seen.merged())
        if pieces.gradients is not None:
            by_name = {name: id(weight) for name, weight in named(pieces)}
            return {by_name[k]: v.detach().clone() for k, v in pieces.gradients(batch).items() if k in by_name}
        if pieces.losses is not None:
            return gradients_of(pieces, sum(pieces.losses(batch).values()))
    return None


def unstacked(pieces: Pieces, found: Mapping[int, Tensor]) -> dict[int, Tensor]:
    """`found` (gradients by id), those of stacked parameters given to their parts as well: see `Pieces.stacks`."""
    apart = dict(found)
    for key, gradient in found.items():
        parts = pieces.stacks.get(key, ())
        for place, part in enumerate(parts):
            apart[id(part)] = gradient.reshape(len(parts), *part.shape)[place]
    return apart


def gradients_of(pieces: Pieces, loss: Any) -> dict[int, Tensor]:
    """The gradient of the scalar `loss` on every trainable parameter, by id; absent where there is none."""
    torch = load_torch()

    weights = [weight for _, weight in named(pieces) if weight.requires_grad]
    if not getattr(loss, "requires_grad", False):
        return {}
    found = torch.autograd.grad(loss, weights, allow_unused=True, retain_graph=True)
    return {id(w): g for w, g in zip(weights, found, strict=True) if g is not None}


def named(pieces: Pieces) -> list[tuple[str, Any]]:
    """Every parameter of actor, critics and temperature with a name that a reader can find, each once."""
    rows: list[tuple[str, Any]] = []
    if pieces.actor is not None:
        rows += [(f"actor.{name}", weight) for name, weight in pieces.actor.named_parameters()]
    for i, critic in enumerate(pieces.critics):
        top = "critic" if len(pieces.critics) == 1 else f"critic{i}"
        rows += [(f"{top}.{name}", weight) for name, weight in critic.named_parameters()]
    if pieces.log_temperature is not None:
        rows.append(("log_temperature", pieces.log_temperature))
    seen = set[int]()
    return [(n, w) for n, w in rows if not (id(w) in seen or seen.add(id(w)))]

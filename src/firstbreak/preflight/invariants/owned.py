"""Which parameters belong to the actor and which to the critic, also where one module holds both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from .bench import Bench
from .torch_types import Tensor, load_torch

FEW = 2
"""Rows that tell which parameters an output depends on."""


def plain(batch: Any, rows: int | None = None) -> dict[str, Tensor]:
    """A minibatch (mapping or tensordict) as a dictionary of the first `rows` rows, detached."""
    return {str(key): batch[key][:rows].detach().clone() for key in list(batch.keys()) if hasattr(batch[key], "shape")}


def actor_weights(bench: Bench) -> list[Any]:
    """The trainable parameters of the actor that updates can move: of a module that holds both, not the critic's."""
    bench.need("actor")
    return bench.once(_of_actor)


def critic_weights(bench: Bench) -> list[Any]:
    """The trainable parameters of all critics that updates can move, each once; not the actor's of a common module."""
    bench.need("critics")
    return bench.once(_of_critics)


def apart(mine: list[Any], others: list[Any]) -> list[Any]:
    """Those of `mine` that are not among `others`: a shared trunk belongs to both."""
    taken = {id(w) for w in others}
    return [w for w in mine if id(w) not in taken]


def _of_actor(bench: Bench) -> list[Any]:
    mine, others = _trainable([bench.pieces.actor]), _trainable(bench.pieces.critics)
    return _reached(bench, _stepped(bench, mine), others, lambda batch: _log_prob(bench, batch))


def _of_critics(bench: Bench) -> list[Any]:
    mine, others = _trainable(bench.pieces.critics), _trainable([bench.pieces.actor])
    return _reached(bench, _stepped(bench, mine), others, lambda batch: _value(bench, batch))


def _log_prob(bench: Bench, batch: dict[str, Tensor]) -> Any:
    score = bench.pieces.log_prob
    return None if score is None else score(batch["obs"], batch["action"])


def _value(bench: Bench, batch: dict[str, Tensor]) -> Any:
    return None if bench.pieces.value is None else bench.pieces.value(batch["obs"])


def _trainable(modules: Iterable[Any]) -> list[Any]:
    found = {id(w): w for m in modules if m is not None for w in m.parameters() if w.requires_grad}
    return list(found.values())


def _stepped(bench: Bench, mine: list[Any]) -> list[Any]:
    """Those of `mine` that an optimiser holds: no update shows a gradient of the others. There is a check for them."""
    if any(bench.pieces.stacks) or bench.pieces.update is None:
        return mine
    held = {id(w) for o in bench.pieces.optimisers for group in o.param_groups for w in group["params"]}
    return [w for w in mine if id(w) in held] or mine


def _reached(bench: Bench, mine: list[Any], others: list[Any], output: Callable[[dict[str, Tensor]], Any]) -> list[Any]:
    """Those of `mine` that `output` of a few rows depends on, where actor and critic are one module."""
    draw = bench.pieces.minibatch
    if draw is None or len(apart(mine, others)) == len(mine):
        return mine
    found = output(plain(cast(Callable[[], Any], draw)(), FEW))
    if found is None or not found.requires_grad:
        return mine
    pulled = load_torch().autograd.grad(found.sum(), mine, allow_unused=True)
    return [w for w, g in zip(mine, pulled, strict=True) if g is not None] or mine

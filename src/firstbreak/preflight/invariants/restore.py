"""Putting a trainer back as it was: parameters, buffers, optimisers, gradients and random numbers."""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .pieces import Pieces
from .torch_types import load_torch

if TYPE_CHECKING:
    from torch import Tensor, nn


def modules_of(pieces: Pieces) -> list[nn.Module]:
    """Every network of `pieces`, each once."""
    found: list[nn.Module] = []
    for module in (pieces.actor, *pieces.critics, *pieces.target_critics):
        if module is not None and all(module is not other for other in found):
            found.append(module)
    return found


def tensors_of(pieces: Pieces) -> list[Tensor]:
    """Every parameter and buffer that an update may change, each once."""
    found: dict[int, Tensor] = {}
    for module in modules_of(pieces):
        for tensor in (*module.parameters(), *module.buffers()):
            found[id(tensor)] = tensor
    for optimiser in pieces.optimisers:
        for group in optimiser.param_groups:
            for tensor in group["params"]:
                found[id(tensor)] = tensor
    if pieces.log_temperature is not None:
        found[id(pieces.log_temperature)] = pieces.log_temperature
    return list(found.values())


@contextmanager
def restore(pieces: Pieces, seed: int | None = None) -> Generator[None, None, None]:
    """Within, do with the trainer what you like; afterwards its weights, optimisers and random numbers are as before.

    `seed` seeds torch, numpy and random on entry, so that two looks draw the same numbers.
    """
    import numpy as np

    torch = load_torch()

    tensors = tensors_of(pieces)
    values = [(t, t.detach().clone(), t.requires_grad) for t in tensors]
    modes = [(m, m.training) for top in modules_of(pieces) for m in top.modules()]
    optimisers = [(o, _state_of(o)) for o in pieces.optimisers]
    draws = torch.get_rng_state(), np.random.get_state(), random.getstate()
    if seed is not None:
        seed_all(seed)
    _forget_gradients(tensors)
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, value, trains in values:
                tensor.copy_(value)
                if tensor.is_leaf:
                    tensor.requires_grad_(trains)
        _forget_gradients(tensors)
        for module, training in modes:
            module.training = training
        for optimiser, state in optimisers:
            _put_back(optimiser, state)
        torch.set_rng_state(draws[0])
        np.random.set_state(draws[1])
        random.setstate(draws[2])


def seed_all(seed: int) -> None:
    """Seed torch, numpy and random."""
    import numpy as np

    torch = load_torch()

    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def _forget_gradients(tensors: list[Tensor]) -> None:
    for tensor in tensors:
        if tensor.is_leaf:
            tensor.grad = None


def _state_of(optimiser: Any) -> tuple[dict[Any, dict[str, Any]], list[dict[str, Any]]]:
    state = {
        weight: {key: v.clone() if hasattr(v, "clone") else v for key, v in held.items()}
        for weight, held in optimiser.state.items()
    }
    return state, [{k: v for k, v in group.items() if k != "params"} for group in optimiser.param_groups]


def _put_back(optimiser: Any, kept: tuple[dict[Any, dict[str, Any]], list[dict[str, Any]]]) -> None:
    state, groups = kept
    optimiser.state.clear()
    optimiser.state.update(state)
    for group, old in zip(optimiser.param_groups, groups, strict=True):
        group.update(old)

"""Whether a network computes what it computed when training began: with today's weights, held against a twin of then.

The twin is the network's structure alone, without weights. Asked with the weights as they stand, it answers as the
network would, had nobody put a bound, a hook, another mode or another branch into it on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ..gaps import Gaps

METRIC = "policy/answers_moved_frac"
ROWS = 16
"""States that are asked about at most: a small forward pass. Engineering choice."""
LOWEST = -30.0
"""Logits count as no lower: those of actions that are masked are infinite."""

Ask = Callable[[Any, Any], Tensor | None]


class Asked(nn.Module):
    """A network, asked in one way."""

    def __init__(self, network: nn.Module, ask: Ask) -> None:
        super().__init__()
        self.network, self.ask = network, ask

    def forward(self, states: Any) -> Tensor | None:
        """Return the answers [N, K] to some states."""
        return self.ask(self.network, states)


class Twin:
    """Holds a network's answers against those of its twin; draws no random number.

    Args:
        network: As training begins. Where it cannot be copied nothing is ever said.
        ask: From a network and states to answers [N, K]; None where it has none that can be compared.
    """

    def __init__(self, network: nn.Module, ask: Ask) -> None:
        self._asked = Asked(network, ask)
        self._twin = Asked(structure(network), ask).eval()
        self._known = True
        self.gaps = Gaps(METRIC)

    def look(self, states: Any) -> float | None:
        """Return by how much the answers to `states` are not the twin's, as a share of their size."""
        if not self._known:
            return None
        self._known = False  # a look that fails is the last one
        with quietly(self._asked):
            now = self._asked(states)
            weights = {**dict(self._asked.named_parameters()), **dict(self._asked.named_buffers())}
            meant: Any = torch.func.functional_call(self._twin, weights, (states,))
        if not isinstance(now, Tensor) or not isinstance(meant, Tensor) or now.shape != meant.shape:
            return None
        self._known = True
        found = float(_norm(now - meant) / _norm(meant).clamp_min(1e-12))
        return found if math.isfinite(found) else 0.0  # what is no number is told elsewhere

    def tell(self, states: Any) -> dict[str, float]:
        """Look; return what is worth a row of its own."""
        found = self.look(states)
        return {METRIC: found} if found is not None and self.gaps.add(found) else {}


def twin_of(network: nn.Module, ask: Ask) -> Twin | None:
    """Return what holds a network against its twin; None where it cannot be copied."""
    try:
        return Twin(network, ask)
    except Exception:  # a user's module may hold what nobody can copy: then there is no twin, and no harm
        return None


@contextmanager
def quietly(network: torch.nn.Module) -> Generator[None]:
    """Ask a network as `untouched` does, at a third of the cost: PyTorch's generators alone are put back."""
    parts = [part for part in network.modules() if part.training]
    cards = [card] if (card := _card(network)) is not None else []
    with cast(Any, torch.random).fork_rng(devices=cards), torch.no_grad():
        try:
            for part in parts:
                part.training = False
            yield
        finally:
            for part in parts:
                part.training = True


def _card(network: torch.nn.Module) -> int | None:
    """The graphics card that a network is on."""
    weight = next(network.parameters(), None)
    return None if weight is None or weight.device.type != "cuda" else weight.device.index or 0


def parameters_of(policy: Any) -> Tensor | None:
    """Return what a distribution is made of [N, K]: logits, or means and spreads; None of other kinds.

    >>> parameters_of(torch.distributions.Normal(torch.zeros(1), torch.ones(1)))
    tensor([[0., 1.]])
    """
    while hasattr(policy, "base_dist"):
        policy = policy.base_dist
    logits = getattr(policy, "logits", None)
    if isinstance(logits, Tensor):
        return logits.clamp(min=LOWEST).reshape(len(logits), -1)
    mean, spread = getattr(policy, "loc", None), getattr(policy, "scale", None)
    if not isinstance(mean, Tensor) or not isinstance(spread, Tensor):
        return None
    return torch.cat([mean.reshape(len(mean), -1), spread.reshape(len(mean), -1)], 1)


def structure(network: nn.Module) -> nn.Module:
    """Return a copy of a network that holds no memory for weights, and no optimiser."""
    tensors = [*network.parameters(), *network.buffers()]
    memo: dict[int, Any] = {id(tensor): _empty(tensor) for tensor in tensors}
    memo |= {id(part): None for module in network.modules() for part in _passing(module)}
    return deepcopy(network, memo)


def _passing(module: nn.Module) -> Iterator[Any]:
    """What a module holds of its last call, and optimisers: what a graph hangs on cannot be copied."""
    for part in vars(module).values():
        for one in (part, *getattr(part, "__dict__", {}).values()):
            if isinstance(one, torch.optim.Optimizer | Distribution) or (isinstance(one, Tensor) and not one.is_leaf):
                yield one


def _empty(tensor: Tensor) -> Tensor:
    empty = torch.empty_like(tensor, device="meta")
    return nn.Parameter(empty, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else empty


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)

"""Gradient norms before clipping, gradients of single loss terms, and how far an update moved the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from ...errors import InputError
from .reduced import Reduced, quotient, together

Network = nn.Module | Iterable[Tensor]
"""A module, or its parameters."""

_vector_norm = cast("Callable[..., Tensor]", cast(Any, torch.linalg).vector_norm)

GRADIENT_NAMES = {
    "actor": "optim/actor_grad_norm",
    "policy": "optim/actor_grad_norm",
    "critic": "optim/critic_grad_norm",
    "value": "optim/critic_grad_norm",
    "alpha": "optim/alpha_grad_norm",
}
"""Canonical names of what networks are usually called; others become `optim/<name>_grad_norm`."""


@torch.no_grad()
def gradient_norms(networks: Mapping[str, Network]) -> Mapping[str, Tensor]:
    """Gradient norm of each network and of all together; call it after `backward` and before clipping.

    A network none of whose parameters has a gradient is left out: whether that is a fault or the wrong moment to ask
    cannot be told here. With a gradient scaler, unscale first. A list of parameters is cheaper than a module, which has
    to be searched for them at every call.
    """
    places: dict[int, int] = {}  # by identity: the hash of a tensor is a call into Python
    grads: list[Tensor] = []
    reached: dict[str, list[int]] = {}
    for name, network in networks.items():
        found: list[int] = []
        for p in _parameters(network):
            if (grad := p.grad) is not None:
                if id(p) not in places:
                    places[id(p)] = len(grads)
                    grads.append(_dense(grad))
                found.append(places[id(p)])
        if found:
            reached[GRADIENT_NAMES.get(name, f"optim/{name}_grad_norm")] = found
    if not grads:
        return {}

    def finish(*norms: Any) -> tuple[Any, ...]:
        return together(norms), *(together([norms[at] for at in found]) for found in reached.values())

    return Reduced(("optim/grad_norm", *reached), finish, *_on_one_device(_norms(grads)))


def _parameters(network: Network) -> list[Tensor]:
    found = network.parameters() if isinstance(network, nn.Module) else network
    return [p for p in found if p.requires_grad]


def _dense(grad: Tensor) -> Tensor:
    return grad.coalesce().values() if grad.is_sparse else grad


def _norms(tensors: list[Tensor]) -> list[Tensor]:
    """The 2-norm of each tensor in float32 or better, in a few kernels for all."""
    if any(x.dtype is torch.float64 for x in tensors):
        return [_vector_norm(x, dtype=torch.float64) for x in tensors]
    return list(cast(Any, torch)._foreach_norm(tensors, 2, dtype=torch.float32))


def _on_one_device(tensors: list[Tensor]) -> list[Tensor]:
    """The tensors on the device of the first."""
    home = tensors[0].device
    return [x if x.device == home else x.to(home) for x in tensors]


def loss_term_gradients(terms: Mapping[str, Tensor], network: Network) -> dict[str, Tensor]:
    """Gradient norm of each term of a loss on one network: one more backward pass a term, so not at every update.

    Call it before `backward`; the graph is kept and `.grad` is not touched. A term that does not reach the network has
    norm 0.

    Args:
        terms: Name -> scalar, weighted as in the loss.
        network: Whose parameters to look at.

    Raises:
        InputError: a term has more than one element.
    """
    parameters = _parameters(network)
    return {f"optim/{name}_term_grad_norm": _term_norm(name, term, parameters) for name, term in terms.items()}


def _term_norm(name: str, term: Tensor, parameters: list[Tensor]) -> Tensor:
    if term.numel() != 1:
        raise InputError(f"The loss term {name!r} has shape {list(term.shape)}.", "Give scalars, such as its mean.")
    found: list[Tensor] = []
    if term.requires_grad and parameters:
        grads = torch.autograd.grad(term.sum(), parameters, retain_graph=True, allow_unused=True)
        found = [_dense(grad) for grad in grads if cast(Any, grad) is not None]
    with torch.no_grad():
        return together(_on_one_device(_norms(found))) if found else term.new_zeros((), dtype=torch.float32)


class WeightChange:
    """How far the weights of networks move in an update: |w' - w| over |w|, 2-norms over all weights of a network.

    Keeps one copy of them and needs room for a second while it measures: for a large model, pass some layers.

    Args:
        networks: Name -> network. The change of `actor`, `policy`, `agent` or `model` over the norm of the weights is
            the canonical `optim/weight_delta`; `critic` or `value` has the absolute `critic/weight_delta` beside it.
    """

    @torch.no_grad()
    def __init__(self, networks: Mapping[str, Network]) -> None:
        every = {name: _parameters(network) for name, network in networks.items()}
        self._weights = {name: found for name, found in every.items() if found}
        self._before = [_flat(found) for found in self._weights.values()]
        self._sizes = _norms(self._before) if self._before else []

    @torch.no_grad()
    def measure(self) -> Mapping[str, Tensor]:
        """The change since the last call (or since the start), and begin again from here."""
        if not self._before:
            return {}
        now = [_flat(weights) for weights in self._weights.values()]
        moved = [before.sub_(after) for before, after in zip(self._before, now, strict=True)]
        norms = _norms([*moved, *now])
        sizes, self._sizes, self._before = self._sizes, norms[len(now) :], now
        kinds = [_change_names(name) for name in self._weights]

        def finish(*norms: Any) -> list[Any]:
            measures: list[Any] = []
            for kind, moved, size in zip(kinds, norms[: len(kinds)], norms[len(kinds) :], strict=True):
                measures += [moved, quotient(moved, size), size][-len(kind) :]
            return measures

        names = tuple(name for kind in kinds for name in kind)
        return Reduced(names, finish, *_on_one_device([*norms[: len(now)], *sizes]))


def _flat(weights: list[Tensor]) -> Tensor:
    """A copy of all weights [N], on the device of the first."""
    home = weights[0].device
    here = (w if w.device == home else w.to(home) for w in weights)
    return torch.cat([w if w.dim() == 1 else w.reshape(-1) for w in here])


def _change_names(name: str) -> tuple[str, ...]:
    """Names of the change (of a critic only), of the change over the norm of the weights, and of that norm."""
    if name in {"actor", "policy", "agent", "model"}:
        return "optim/weight_delta", "net/weight_norm"
    if name in {"critic", "value"}:
        return "critic/weight_delta", "critic/weight_delta_frac", "critic/weight_norm"
    return f"optim/{name}_weight_delta", f"net/{name}_weight_norm"

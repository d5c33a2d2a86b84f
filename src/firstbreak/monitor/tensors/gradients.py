"""Gradient norms before clipping, gradients of single loss terms, and how far an update moved the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from ...errors import InputError

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
def gradient_norms(networks: Mapping[str, Network]) -> dict[str, Tensor]:
    """Gradient norm of each network and of all together; call it after `backward` and before clipping.

    A network none of whose parameters has a gradient is left out: whether that is a fault or the wrong moment to ask
    cannot be told here. With a gradient scaler, unscale first. A list of parameters is cheaper than a module, which has
    to be searched for them at every call.
    """
    every = {name: _parameters(network) for name, network in networks.items()}
    grads: dict[int, Tensor] = {}  # by identity: the hash of a tensor is a call into Python
    reached: dict[str, list[int]] = {}
    for name, parameters in every.items():
        reached[name] = []
        for p in parameters:
            if (grad := p.grad) is not None:
                reached[name].append(id(p))
                grads[id(p)] = _dense(grad)
    if not grads:
        return {}
    norms = dict(zip(grads, _norms(list(grads.values())), strict=True))
    networks_norms = {name: _together([norms[p] for p in found]) for name, found in reached.items() if found}
    shared = len(grads) < sum(map(len, reached.values()))
    measures = {"optim/grad_norm": _together(norms.values() if shared else networks_norms.values())}
    return measures | {GRADIENT_NAMES.get(n, f"optim/{n}_grad_norm"): norm for n, norm in networks_norms.items()}


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


def _together(norms: Iterable[Tensor]) -> Tensor:
    """The norm of tensors that have these norms, on the device of the first."""
    first, *others = norms
    return _vector_norm(torch.stack([first, *(x if x.device == first.device else x.to(first.device) for x in others)]))


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
        return _together(_norms(found)) if found else term.new_zeros((), dtype=torch.float32)


class WeightChange:
    """How far the weights of networks move in an update.

    Keeps one copy of them and needs room for a second while it measures: for a large model, pass some layers.

    Args:
        networks: Name -> network. The change of `actor`, `policy`, `agent` or `model` over the norm of the weights is
            the canonical `optim/weight_delta`; `critic` or `value` has the absolute `critic/weight_delta` beside it.
    """

    @torch.no_grad()
    def __init__(self, networks: Mapping[str, Network]) -> None:
        every = {name: _parameters(network) for name, network in networks.items()}
        self._weights = {name: found for name, found in every.items() if found}
        self._before = {name: _flat(found) for name, found in self._weights.items()}

    @torch.no_grad()
    def measure(self) -> dict[str, Tensor]:
        """The change since the last call (or since the start), and begin again from here."""
        measures: dict[str, Tensor] = {}
        if not self._before:
            return measures
        sizes = _norms(list(self._before.values()))
        now = {name: _flat(weights) for name, weights in self._weights.items()}
        moved = _norms([before.sub_(now[name]) for name, before in self._before.items()])
        for name, size, distance in zip(now, sizes, moved, strict=True):
            measures |= _change_names(name, distance, size)
        self._before = now
        return measures


def _flat(weights: list[Tensor]) -> Tensor:
    """A copy of all weights [N], on the device of the first."""
    home = weights[0].device
    here = (w if w.device == home else w.to(home) for w in weights)
    return torch.cat([w if w.dim() == 1 else w.reshape(-1) for w in here])


def _change_names(name: str, moved: Tensor, size: Tensor) -> dict[str, Tensor]:
    if name in {"actor", "policy", "agent", "model"}:
        return {"optim/weight_delta": moved / size, "net/weight_norm": size}
    if name in {"critic", "value"}:
        return {"critic/weight_delta": moved, "critic/weight_delta_frac": moved / size, "critic/weight_norm": size}
    return {f"optim/{name}_weight_delta": moved / size, f"net/{name}_weight_norm": size}

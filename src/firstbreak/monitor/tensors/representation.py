"""Dormant units and the rank of the features, from activations that hooks catch on a batch of your choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from ...errors import InputError
from .quantities import OnHost
from .rows import tensor, widened

_eigenvalues = cast("Callable[[Tensor], Tensor]", cast(Any, torch.linalg).eigvalsh)

ACTIVATIONS = (nn.ReLU, nn.Tanh, nn.GELU, nn.SiLU, nn.ELU, nn.LeakyReLU, nn.Mish, nn.Softplus, nn.Sigmoid, nn.ReLU6)


class Activations:
    """Catches what the activation layers of a network give while the block runs; outside it costs nothing.

    Rows are taken evenly from the batch [..., H]. Without an activation layer among its modules (functional calls),
    name the layers.

    Example:
        ```python
        with Activations(actor) as seen:
            actor(obs)
        quantities.add(dormant_units(seen.outputs))
        ```

    Args:
        network: The network.
        layers: Names of modules as in `named_modules`; all activation layers when not given.
        rows: Most rows kept of a batch.

    Raises:
        InputError: a layer does not exist, or there is no activation layer.
    """

    def __init__(self, network: nn.Module, layers: tuple[str, ...] = (), rows: int = 256) -> None:
        modules = dict(cast("Iterable[tuple[str, nn.Module]]", cast(Any, network).named_modules()))
        missing = [name for name in layers if name not in modules]
        if missing:
            raise InputError(f"No layer named {missing[0]!r}.", f"There are {', '.join(filter(None, modules))}.")
        chosen = layers or tuple(name for name, m in modules.items() if isinstance(m, ACTIVATIONS))
        if not chosen:
            raise InputError("The network has no activation layers among its modules.", "Name them in `layers`.")
        self.outputs: dict[str, Tensor] = {}
        """Layer -> its latest output [rows, H], in the order of the network."""
        self._rows = rows
        self._layers = {name: modules[name] for name in chosen}
        self._handles: list[RemovableHandle] = []

    def __enter__(self) -> Self:
        for name, layer in self._layers.items():
            self._handles.append(layer.register_forward_hook(self._catcher(name)))
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _catcher(self, name: str) -> Any:
        def catch(_module: nn.Module, _inputs: Any, output: Any) -> None:
            if isinstance(output, Tensor) and output.dim() >= 2 and output.numel():
                self.outputs[name] = sampled(output, self._rows)

        return catch


@torch.no_grad()
def sampled(x: Tensor, rows: int) -> Tensor:
    """At most `rows` rows of x [..., H], evenly spaced, as a copy [rows, H]."""
    flat = x.detach() if x.dim() == 2 else x.detach().reshape(-1, x.shape[-1])
    step = max(1, -(-flat.shape[0] // rows))
    return flat[::step].clone()


@torch.no_grad()
def dormant_units(activations: Mapping[str, Tensor], threshold: float = 0.025) -> dict[str, Tensor]:
    """Share of units whose mean |activation| is at most `threshold` times that of their layer.

    Sokar et al. 2023, arXiv 2302.12902, section 3. A layer that gives nothing but zeros is dormant altogether.

    Args:
        activations: Layer -> output [B, H].
        threshold: Their tau.

    Raises:
        InputError: there is no layer, or an output has fewer than two dimensions.
    """
    if not activations:
        raise InputError("No activations were caught.", "Run the network inside the `with` block.")
    dormant: list[Tensor] = []
    levels: list[Tensor] = []
    units = 0
    for name, output in activations.items():
        size = _rows(output, name).abs().mean(0)
        level = size.mean()
        dormant.append((size <= threshold * level).sum())
        levels.append(level)
        units += size.numel()
    # A NaN or infinite level must not pass for "no unit is dormant": 0 * level carries it on.
    return {"net/dormant_fraction": torch.stack(dormant).sum() / units + 0 * torch.stack(levels).sum()}


@torch.no_grad()
def feature_rank(features: Tensor, delta: float = 0.01) -> dict[str, OnHost]:
    """Effective rank of features [B, H]: how many singular values hold a share 1 - delta of their sum.

    Kumar et al. 2021, arXiv 2010.14498, section 3 (srank). Only the smaller Gram matrix is formed on the device:
    decomposing there would make the host wait. At most the number of rows; use some hundred, and not every update.
    """
    x = _rows(features, "features")
    x = x if x.device.type == "mps" else x.double()
    gram = x @ x.t() if x.shape[0] < x.shape[1] else x.t() @ x

    rows = x.shape[0]

    def finish(flat: NDArray[np.float64]) -> float:
        return srank(flat, delta) if rows else math.nan

    return {"net/feature_rank": OnHost(gram, finish)}


def srank(gram: NDArray[np.float64], delta: float) -> float:
    """The effective rank from a flat Gram matrix [H * H]; NaN when it is not finite, 0 when it is zero."""
    if not np.isfinite(gram).all():
        return float("nan")
    side = math.isqrt(gram.size)
    # PyTorch's own routine, as it keeps to the threads that the trainer has given it.
    squares = _eigenvalues(torch.as_tensor(gram.reshape(side, side), device="cpu"))
    shares = np.sqrt(np.clip(np.asarray(squares, np.float64), 0, None))[::-1].cumsum()
    # Rounding must not ask for one more direction than hold everything.
    wanted = (1 - delta) * float(shares[-1]) * (1 - 1e-12)
    return float(np.count_nonzero(shares < wanted) + 1) if wanted > 0 else 0.0


def _rows(x: Tensor, name: str) -> Tensor:
    x = tensor(x, name)
    if x.dim() < 2 or x.shape[-1] == 0:
        raise InputError(f"{name} has shape {list(x.shape)}; a batch [B, H] is needed.", "")
    return widened(x) if x.dim() == 2 else widened(x).reshape(-1, x.shape[-1])

"""Collects numbers that live on a device and brings them over in one transfer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import InputError
from .rows import tensor


@dataclass(frozen=True)
class OnHost:
    """A quantity whose last step would make the device wait: a small tensor, and what to do with it on the host."""

    tensor: Tensor
    finish: Callable[[NDArray[np.float64]], float]
    """Takes the tensor as an array [N] in row order."""


Measure = Tensor | float | OnHost
"""A tensor of one element, a number that the host knows anyway, or a small tensor with its last step."""


class Quantities:
    """Keeps measures on their device until `numbers` asks for them.

    Example:
        ```python
        quantities = Quantities()
        quantities.add(value_fit(values, returns))
        monitor.log(quantities.numbers(), step=update)
        ```
    """

    def __init__(self) -> None:
        self._latest: dict[str, Measure] = {}
        self._sums: dict[str, Tensor] = {}
        self._times: dict[str, int] = {}

    def add(self, measures: Mapping[str, Measure]) -> None:
        """Keep measures; a name that is added again replaces what was there.

        Raises:
            InputError: a tensor has more than one element.
        """
        for name, value in measures.items():
            if isinstance(value, Tensor):
                self._latest[name] = _single(value, name)
            else:
                self._latest[name] = value if isinstance(value, OnHost) else float(value)

    def average(self, measures: Mapping[str, Tensor]) -> None:
        """Keep the mean of each measure over all calls since the last `numbers`: for what is taken every minibatch.

        Raises:
            InputError: a tensor has more than one element.
        """
        with torch.no_grad():
            for name, value in measures.items():
                one = _single(tensor(value, name), name)
                before = self._sums.get(name)
                self._sums[name] = one if before is None else before + one
                self._times[name] = self._times.get(name, 0) + 1

    def numbers(self) -> dict[str, float]:
        """Bring everything over and forget it: one transfer a device, whatever the number of measures."""
        waiting: dict[str, Measure] = {**self._sums, **self._latest} if self._sums else self._latest
        averaged = {name: n for name, n in self._times.items() if name not in self._latest}
        self._latest, self._sums, self._times = {}, {}, {}
        numbers: dict[str, float] = dict.fromkeys(waiting, 0.0)
        on_device: dict[torch.device, dict[str, Tensor | OnHost]] = {}
        for name, value in waiting.items():
            if isinstance(value, Tensor):
                on_device.setdefault(value.device, {})[name] = value
            elif isinstance(value, OnHost):
                on_device.setdefault(value.tensor.device, {})[name] = value
            else:
                numbers[name] = value
        for measures in on_device.values():
            numbers.update(_fetched(measures))
        for name, n in averaged.items():
            numbers[name] /= n
        return numbers


def _single(value: Tensor, name: str) -> Tensor:
    if value.numel() != 1:
        raise InputError(f"{name} has shape {list(value.shape)}; one number is needed.", "Reduce it, or index it.")
    if value.requires_grad:
        value = value.detach()  # its graph must not live until the next log
    if value.is_floating_point() or value.device.type == "mps":
        return value
    return value.double()  # a step count does not fit in float32


@torch.no_grad()
def _fetched(measures: Mapping[str, Tensor | OnHost]) -> dict[str, float]:
    """Measures of one device, in one transfer."""
    plain = {name: x if x.dim() == 0 else x.reshape(()) for name, x in measures.items() if isinstance(x, Tensor)}
    later = {name: x for name, x in measures.items() if isinstance(x, OnHost)}
    parts = [torch.stack(list(plain.values()))] if plain else []
    parts += [x.tensor.detach().reshape(-1) for x in later.values()]
    packed = parts[0] if len(parts) == 1 else torch.cat(parts)
    flat = cast("list[float]", packed.tolist())  # pyright: ignore[reportUnknownMemberType]
    found = dict(zip(plain, map(float, flat[: len(plain)]), strict=True))
    at = len(plain)
    for name, x in later.items():
        size = x.tensor.numel()
        found[name] = float(x.finish(np.asarray(flat[at : at + size], np.float64)))
        at += size
    return found

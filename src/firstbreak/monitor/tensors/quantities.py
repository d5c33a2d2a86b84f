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
from .reduced import Reduced
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
        self._latest: dict[str, Measure | Reduced] = {}
        self._sums: dict[str, Tensor] = {}
        self._times: dict[str, int] = {}

    def add(self, measures: Mapping[str, Measure]) -> None:
        """Keep measures; a name that is added again replaces what was there.

        Raises:
            InputError: a tensor has more than one element.
        """
        if isinstance(measures, Reduced):
            self._latest.update(dict.fromkeys(measures.names, measures))
            return
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
        waiting: dict[str, Measure | Reduced] = {**self._sums, **self._latest} if self._sums else self._latest
        averaged = {name: n for name, n in self._times.items() if name not in self._latest}
        self._latest, self._sums, self._times = {}, {}, {}
        numbers: dict[str, float] = dict.fromkeys(waiting, 0.0)
        boxes: dict[torch.device, _Box] = {}
        held: dict[int, list[str]] = {}  # names of each that no other measure has replaced
        for name, value in waiting.items():
            if isinstance(value, (float, int)):
                numbers[name] = value
            elif id(value) in held:
                held[id(value)].append(name)
            else:
                held[id(value)] = names = [name]
                device = value.tensor.device if isinstance(value, OnHost) else value.device
                boxes.setdefault(device, _Box()).put(names, value)
        for box in boxes.values():
            numbers.update(box.fetched())
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


class _Box:
    """What is to come over from one device, in one transfer."""

    def __init__(self) -> None:
        self._plain: list[tuple[list[str], Tensor]] = []
        self._reduced: list[tuple[list[str], Reduced]] = []
        self._later: list[tuple[list[str], OnHost]] = []

    def put(self, names: list[str], value: Tensor | OnHost | Reduced) -> None:
        """Take a measure; names may come in afterwards."""
        if isinstance(value, Tensor):
            self._plain.append((names, value if value.dim() == 0 else value.reshape(())))
        elif isinstance(value, Reduced):
            self._reduced.append((names, value))
        else:
            self._later.append((names, value))

    def fetched(self) -> dict[str, float]:
        """The measures of the device."""
        singles, several = [x for _, x in self._plain], list[Tensor]()
        for _, reduced in self._reduced:
            for part in reduced.parts:
                (several if part.dim() else singles).append(part)
        several += [x.tensor.detach().reshape(-1) for _, x in self._later]
        packed = torch.cat([torch.stack(singles), *several]) if singles else torch.cat(several)
        here = packed.cpu()
        here = here if here.dtype in (torch.float32, torch.float64) else here.float()  # NumPy knows no bfloat16
        return self._unpacked(cast("NDArray[np.float64]", here.numpy()), len(singles))

    def _unpacked(self, flat: NDArray[np.float64], at: int) -> dict[str, float]:
        """The measures out of single numbers, and from `at` on tensors one after the other."""
        single = iter(flat[:at].tolist())
        found = {name: float(x) for (names, _), x in zip(self._plain, single, strict=False) for name in names}
        for names, reduced in self._reduced:
            values: list[float | list[float]] = []
            for part in reduced.parts:
                if part.dim():
                    values.append(flat[at : at + part.numel()].tolist())
                    at += part.numel()
                else:
                    values.append(next(single))
            finished = reduced.on_host(values)
            found.update(finished if len(names) == len(finished) else {name: finished[name] for name in names})
        for names, x in self._later:
            size = x.tensor.numel()
            found.update(dict.fromkeys(names, float(x.finish(np.asarray(flat[at : at + size], np.float64)))))
            at += size
        return found

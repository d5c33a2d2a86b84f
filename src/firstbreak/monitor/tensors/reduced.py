"""Measures whose last steps, on single numbers, wait until they are read.

A quantity ends in a dozen operations on single numbers: a quotient, a root, a sum. On a device each is a kernel, and on
a CPU a call of some microseconds; in Python, after the transfer that is made anyway, they are next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor

Finish = Callable[..., Sequence[Any]]
"""From the parts to the measures in the order of their names. It is given tensors, or floats and lists of floats."""


class Reduced(Mapping[str, Tensor]):
    """Measures under their names, each a tensor of one number.

    `Quantities` brings the parts over and finishes on the host; who asks for a measure by name gets it finished on the
    device, without waiting for it.

    Args:
        names: Of the measures.
        finish: Makes them of the parts, by `quotient`, `root`, `larger` and `together`: Python's own would raise.
        parts: Tensors [] or [K] of one device, at least one.
    """

    __slots__ = ("_found", "finish", "names", "parts")

    def __init__(self, names: tuple[str, ...], finish: Finish, *parts: Tensor) -> None:
        self.names, self.finish, self.parts = names, finish, parts
        self._found: dict[str, Tensor] | None = None

    @property
    def device(self) -> torch.device:
        """Where the parts lie."""
        return self.parts[0].device

    def __getitem__(self, name: str) -> Tensor:
        if self._found is None:
            with torch.inference_mode():
                self._found = dict(zip(self.names, self.finish(*self.parts), strict=True))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other}

    def __ror__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**other, **self}

    def on_host(self, values: Sequence[Any]) -> dict[str, float]:
        """Finish with the values of the parts: floats, and lists of them."""
        return dict(zip(self.names, map(float, self.finish(*values)), strict=True))


def quotient(over: Any, under: Any) -> Any:
    """over / under as a device has it: by 0 infinite, 0 by 0 NaN."""
    if not isinstance(under, float) or under != 0.0:
        return over / under
    return math.nan if over == 0 or math.isnan(over) else math.copysign(math.inf, over) * math.copysign(1, under)


def averages(totals: Any, number: Any) -> Any:
    """Totals over how many they are of; NaN of none."""
    if isinstance(totals, list):
        every = cast("list[float]", totals)
        return [total / number for total in every] if number else [math.nan] * len(every)
    return quotient(totals, number)


def root(x: Any) -> Any:
    """The square root, NaN of what is negative."""
    if isinstance(x, float):
        return math.sqrt(x) if x >= 0 else math.nan
    return x.sqrt()


def larger(one: Any, two: Any) -> Any:
    """The larger of two, NaN if one is."""
    if isinstance(one, float):
        return math.nan if math.isnan(one) or math.isnan(two) else max(one, two)
    return torch.maximum(one, two)


def unless(undefined: Any, x: Any) -> Any:
    """x, NaN where it is undefined."""
    if isinstance(undefined, bool):
        return math.nan if undefined else x
    return torch.where(undefined, math.nan, x)


def together(norms: Sequence[Any]) -> Any:
    """The norm of tensors that have these norms, at least one."""
    if isinstance(norms[0], float):
        return root(sum([norm * norm for norm in norms]))
    return _vector_norm(torch.stack(cast("list[Tensor]", list(norms))))


_vector_norm = cast("Callable[[Tensor], Tensor]", cast(Any, torch.linalg).vector_norm)

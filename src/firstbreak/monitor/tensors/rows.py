"""Which rows of a batch count, and their mean, spread and extremes. Nothing here reads a value on the host."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from ...errors import InputError
from .reduced import Finish, Reduced


class Rows:
    """The rows [N] that count: all of them, or those that a mask keeps.

    Every statistic is taken along the last dimension, so that several quantities [K, N] share one pass. What is masked
    out may be NaN. Where no row counts the answer is NaN.
    """

    def __init__(self, size: int, keep: Tensor | None = None) -> None:
        self.size = size
        self.keep = keep
        self.count = None if keep is None else keep.sum(dtype=torch.float32)

    def reduced(self, names: tuple[str, ...], finish: Finish, *parts: Tensor) -> Reduced:
        """Measures of `parts`; `finish` is given the number of rows that count before them."""
        if self.count is None:
            return Reduced(names, partial(finish, float(self.size)), *parts)
        return Reduced(names, finish, self.count, *parts)

    def total(self, x: Tensor) -> Tensor:
        """Sums over x [..., N]; of booleans: how many are true."""
        return self.only(x, 0).sum(-1, dtype=torch.float32 if x.dtype is torch.bool else None)

    def mean(self, x: Tensor) -> Tensor:
        """Means of x [..., N]; of booleans: shares."""
        return self.total(x) / (self.size if self.count is None else self.count)

    def only(self, x: Tensor, instead: float) -> Tensor:
        """x [..., N] with `instead` in the rows that do not count."""
        return x if self.keep is None else torch.where(self.keep, x, instead)

    def centred(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Means of x [..., N], and x less its means."""
        mean = self.mean(x)
        return mean, x - (mean.unsqueeze(-1) if x.dim() > 1 else mean)

    def spread(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and population standard deviation of x [..., N]."""
        mean, rest = self.centred(x)
        return mean, self.mean(rest * rest).sqrt()

    def extremes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Smallest and largest of x [..., N]."""
        if self.keep is None or self.count is None:
            low, high = x.aminmax() if x.dim() == 1 else x.aminmax(dim=-1)  # the first is vectorised on a CPU
            return low, high
        seen = self.count > 0
        low, high = self.only(x, math.inf).amin(-1), self.only(x, -math.inf).amax(-1)
        return torch.where(seen, low, math.nan), torch.where(seen, high, math.nan)

    def tails(self, x: Tensor, share: float) -> tuple[Tensor, Tensor]:
        """The k-th smallest and k-th largest of x [N], k = ceil(share N): nearest-rank quantiles."""
        if self.keep is None or self.count is None:
            k = math.ceil(share * self.size)
            return x.topk(k, largest=False).values[-1], x.topk(k).values[-1]
        k = (share * self.count).ceil().clamp(min=1).long()
        low = self.only(x, math.inf).sort().values.gather(0, (k - 1).view(1))
        high = self.only(x, -math.inf).sort(descending=True).values.gather(0, (k - 1).view(1))
        seen = self.count > 0
        return torch.where(seen, low[0], math.nan), torch.where(seen, high[0], math.nan)

    def top_sum(self, x: Tensor, share: float) -> Tensor:
        """Sum of the k largest of non-negative x [N], k = ceil(share N)."""
        if self.keep is None or self.count is None:
            return x.topk(math.ceil(share * self.size)).values.sum()
        k = (share * self.count).ceil().clamp(min=1).long()
        return self.only(x, 0).sort(descending=True).values.cumsum(0).gather(0, (k - 1).view(1))[0]


def aligned(mask: Tensor | None, **named: Tensor | None) -> tuple[Rows, list[Tensor]]:
    """Check that the tensors that are given have one shape, and flatten them to [N] in float32 or better.

    Args:
        mask: Which elements count (non-zero), of the same shape.
        named: The tensors under the names that an error shall call them by.

    Raises:
        InputError: a shape differs; elementwise arithmetic would then broadcast, [B, 1] with [B] to [B, B].
    """
    wide: list[Tensor] = []
    shape: Any = None
    for name, x in named.items():
        if x is None:
            continue
        given = tensor(x, name)
        if shape is None:
            shape = given.shape
        elif given.shape != shape:
            raise _differs(name, given, next(iter(named)), shape)
        wide.append(_flat(given))
    if mask is not None and tensor(mask, "mask").shape != shape:
        raise _differs("mask", mask, next(iter(named)), shape)
    size = wide[0].shape[0]
    if size == 0:
        empty = wide[0].new_zeros(1)
        return Rows(1, empty.bool()), [empty for _ in wide]
    return Rows(size, None if mask is None else mask.reshape(-1) != 0), wide


def same_shape(given: dict[str, Tensor]) -> None:
    """Refuse tensors whose shapes differ.

    Raises:
        InputError: as it says.
    """
    first, *others = given
    for name in others:
        if given[name].shape != given[first].shape:
            raise _differs(name, given[name], first, given[first].shape)


def _differs(name: str, x: Tensor, other: str, shape: torch.Size) -> InputError:
    return InputError(
        f"{name} has shape {list(x.shape)}, but {other} has {list(shape)}.",
        "Give both the same shape, for example with .squeeze(-1) or .reshape(-1): "
        "arithmetic on these would broadcast and measure something else.",
    )


def tensor(x: Any, name: str) -> Tensor:
    """Return `x` if it is a tensor, without its graph.

    Raises:
        InputError: it is not.
    """
    if not isinstance(x, Tensor):
        raise InputError(f"{name} is a {type(x).__name__}, not a tensor.", "Pass torch.as_tensor(...) of it.")
    return x.detach() if x.requires_grad else x


def widened(x: Tensor) -> Tensor:
    """x in float32, or float64 if it is: halves overflow at 65,504, and bfloat16 has three digits."""
    return x if x.dtype in _WIDE else x.float()


_WIDE = (torch.float32, torch.float64)


def _flat(x: Tensor) -> Tensor:
    x = widened(x)
    return x if x.dim() == 1 else x.reshape(-1)


def by_columns(x: Tensor, mask: Tensor | None, name: str) -> tuple[Rows, Tensor]:
    """x [..., A] as columns [A, N] in float32 or better, with the rows that count (mask [...]).

    Raises:
        InputError: x has no last dimension of components, or the mask is not of the leading shape.
    """
    rows = table(x, mask, name)
    columns = widened(x).reshape(-1, x.shape[-1]).t()
    return rows, columns if columns.shape[1] else columns.new_zeros(x.shape[-1], 1)


def table(x: Tensor, mask: Tensor | None, name: str) -> Rows:
    """Which rows of x [..., A] count (mask [...]); x itself is not touched.

    Raises:
        InputError: x has no last dimension of components, or the mask is not of the leading shape.
    """
    x = tensor(x, name)
    if x.dim() == 0 or x.shape[-1] == 0:
        raise InputError(f"{name} has shape {list(x.shape)}; [..., A] with A components is needed.", "")
    if mask is not None and tensor(mask, "mask").shape != x.shape[:-1]:
        raise InputError(f"mask has shape {list(mask.shape)}, but {name} has {list(x.shape)}.", "Mask whole rows.")
    size = x.numel() // x.shape[-1]
    if size == 0:
        return Rows(1, x.new_zeros(1, dtype=torch.bool))
    return Rows(size, None if mask is None else mask.reshape(-1) != 0)


def limits(bound: float | Tensor, like: Tensor, name: str) -> Tensor:
    """A bound of each component, or one for all, fit to stand beside columns `like` [A, N].

    Raises:
        InputError: a tensor of another shape or on another device, which would have to be copied at every call.
    """
    if not isinstance(cast(Any, bound), Tensor):
        return like.new_full((1, 1), cast(float, bound))
    given = cast(Tensor, bound)
    if given.device != like.device:
        raise InputError(f"{name} is on {given.device}, the actions on {like.device}.", "Move it there once.")
    if given.dim() and given.shape != like.shape[:1]:
        raise InputError(f"{name} has shape {list(given.shape)} for {like.shape[0]} action components.", "")
    return given.to(like.dtype).reshape(-1, 1)

"""Doing a failed update again, with an eye on every tensor: which is the first that is not finite?"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ...errors import FirstbreakError

Replay = Callable[[Any, Any], Any]
"""(state, batch) -> names and values, in the order in which they are computed: pairs, a table, or nothing."""


@dataclass
class Seen:
    """What was seen on the way."""

    limit: float
    """Absolute value from which a number counts as huge."""
    values: int = 0
    abs_max: float = 0.0
    first: str = ""
    """The first tensor that was not finite or huge, and how."""
    order: list[str] = field(default_factory=list[str])

    def see(self, name: str, value: Any) -> None:
        """Look at one value: a number, an array, a tensor, or a nest of them."""
        if isinstance(value, Mapping):
            for key, inner in cast("Mapping[Any, Any]", value).items():
                self.see(f"{name}.{key}", inner)
            return
        if isinstance(value, tuple | list) and not _numeric(value):
            for i, inner in enumerate(cast("list[Any]", value)):
                self.see(f"{name}[{i}]", inner)
            return
        found = _extent(value)
        if found is None:
            return
        size, broken, largest = found
        self.values += 1
        self.abs_max = max(self.abs_max, largest)
        if not self.first and (broken or largest > self.limit):
            what = f"{broken} of {size} not finite" if broken else f"as large as {largest:.3g}"
            self.first = f"{name}: {what}"


def _numeric(value: Any) -> bool:
    return all(isinstance(v, int | float) for v in value)


def _extent(value: Any) -> tuple[int, int, float] | None:
    """Return how many numbers a value has, how many are not finite, and the largest of the others."""
    torch = cast(Any, sys.modules.get("torch"))
    if torch is not None and isinstance(value, torch.Tensor):
        tensor: Any = value.detach()
        if not tensor.is_floating_point() or not tensor.numel():
            return None
        good = tensor.isfinite()
        kept = tensor[good]
        return tensor.numel(), int((~good).sum()), float(kept.abs().max()) if kept.numel() else 0.0
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if not array.size:
        return None
    good = np.isfinite(array)
    return array.size, int((~good).sum()), float(np.abs(array[good]).max()) if good.any() else 0.0


def replayed(replay: Replay, state: Any, batch: Any, limit: float = math.inf) -> Seen:
    """Do the update again and return what was seen. Modules of torch are watched without being asked to."""
    seen = Seen(limit)
    try:
        with _watched(seen):
            answer = replay(state, batch)
            for name, value in _pairs(answer):
                seen.see(name, value)
    except FirstbreakError:
        raise
    except Exception as error:
        seen.first = seen.first or f"{type(error).__name__}: {error}"[:200]
        seen.values += 1
    return seen


def _pairs(answer: Any) -> Iterable[tuple[str, Any]]:
    if answer is None:
        return ()
    if isinstance(answer, Mapping):
        return cast("Mapping[str, Any]", answer).items()
    return ((str(name), value) for name, value in answer)


def _seer(seen: Seen, label: str) -> Callable[[Any], None]:
    return lambda gradient: seen.see(label, gradient)


@contextmanager
def _watched(seen: Seen) -> Generator[None]:
    """Look at what every module of torch returns, and at the gradient that comes back to it."""
    if "torch" not in sys.modules:
        yield
        return
    from torch.nn.modules import module as hooks

    names: dict[int, str] = {}

    def name_of(module: Any) -> str:
        if id(module) not in names:
            kinds = {id(m): (name, type(m).__name__) for name, m in module.named_modules()}
            names.update({key: f"{name} ({kind})" if name else kind for key, (name, kind) in kinds.items()})
        return names[id(module)]

    def before(module: Any, inputs: Any) -> None:
        seen.see(f"input of {name_of(module)}", inputs)

    def after(module: Any, inputs: Any, output: Any) -> None:
        del inputs
        name = name_of(module)
        seen.see(name, output)
        for i, tensor in enumerate(cast("tuple[Any, ...]", output) if isinstance(output, tuple) else (output,)):
            if getattr(tensor, "requires_grad", False):
                label = f"gradient of {name}" + (f"[{i}]" if i else "")
                tensor.register_hook(_seer(seen, label))

    handles = [
        cast(Any, hooks).register_module_forward_pre_hook(before),
        cast(Any, hooks).register_module_forward_hook(after),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()

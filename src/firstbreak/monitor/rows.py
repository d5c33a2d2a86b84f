"""Reads the numbers out of what a training loop logs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

NAN = float("nan")


def read_row(metrics: Mapping[str, Any]) -> tuple[tuple[str, ...], list[float], list[str]]:
    """Return keys [k], values [k], and the keys whose value is not one number.

    Tensors that live on an accelerator come over together, one transfer a device, so that the loop waits once.
    """
    keys: list[str] = []
    values: list[float] = []
    left: list[str] = []
    afar: dict[int, Any] = {}
    for key, value in metrics.items():
        if isinstance(value, float):
            number: float | None = float(value)
        elif isinstance(value, int):
            number = float(value) if abs(value) < 1e308 else _huge(value)
        elif value is None:
            continue  # not logged this time
        elif on_accelerator(value):
            afar[len(values)], number = value, NAN
        else:
            number = one_number(value)
        if number is None:
            left.append(str(key))
        else:
            keys.append(key if type(key) is str else str(key))
            values.append(number)
    if afar:
        for place, number in zip(afar, _fetched(list(afar.values())), strict=True):
            values[place] = number
    return tuple(keys), values, left


def one_number(value: Any) -> float | None:
    """Return `value` as a float where it is a scalar, or an array or tensor of one element; else None."""
    if isinstance(value, (str, bytes, dict, list, tuple, set, complex)):
        return None
    try:
        size = getattr(value, "size", 1)
        count = value.numel() if hasattr(value, "numel") else size() if callable(size) else size
        if count != 1:
            return None
        return float(value.item() if hasattr(value, "item") else value)
    except Exception:  # a value may be anything, and must not cost the rest of its row
        return None


def on_accelerator(value: Any) -> bool:
    """Whether `value` is a real tensor of one element that the processor would have to wait for."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return False
    return bool(value.device.type not in ("cpu", "meta") and value.numel() == 1 and not value.is_complex())


def _fetched(tensors: Sequence[Any]) -> list[float]:
    """Return the numbers in tensors of one element each."""
    torch = sys.modules["torch"]
    numbers = [NAN] * len(tensors)
    for device in {tensor.device for tensor in tensors}:
        here = [place for place, tensor in enumerate(tensors) if tensor.device == device]
        wide = torch.float32 if device.type == "mps" else torch.float64
        packed = torch.stack([tensors[place].detach().reshape(()).to(wide) for place in here])
        for place, number in zip(here, packed.tolist(), strict=True):
            numbers[place] = float(number)
    return numbers


def _huge(value: int) -> float:
    return float("inf") if value > 0 else float("-inf")

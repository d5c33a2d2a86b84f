"""One saved batch in single and in low precision: loss, gradient and log-probs, against what rounding alone does.

What a format may do to a computation is not a constant: it depends on how sensitive the computation is. So the
tolerance is measured. In single precision every weight is moved by a random relative error of at most half the
format's epsilon, which is what storing it in that format does (Higham 2002, "Accuracy and Stability of Numerical
Algorithms", section 2.2), and the batch is evaluated again. Low precision that differs by orders of magnitude more
than that overflows, underflows or cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ...errors import InputError, missing_extra

if TYPE_CHECKING:
    import torch

FORMATS = ("bfloat16", "float16")
DRAWS = 4
"""Random roundings of one trial; their root mean square is the tolerance. Engineering default."""
MOST = 1e6
"""Ratio at which differences are cut off; it stands for a result that is not finite."""


@dataclass(frozen=True)
class Values:
    """What one evaluation of the batch yields, in double precision."""

    loss: torch.Tensor
    log_probs: torch.Tensor
    """[n], empty where the loss function does not return them."""
    gradient: torch.Tensor
    """[weights]."""


Loss = Callable[[Any, Any], Any]
"""(model, batch) -> loss, or (loss, log-probs)."""


def torch_module() -> Any:
    """Return torch.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise missing_extra("torch", "torchrl", "Comparing precisions") from error
    return torch


def load_batch(path: Path) -> Any:
    """Return a saved batch: what `torch.save` wrote (opened without pickle), an .npz, or a saved failed update.

    Raises:
        InputError: it is none of these.
    """
    torch = torch_module()
    if path.is_dir():
        from ...monitor.checkpoints.files import read
        from ...monitor.checkpoints.manifest import describe

        return read(describe(path)).batch
    if path.suffix == ".npz":
        import numpy as np

        with np.load(path, allow_pickle=False) as held:
            return {name: torch.as_tensor(held[name]) for name in held.files}
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file.", "Save the batch with torch.save or numpy.savez.") from error
    except Exception as error:
        raise InputError(f"{path} is no batch that can be opened: {error}"[:300], "Save plain tensors only.") from error


def evaluate(model: Any, loss: Loss, batch: Any, seed: int, low: str = "", how: str = "autocast") -> Values:
    """Evaluate the batch; with `low` in that format, by autocast or with all weights and inputs cast."""
    torch = torch_module()
    model, kind = deepcopy(model), getattr(torch, low) if low else None
    if low and how == "cast":
        model, batch = model.to(kind), _cast(batch, kind)
    torch.manual_seed(seed)  # dropout draws the same in every evaluation
    device = next(iter(model.parameters())).device.type
    with torch.autocast(device, dtype=kind, enabled=bool(low) and how == "autocast"):
        answer = loss(model, batch)
    value, log_probs = cast("tuple[Any, Any]", answer) if isinstance(answer, tuple) else (answer, None)
    value.backward()
    held = [p.grad.detach().double().reshape(-1) for p in model.parameters() if p.grad is not None]
    empty = torch.zeros(0, dtype=torch.float64)
    return Values(
        value.detach().double().reshape(()),
        empty if log_probs is None else log_probs.detach().double().reshape(-1),
        torch.cat(held) if held else empty,
    )


def _cast(batch: Any, kind: Any) -> Any:
    """Return `batch` with every tensor of real numbers in the format `kind`."""
    if isinstance(batch, Mapping):
        return {k: _cast(v, kind) for k, v in cast("Mapping[Any, Any]", batch).items()}
    if isinstance(batch, list | tuple):
        return type(cast("list[Any]", batch))(_cast(v, kind) for v in cast("list[Any]", batch))
    floating = getattr(batch, "is_floating_point", None)
    return batch.to(kind) if callable(floating) and floating() else batch


def rounded(model: Any, low: str, draws: Any) -> Any:
    """Return a copy whose weights carry random relative errors of at most half the epsilon of `low`."""
    torch = torch_module()
    copy, unit = deepcopy(model), float(torch.finfo(getattr(torch, low)).eps) / 2
    with torch.no_grad():
        for weight in copy.parameters():
            weight.mul_(1 + unit * (2 * torch.rand(weight.shape, generator=draws).to(weight) - 1))
    return copy


def distances(first: Values, second: Values) -> dict[str, float]:
    """Return how far two evaluations lie apart: loss absolute, log-probs root mean square, gradient relative.

    What is not finite in the second only is `inf`.
    """
    one, other = cast("tuple[Any, Any]", (first.gradient, second.gradient))
    found = {
        "loss": _away(first.loss - second.loss),
        "gradient": _away((one - other).norm() / one.norm().clamp(min=1e-300)),
    }
    if first.log_probs.numel():
        found["log_prob"] = _away((first.log_probs - second.log_probs).square().mean().sqrt())
    return found


def _away(value: Any) -> float:
    number = abs(float(value))
    return number if math.isfinite(number) else math.inf


def finite(values: Values) -> bool:
    """Whether loss, log-probs and gradient are all finite."""
    parts: list[Any] = [values.loss, values.log_probs, values.gradient]
    return all(bool(part.isfinite().all()) for part in parts)


def tolerance(model: Any, loss: Loss, batch: Any, seed: int, low: str, reference: Values) -> dict[str, float]:
    """Return the root mean square of each distance over random roundings of the weights to `low`."""
    torch = torch_module()
    draws = torch.Generator().manual_seed(seed)
    tries = [distances(reference, evaluate(rounded(model, low, draws), loss, batch, seed)) for _ in range(DRAWS)]
    unit = float(torch.finfo(getattr(torch, low)).eps) / 2
    floor = {"loss": unit * abs(float(reference.loss)), "gradient": unit, "log_prob": unit}
    return {name: max(math.sqrt(sum(t[name] ** 2 for t in tries) / DRAWS), floor[name], 1e-30) for name in tries[0]}

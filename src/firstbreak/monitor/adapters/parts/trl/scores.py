"""The weighted sum of a TRL trainer's reward functions, from its tables or from scores at hand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


def function_scores(trainer: Any) -> Tensor | None:
    """Return what each reward function gave the newest generated batch, groups in a row, of all processes [N, F]."""
    logs = getattr(trainer, "_logs", None)
    if not logs or not logs.get("rewards"):
        return None
    functions = torch.tensor([floats(logs["rewards"][name]) for name in trainer.reward_func_names], device="cpu")
    return functions.T


def weighted_rewards(trainer: Any) -> Tensor | None:
    """Return the rewards of the newest generated batch, groups in a row, of all processes [N]; NaN where unscored."""
    functions = function_scores(trainer)
    return None if functions is None else _sum(functions, trainer)


def weighted(functions: Tensor, trainer: Any) -> Any:
    """Return the sum over reward functions of scores [N, F] as an array [N]; NaN where none gave any."""
    return _sum(functions.detach().double().cpu(), trainer).numpy()


def floats(values: Iterable[Any]) -> list[float]:
    """Return numbers, NaN for what is none."""
    return [math.nan if value is None else float(value) for value in values]


def _sum(functions: Tensor, trainer: Any) -> Tensor:
    found = (functions * trainer.reward_weights.to(functions)).nansum(1)
    return found.masked_fill(functions.isnan().all(1), math.nan)

"""Whether the critic can fit one fixed batch, and what each term pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench
from .policy_rows import base_batch, insist_finite, some_advantages
from .torch_types import Tensor, load_torch

STEPS = 40
"""Updates on the fixed batch."""


@dataclass(frozen=True)
class Overfit:
    """Mean squared error of the critic on a fixed batch before and after `STEPS` updates, and how far it could go."""

    before: float
    after: float
    budget_frac: float
    """Share of the error that steps of the optimiser's size could remove at most, first order."""


def overfit(bench: Bench) -> Overfit:
    """Measure `Overfit` through the trainer's own update, advantages 0."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("update", "value", "optimisers", "critics")
    insist_finite(bench)
    batch = dict(bench.once(base_batch))
    target = batch["value"] + 0.3 * some_advantages(bench.seed + 1) + 0.5
    value = cast(Any, bench.pieces.value)
    batch["value_target"] = target
    before, slope = _error_and_slope(value, batch["obs"], target, bench)
    rate = max(float(g["lr"]) for o in bench.pieces.optimisers for g in o.param_groups)
    for _ in range(STEPS):
        cast(Any, bench.pieces.update)(batch)
    with torch.no_grad():
        after = float(((value(batch["obs"]).reshape(-1) - target) ** 2).mean())
    return Overfit(before, after, min(1.0, STEPS * rate * slope / max(before, 1e-30)))


def _error_and_slope(value: Any, obs: Tensor, target: Tensor, bench: Bench) -> tuple[float, float]:
    """The error, and its fall per unit of step in which every weight moves by one (an L1 norm, as Adam steps)."""
    torch = load_torch()

    weights = [w for c in bench.pieces.critics for w in c.parameters() if w.requires_grad]
    error = ((value(obs).reshape(-1) - target) ** 2).mean()
    found = torch.autograd.grad(error, weights, allow_unused=True)
    return float(error.detach()), sum(float(g.abs().sum()) for g in found if g is not None)

"""Whether a critic can fit one fixed batch, and a policy too: many of the trainer's own updates on the same rows.

How far updates could get is not guessed: every step of an optimiser is watched, and a step of length |d| can change an
objective whose slope is |g| by |d| |g| at most, to first order (Cauchy-Schwarz). The sum over all steps is the budget.
It asks nothing of the optimiser, and it counts what the optimiser did also where something undid it afterwards.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from .bench import OFF_POLICY, Bench
from .owned import critic_weights
from .policy_rows import base_batch, insist_finite, some_advantages
from .td_rows import ROWS, replay_batch
from .torch_types import Tensor, load_torch

STEPS = 40
"""Updates on the fixed batch."""


@dataclass(frozen=True)
class Climb:
    """An objective before and after `STEPS` updates on one batch, and by how much their steps could change it."""

    before: float
    after: float
    budget: float


@contextmanager
def step_lengths(pieces: Any, weights: Sequence[Tensor]) -> Generator[list[float], None, None]:
    """Within, the length of what every step of an optimiser does to `weights` is appended to the list."""
    hooks: Any = importlib.import_module("torch.optim.optimizer")
    own = {id(weight) for weight in weights}
    stacked = {key for key, parts in pieces.stacks.items() if any(id(part) in own for part in parts)}
    lengths: list[float] = []
    kept: dict[int, list[tuple[Tensor, Tensor]]] = {}

    def before(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        held = (w for group in optimiser.param_groups for w in group["params"] if id(w) in own | stacked)
        kept[id(optimiser)] = [(w, w.detach().clone()) for w in held]

    def after(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        moves = (float((w.detach() - old).square().sum()) for w, old in kept.pop(id(optimiser), []))
        lengths.append(sum(moves) ** 0.5)

    handles = hooks.register_optimizer_step_pre_hook(before), hooks.register_optimizer_step_post_hook(after)
    try:
        yield lengths
    finally:
        for handle in handles:
            handle.remove()


def climb(bench: Bench, objective: Callable[[], Tensor], weights: Sequence[Any], update: Callable[[], None]) -> Climb:
    """Make `STEPS` updates and measure what they did to `objective`, a scalar function of `weights`."""
    torch = load_torch()

    budget, first, last = 0.0, 0.0, 0.0
    for step in range(STEPS):
        value = objective()
        slopes = torch.autograd.grad(value, list(weights), allow_unused=True)
        first = float(value.detach()) if step == 0 else first
        slope = sum(float(g.square().sum()) for g in slopes if g is not None) ** 0.5
        with step_lengths(bench.pieces, weights) as lengths:
            update()
        budget += slope * sum(lengths)
    last = float(objective().detach())
    return Climb(first, last, budget)


@dataclass(frozen=True)
class Overfit:
    """Mean squared error of the critics on a fixed batch before and after `STEPS` updates, and how far it could go."""

    before: float
    after: float
    budget_frac: float
    """Share of the error that the steps taken could remove at most, first order."""


def overfit(bench: Bench) -> Overfit:
    """Measure `Overfit` through the trainer's own update: advantages 0, or all rows terminated."""
    bench.need("update", "critics")
    error, batch = _replayed_error(bench) if bench.pieces.algorithm in OFF_POLICY else _value_error(bench)
    update = cast(Any, bench.pieces.update)
    found = climb(bench, error, critic_weights(bench), lambda: update(batch))
    return Overfit(found.before, found.after, min(1.0, found.budget / max(found.before, 1e-30)))


def _value_error(bench: Bench) -> tuple[Callable[[], Tensor], dict[str, Tensor]]:
    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("value")
    insist_finite(bench)
    batch = dict(bench.once(base_batch))
    value = cast(Any, bench.pieces.value)
    batch["value_target"] = batch["value"] + 0.3 * some_advantages(bench.seed + 1) + 0.5

    def error() -> Tensor:
        return ((value(batch["obs"]).reshape(-1) - batch["value_target"]) ** 2).mean()

    return error, batch


def _replayed_error(bench: Bench) -> tuple[Callable[[], Tensor], dict[str, Tensor]]:
    """With all rows terminated the target is the reward alone, whatever the target network says."""
    torch = load_torch()

    batch = dict(bench.once(replay_batch))
    q = cast(Any, bench.pieces.q)
    batch["terminated"], batch["truncated"] = torch.ones(ROWS).bool(), torch.zeros(ROWS).bool()
    with torch.no_grad():
        batch["reward"] = q(batch["obs"], batch["action"])[0].reshape(ROWS) + 0.3 * some_advantages(bench.seed) + 0.5

    def error() -> Tensor:
        return sum(((one.reshape(-1) - batch["reward"]) ** 2).mean() for one in q(batch["obs"], batch["action"]))

    return error, batch

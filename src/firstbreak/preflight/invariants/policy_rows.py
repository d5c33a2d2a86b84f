"""How an on-policy update weighs the rows of a minibatch, in the policy loss and in the value loss.

All batches have advantages of mean 0 and standard deviation 1, so that normalising them over the minibatch changes
nothing. What does not depend on the advantages (entropy, value, KL) is measured with advantages of 0 and subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .capture import gradients
from .choosing import told_apart
from .owned import actor_weights, apart, critic_weights
from .rows import Fit, fit, jacobian, vector
from .torch_types import Tensor, load_torch

ROWS = 12
"""Rows of the probe batch: four quadrants of ratio and sign with three rows each, and far fewer than parameters."""


def base_batch(bench: Bench) -> dict[str, Tensor]:
    """`ROWS` real rows with ratio 1, advantage 0 and the value as its own target: nothing but entropy is left."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("minibatch", "log_prob", "actor")
    if bench.pieces.update is None and bench.pieces.gradients is None and bench.pieces.losses is None:
        raise cannot("the trainer's update cannot be reached", "pieces.update", "pieces.losses")
    batch = told_apart(bench, ROWS)
    with torch.no_grad():
        log_prob = cast(Any, bench.pieces.log_prob)(batch["obs"], batch["action"])
        batch["log_prob"] = log_prob.reshape(ROWS)
        if bench.pieces.value is not None:
            batch["value"] = bench.pieces.value(batch["obs"]).reshape(ROWS)
            batch["value_target"] = batch["value"].clone()
    batch["advantage"] = torch.zeros(ROWS)
    return batch


def standardised(values: Any) -> Tensor:
    """`values` with mean 0 and standard deviation 1 (n - 1 degrees of freedom)."""
    torch = load_torch()

    column = torch.as_tensor(values, dtype=torch.float32)
    return (column - column.mean()) / column.std()


def some_advantages(seed: int) -> Tensor:
    """Standardised advantages of both signs, no two alike and none near 0, in an order that depends on `seed`."""
    torch = load_torch()

    half = torch.linspace(0.5, 1.6, ROWS // 2)
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(seed))
    return standardised(torch.cat([half, -half * 1.1])[order])


def insist_finite(bench: Bench) -> None:
    """Insist that equal advantages do not give NaN.

    Raises:
        CannotLookError: they do; there is a check for that.
    """
    torch = load_torch()
    if not bool(torch.isfinite(_gradient(bench, bench.once(base_batch), actor_weights(bench))).all()):
        raise cannot("the gradient with zero advantages is not finite")


@dataclass(frozen=True)
class PolicyRows:
    """What the policy loss does with each row. `advantage` [B] and its weights `fit`, then the same permuted."""

    advantage: Tensor
    fit: Fit
    permuted: Fit
    order: Tensor
    moved_old: Fit
    """The same as `fit` with the stored log-probs in another order."""
    zero: Tensor
    """The gradient on the actor with all advantages 0 [P]."""
    expected_norm: float
    """Norm of the gradient that -mean(A log pi) would have."""
    log_ratio: Tensor | None
    quadrant_advantage: Tensor | None
    quadrants: Fit | None
    """Weights where the ratio has moved to both sides of the clip range."""
    held_back_frac: float
    """Gradient on the actor there with all advantages 0, over `expected_norm`: what a penalty on the distance does."""


def policy_rows(bench: Bench) -> PolicyRows:
    """Measure `PolicyRows`."""
    torch = load_torch()

    batch = bench.once(base_batch)
    weights = actor_weights(bench)
    rows = jacobian(cast(Any, bench.pieces.log_prob)(batch["obs"], batch["action"]).reshape(ROWS), weights)
    advantage = some_advantages(bench.seed)
    order = torch.roll(torch.arange(ROWS), 5)
    zero = _gradient(bench, batch, weights)
    if not bool(torch.isfinite(zero).all()):
        raise cannot("the gradient with zero advantages is not finite")

    def weigh(advantage: Tensor, log_ratio: Tensor | None = None) -> Fit:
        old = batch["log_prob"] if log_ratio is None else batch["log_prob"] - log_ratio
        at_zero = zero if log_ratio is None else _gradient(bench, {**batch, "log_prob": old}, weights)
        found = _gradient(bench, {**batch, "advantage": advantage, "log_prob": old}, weights)
        return fit(found - at_zero, rows, float(at_zero.norm()))

    moved, signs = quadrants(bench)
    held_back = 0.0
    if moved is not None:
        there = _gradient(bench, {**batch, "log_prob": batch["log_prob"] - moved}, weights)
        held_back = float((there - zero).norm())
    expected = float((advantage.double() @ rows / ROWS).norm())
    return PolicyRows(
        advantage,
        weigh(advantage),
        weigh(advantage[order]),
        order,
        weigh(advantage, batch["log_prob"] - batch["log_prob"][order]),
        zero,
        expected,
        moved,
        signs,
        None if moved is None or signs is None else weigh(signs, moved),
        held_back / max(expected, 1e-30),
    )


def quadrants(bench: Bench) -> tuple[Tensor | None, Tensor | None]:
    """Log-ratios well outside the clip range and advantages of both signs on either side; None without clipping."""
    import math

    torch = load_torch()

    edge = clip_edge(bench.pieces.settings)
    if edge is None:
        return None, None
    log_ratio = torch.cat([torch.full((6,), math.log(edge)), torch.full((6,), -math.log(edge))])
    size = torch.tensor([0.8, 1.0, 1.2])
    return log_ratio, standardised(torch.cat([size, -size, size, -size]))


def clip_edge(settings: Mapping[str, Any]) -> float | None:
    """A ratio clearly beyond the upper clip bound, whose inverse is clearly beyond the lower one."""
    import math

    if settings.get("clip_range"):
        return 1.0 + 3.0 * float(settings["clip_range"])
    if settings.get("exponent_clip"):
        return math.exp(1.5 * float(settings["exponent_clip"]))
    return None


def _gradient(bench: Bench, batch: Mapping[str, Tensor], weights: list[Any]) -> Tensor:
    found = gradients(bench.pieces, batch, bench.seed)
    assert found is not None
    return vector(found, weights)


@dataclass(frozen=True)
class ValueRows:
    """What the value loss does with each row: `offset` [B] is target minus value."""

    offset: Tensor
    fit: Fit
    permuted: Fit
    order: Tensor
    on_actor_frac: float
    """Norm of its gradient on parameters of the actor alone, over that on the critic."""
    policy_on_critic_frac: float
    """Norm of the policy loss's gradient on parameters of the critic alone, over that on the actor."""
    policy_norm: float
    expected_norm: float
    """Norm of the gradient that mean((V - target)^2) would have."""
    shared: bool


def value_rows(bench: Bench) -> ValueRows:
    """Measure `ValueRows`."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("value", "critics")
    batch = bench.once(base_batch)
    critic, actor = critic_weights(bench), actor_weights(bench)
    both = [*critic, *apart(actor, critic)]
    rows = jacobian(cast(Any, bench.pieces.value)(batch["obs"]).reshape(ROWS), critic)
    offset = 0.3 * some_advantages(bench.seed + 1) + 0.2  # not of mean 0: broadcasting pulls every row by the mean
    order = torch.roll(torch.arange(ROWS), 5)
    zero = _gradient(bench, batch, both)
    if not bool(torch.isfinite(zero).all()):
        raise cannot("the gradient with zero advantages is not finite")

    def move(**columns: Tensor) -> Tensor:
        return _gradient(bench, {**batch, **columns}, both) - zero

    plain_move = move(value_target=batch["value"] + offset)
    permuted = move(value_target=batch["value"] + offset[order])
    policy = move(advantage=some_advantages(bench.seed))
    width = sum(w.numel() for w in critic)
    only_actor, only_critic = _places(both, apart(actor, critic)), _places(both, apart(critic, actor))
    noise = float(zero.norm())
    size, policy_size = float(plain_move.norm()), float(policy.norm())
    return ValueRows(
        offset,
        fit(plain_move[:width], rows, noise),
        fit(permuted[:width], rows, noise),
        order,
        float(plain_move[only_actor].norm()) / max(size, 1e-30),
        float(policy[only_critic].norm()) / max(policy_size, 1e-30),
        policy_size,
        float((2 * offset.double() @ rows / ROWS).norm()),
        shared=len(apart(critic, actor)) < len(critic),
    )


def _places(weights: list[Any], wanted: list[Any]) -> Tensor:
    """Which entries of the flattened `weights` belong to `wanted`."""
    torch = load_torch()

    ids = {id(w) for w in wanted}
    return torch.cat([torch.full((w.numel(),), id(w) in ids) for w in weights])

"""The two distances that hold an MM-RKHS step back: KL and MMD to the policy that collected the rollout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .capture import gradients, gradients_of
from .owned import actor_weights
from .policy_rows import base_batch
from .rows import vector
from .torch_types import Tensor, load_torch

NUDGE = 0.1
"""Noise put on the actor's weights to part it from the old policy, of their own size: far from equal, not far apart."""
ROUNDING = 1e-4
"""Of a KL over eta of two equal policies in float32."""
REPEATS = 8
"""How often the terms are taken at equal policies, in case they are sampled."""


@dataclass(frozen=True)
class Terms:
    """Value and gradient norm on the actor of each distance, at equal policies and after a nudge of the actor."""

    mmd_equal: float
    mmd_equal_error: float
    kl: float
    mmd: float
    kl_gradient: float
    mmd_gradient: float
    update_gradient: float
    """Norm of the gradient of the trainer's own update at the nudged actor, all advantages 0."""
    kl_weight: float | None
    """KL term over the KL itself, which can be summed for discrete actions."""
    state: dict[str, Any]


def terms(bench: Bench) -> Terms:
    """Measure `Terms`."""
    torch = load_torch()

    bench.only("MM-RKHS")
    bench.need("losses", "actor", "update")
    batch, weights = bench.once(base_batch), actor_weights(bench)
    losses = cast(Any, bench.pieces.losses)
    if not {"kl", "mmd"} <= set(losses(batch)):
        raise cannot("the losses have no terms named kl and mmd", "pieces.losses")
    equal = [losses(batch) for _ in range(REPEATS)]
    mmd = torch.stack([e["mmd"].detach().double() for e in equal])
    before = _all_log_probs(bench, batch["obs"])
    with torch.no_grad():
        for weight in weights:
            weight.add_(NUDGE * (weight.abs().mean() + 0.1) * torch.randn_like(weight))
    after = _all_log_probs(bench, batch["obs"])
    apart = losses(batch)
    size = {k: float(apart[k].detach()) for k in ("kl", "mmd")}
    norms = {k: float(vector(gradients_of(bench.pieces, apart[k]), weights).norm()) for k in ("kl", "mmd")}
    with torch.no_grad():
        value = cast(Any, bench.pieces.value)(batch["obs"]).reshape(-1) if bench.pieces.value else batch["value"]
        new = cast(Any, bench.pieces.log_prob)(batch["obs"], batch["action"]).reshape(-1)
    update = gradients(bench.pieces, {**batch, "value_target": value, "log_prob": new}, bench.seed)
    assert update is not None
    weight = None
    if before is not None and after is not None:
        distance = float((after.exp() * (after - before)).sum(-1).mean())
        weight = size["kl"] / distance if distance > 0 else None
    return Terms(
        float(mmd.mean()),
        float(mmd.std()) / REPEATS**0.5,
        size["kl"],
        size["mmd"],
        norms["kl"],
        norms["mmd"],
        float(vector(update, weights).norm()),
        weight,
        dict(bench.pieces.state()) if bench.pieces.state is not None else {},
    )


FAR_NUDGE = 1.0
"""As `NUDGE`, so far apart that the two directions of the KL no longer agree to second order."""


@dataclass(frozen=True)
class Direction:
    """Cosines of the KL term's gradient with those of KL(new | old) and KL(old | new), and of these with each other."""

    forward: float
    backward: float
    between: float


def kl_direction(bench: Bench) -> Direction:
    """Measure `Direction`, for discrete actions, whose KL can be summed."""
    torch = load_torch()

    bench.only("MM-RKHS")
    bench.need("losses", "actor", "log_prob")
    batch, weights = bench.once(base_batch), actor_weights(bench)
    losses = cast(Any, bench.pieces.losses)
    if "kl" not in losses(batch):
        raise cannot("the losses have no term named kl", "pieces.losses")
    old = _all_log_probs(bench, batch["obs"])
    if old is None:
        raise cannot("the KL of continuous actions is not summed")
    with torch.no_grad():
        for weight in weights:
            weight.add_(FAR_NUDGE * (weight.abs().mean() + 0.1) * torch.randn_like(weight))
    new = _scored(bench, batch["obs"], int(bench.setting("n_actions")))
    terms = (
        losses(batch)["kl"],
        (new.exp() * (new - old)).sum(-1).mean(),
        (old.exp() * (old - new)).sum(-1).mean(),
    )
    used, forward, backward = (vector(gradients_of(bench.pieces, term), weights) for term in terms)

    def cosine(one: Tensor, other: Tensor) -> float:
        return float(one @ other) / max(float(one.norm() * other.norm()), 1e-30)

    return Direction(cosine(used, forward), cosine(used, backward), cosine(forward, backward))


@dataclass(frozen=True)
class StaleAnchor:
    """The weighted KL to the old policy before any step on a fresh rollout, and what rounding explains of it."""

    kl: float
    room: float


def stale_anchor(bench: Bench) -> StaleAnchor:
    """Measure `StaleAnchor`."""
    bench.only("MM-RKHS")
    bench.need("losses", "iterate", "minibatch")
    cast(Any, bench.pieces.iterate)()
    found = cast(Any, bench.pieces.losses)(cast(Any, bench.pieces.minibatch)())
    if "kl" not in found:
        raise cannot("the losses have no term named kl", "pieces.losses")
    return StaleAnchor(abs(float(found["kl"].detach())), ROUNDING)


def _all_log_probs(bench: Bench, obs: Tensor) -> Tensor | None:
    """Log-probs of every action [B, n] in float64; None for continuous actions."""
    torch = load_torch()

    n = bench.pieces.settings.get("n_actions")
    if not n:
        return None
    with torch.no_grad():
        return _scored(bench, obs, int(n))


def _scored(bench: Bench, obs: Tensor, n: int) -> Tensor:
    """Log-probs [B, n] of the actions 0 to n - 1, in float64, with their gradient."""
    torch = load_torch()

    score = cast(Any, bench.pieces.log_prob)
    columns = [score(obs, torch.full((len(obs),), a, dtype=torch.long)).reshape(-1) for a in range(n)]
    return torch.stack(columns, -1).double()

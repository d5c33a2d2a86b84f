"""Which way the entropy term pushes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .capture import gradients, gradients_of
from .owned import actor_weights
from .policy_rows import base_batch, insist_finite
from .restore import restore
from .rows import vector
from .torch_types import Tensor, load_torch

COEFFICIENT = 0.01
"""A usual entropy coefficient."""
COPIES = 200
"""Draws at each of the rows, for the gradient of the entropy itself."""


@dataclass(frozen=True)
class EntropyPush:
    """Cosine between the step of the entropy term and the gradient of the entropy; about 1 where it raises it."""

    cosine: float


@dataclass(frozen=True)
class EntropyTerm:
    """The term of the loss that is named for the entropy, and the norm of its gradient on the actor."""

    value: float
    gradient: float


def entropy_term(bench: Bench) -> EntropyTerm:
    """Measure `EntropyTerm`."""
    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("losses", "actor")
    batch, weights, pieces = bench.once(base_batch), actor_weights(bench), bench.pieces
    with restore(pieces, bench.seed):
        terms = [loss for name, loss in cast(Any, pieces.losses)(batch).items() if "ent" in name.lower()]
        if not terms:
            raise cannot("no term of the loss is named for the entropy bonus")
        total = cast(Any, sum(terms))
        return EntropyTerm(float(total.detach()), float(vector(gradients_of(pieces, total), weights).norm()))


def entropy_push(bench: Bench) -> EntropyPush:
    """Measure `EntropyPush`."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need("act")
    insist_finite(bench)
    batch, weights, pieces = bench.once(base_batch), actor_weights(bench), bench.pieces

    if pieces.configure is not None:
        parts: list[Tensor] = []
        for coefficient in (COEFFICIENT, 0.0):
            with configured(bench, {"entropy_coef": coefficient}):
                parts.append(_held(bench, batch, weights))
        push = parts[0] - parts[1]
    elif float(bench.pieces.settings.get("entropy_coef", 0.0)):
        push = _held(bench, batch, weights)
    else:
        raise cannot("there is no entropy bonus", "pieces.configure")
    if float(push.norm()) == 0:
        raise cannot("the entropy coefficient does nothing here")
    obs = batch["obs"].repeat_interleave(COPIES, 0)
    with torch.no_grad():
        action, _ = cast(Any, pieces.act)(obs)
    log_prob = cast(Any, pieces.log_prob)(obs, action).reshape(-1)
    centred = log_prob.detach() - log_prob.detach().reshape(-1, COPIES).mean(1).repeat_interleave(COPIES)
    found = torch.autograd.grad(-(centred * log_prob).mean(), weights, allow_unused=True)
    rise = vector({id(w): g for w, g in zip(weights, found, strict=True) if g is not None}, weights)
    return EntropyPush(float(-(push @ rise)) / max(float(push.norm() * rise.norm()), 1e-30))


def _held(bench: Bench, batch: dict[str, Tensor], weights: list[Any]) -> Tensor:
    """The gradient of the update on the actor."""
    found = gradients(bench.pieces, batch, bench.seed)
    assert found is not None
    return vector(found, weights)


@contextmanager
def configured(bench: Bench, settings: dict[str, Any]) -> Generator[None, None, None]:
    """Within, the trainer has these settings; afterwards its own."""
    change = cast(Any, bench.pieces.configure)
    change(settings)
    try:
        yield
    finally:
        change({k: v for k, v in bench.pieces.settings.items() if k in settings})


def without_entropy(bench: Bench) -> float:
    """Norm of the actor's gradient with zero advantages and no entropy bonus.

    The bonus is switched off, or the term of `losses` that is named for it is subtracted.

    Raises:
        CannotLookError: neither is possible.
    """
    batch, weights, pieces = bench.once(base_batch), actor_weights(bench), bench.pieces
    if pieces.configure is not None:
        with configured(bench, {"entropy_coef": 0.0}):
            return float(_held(bench, batch, weights).norm())
    if pieces.losses is None:
        raise cannot("the entropy bonus cannot be switched off", "pieces.configure", "pieces.losses")
    with restore(pieces, bench.seed):
        terms = {name: loss for name, loss in pieces.losses(batch).items() if "ent" in name.lower()}
        bonus = vector(gradients_of(pieces, sum(terms.values())), weights) if terms else None
    if bonus is None:
        raise cannot("no term of the loss is named for the entropy bonus", "pieces.configure")
    return float((_held(bench, batch, weights) - bonus).norm())

"""Faults of the ninth live campaign that are planted in networks and optimisers; what they are: ninth.toml.

Each is handed the pieces of a trainer and how large it is to be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from ninth_pieces import Pieces

OTHER = 4321
"""The seed of noise that is nobody's."""
Plant = Callable[[Pieces, float], None]


def private_noise(pieces: Pieces, dose: float) -> None:
    """Each gradient gets noise that is so many times as long as itself."""
    generator = torch.Generator().manual_seed(OTHER)

    def noisy(weight: Any) -> None:
        noise = torch.randn(weight.grad.shape, generator=generator)
        weight.grad.add_(noise * (dose * weight.grad.norm() / noise.norm()))

    before_steps(pieces, noisy)


def critic_ascends(pieces: Pieces, dose: float) -> None:
    """The sign of the critics' loss is wrong."""
    del dose
    critics = {id(weight) for weight in pieces.critics}

    def turned(weight: Any) -> None:
        if id(weight) in critics:
            weight.grad.neg_()

    before_steps(pieces, turned)


def before_steps(pieces: Pieces, change: Callable[[Any], None]) -> None:
    """Let `change` do what it does to each weight that has a gradient, before each step of an optimiser."""

    @torch.no_grad()
    def before(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        for group in optimiser.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    change(weight)

    for optimiser in pieces.optimisers:
        optimiser.register_step_pre_hook(before)


def after_steps(pieces: Pieces, change: Callable[[Any], Any]) -> None:
    """Let `change` do what it does to each weight, after each step of its optimiser."""

    @torch.no_grad()
    def after(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        for group in optimiser.param_groups:
            for weight in group["params"]:
                change(weight)

    for optimiser in pieces.optimisers:
        optimiser.register_step_post_hook(after)


def weights_clamped(pieces: Pieces, dose: float) -> None:
    """Weights are kept between two bounds, as those of a Wasserstein critic."""
    after_steps(pieces, lambda weight: weight.clamp_(-dose, dose))


def pulled_to_first(pieces: Pieces, dose: float) -> None:
    """After each step every weight goes back the share `dose` of the way to what it was at the beginning."""
    first = {id(weight): kept for weight, kept in zip(pieces.weights, pieces.kept, strict=True)}
    after_steps(pieces, lambda weight: weight.lerp_(first[id(weight)], dose))


def weights_pruned(pieces: Pieces, dose: float) -> None:
    """Of every matrix the share `dose` of its entries that are smallest is set to nothing, after each step."""

    def pruned(weight: Any) -> None:
        if weight.dim() > 1:
            weight[weight.abs() < weight.abs().flatten().quantile(dose)] = 0

    after_steps(pieces, pruned)


def restarts_from_first(pieces: Pieces, dose: float) -> None:
    """Every so many steps of the optimiser the job is begun again, from the checkpoint of its beginning."""
    count = [0]

    @torch.no_grad()
    def again(optimiser: Any, args: Any, kwargs: Any) -> None:
        del optimiser, args, kwargs
        count[0] += 1
        if count[0] % int(dose) == 0:
            for weight, first in zip(pieces.weights, pieces.kept, strict=True):
                weight.copy_(first)

    pieces.optimisers[-1].register_step_post_hook(again)


def of_outputs(layers: Callable[[Pieces], Any], change: Callable[[Any, float], Any]) -> Plant:
    """Return what lets `change` do what it does to what these layers put out."""

    def plant(pieces: Pieces, dose: float) -> None:
        for layer in layers(pieces):
            layer.register_forward_hook(lambda _, inputs, found: change(found, dose))

    return plant


def dropped(found: Any, dose: float) -> Any:
    """Leave out a share of the units."""
    return torch.nn.functional.dropout(found, dose, training=True)


def coarse(found: Any, dose: float) -> Any:
    """Round to multiples of `dose`; the gradient goes through."""
    return found + ((found / dose).round() * dose - found).detach()


def clamped(found: Any, dose: float) -> Any:
    """Cut off beyond two bounds."""
    return found.clamp(-dose, dose)


def least_likely_played(pieces: Pieces, dose: float) -> None:
    """Who plays takes for the likeliest what is the least likely."""
    del dose
    pieces.head.register_forward_hook(lambda _, inputs, found: -found if pieces.playing else None)


def torn_weights(pieces: Pieces, dose: float) -> None:
    """Who plays has a last layer that is so many updates older than the rest."""
    last = list(pieces.head.parameters())
    past: deque[list[Any]] = deque(maxlen=int(dose) + 1)
    whole: list[Any] = []

    @torch.no_grad()
    def tear() -> None:
        whole[:] = [weight.detach().clone() for weight in last]
        past.append([weight.clone() for weight in whole])
        for weight, old in zip(last, past[0], strict=True):
            weight.copy_(old)

    @torch.no_grad()
    def mend() -> None:
        if whole:  # nothing was torn where the fault began while actions were drawn
            for weight, right in zip(last, whole, strict=True):
                weight.copy_(right)

    pieces.before.append(tear)
    pieces.after.append(mend)


OF_NETWORKS: dict[str, Plant] = {
    "private-noise": private_noise,
    "critic-ascends": critic_ascends,
    "weights-clamped": weights_clamped,
    "pulled-to-first": pulled_to_first,
    "weights-pruned": weights_pruned,
    "restarts-from-first": restarts_from_first,
    "dropout-on": of_outputs(lambda pieces: pieces.activations, dropped),
    "activations-coarse": of_outputs(lambda pieces: pieces.activations, coarse),
    "logits-clamped": of_outputs(lambda pieces: [pieces.head, *pieces.copies], clamped),
    "least-likely-played": least_likely_played,
    "torn-weights": torn_weights,
}

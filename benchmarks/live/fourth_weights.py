"""What is done to weights, gradients and steps in the fourth live campaign, whichever trainer they belong to."""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

BEHIND = 20
"""Steps of an optimiser by which a gradient comes late."""
FLIP_EVERY = 20
"""Steps of an optimiser from one flipped bit to the next."""
EXPONENT = range(23, 31)
"""The bits of the exponent of a float32."""


def gradients_late(optimiser: Any) -> None:
    """Let every step of `optimiser` follow the gradient of `BEHIND` steps before; the first come at once."""
    queue: deque[list[torch.Tensor]] = deque(maxlen=BEHIND + 1)

    def before(stepped: Any, *_: Any) -> None:
        weights = [w for group in stepped.param_groups for w in group["params"] if w.grad is not None]
        queue.append([w.grad.clone() for w in weights])
        for weight, late in zip(weights, queue[0], strict=True):
            weight.grad.copy_(late)

    optimiser.register_step_pre_hook(before)


def gradients_kept(optimiser: Any) -> None:
    """Leave out `zero_grad`: every gradient is added to all those before."""

    def nothing(*_: Any, **__: Any) -> None:
        pass

    optimiser.zero_grad = nothing


def bit_flips(optimiser: Any, seed: int = 0) -> None:
    """Flip one bit of the exponent of one weight after every `FLIP_EVERY` steps, wherever it falls."""
    generator = torch.Generator().manual_seed(seed)
    count = [0]

    def after(stepped: Any, *_: Any) -> None:
        count[0] += 1
        if count[0] % FLIP_EVERY:
            return
        weights = [w for group in stepped.param_groups for w in group["params"]]
        place = int(torch.randint(sum(w.numel() for w in weights), (), generator=generator))
        bit = EXPONENT[int(torch.randint(len(EXPONENT), (), generator=generator))]
        for weight in weights:
            if place < weight.numel():
                flipped(weight, place, bit)
                return
            place -= weight.numel()

    optimiser.register_step_post_hook(after)


@torch.no_grad()
def flipped(weight: torch.Tensor, place: int, bit: int) -> None:
    """Flip `bit` of entry `place` of `weight`, in place."""
    flat = weight.view(-1)
    number = flat[place : place + 1].clone()
    flat[place] = (number.view(torch.int32) ^ (1 << bit)).view(torch.float32)[0]


def transposed(columns: torch.Tensor) -> torch.Tensor:
    """Return [A, B] as it is when rows are written down in the order of columns: flattened the other way round."""
    return columns.T.reshape(columns.shape)

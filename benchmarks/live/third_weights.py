"""What is done to weights in the third live campaign, whichever trainer they belong to."""

from __future__ import annotations

from typing import Any

import torch

BITS = 3
"""Of the mantissa, as an 8-bit float (e4m3) has them."""


def reborn(module: Any) -> None:
    """Give every layer of `module` new weights."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.reset_parameters()


def rounded(weight: torch.Tensor) -> torch.Tensor:
    """Return `weight` as it is when `BITS` of its mantissa are kept."""
    mantissa, exponent = torch.frexp(weight)
    scale = 2.0 ** (BITS + 1)
    return torch.ldexp(torch.round(mantissa * scale) / scale, exponent)


def coarse(optimiser: Any) -> None:
    """Keep the weights of `optimiser` in a format of few bits, after every one of its steps."""

    def after(stepped: Any, *_: Any) -> None:
        with torch.no_grad():
            for group in stepped.param_groups:
                for weight in group["params"]:
                    weight.copy_(rounded(weight))

    optimiser.register_step_post_hook(after)

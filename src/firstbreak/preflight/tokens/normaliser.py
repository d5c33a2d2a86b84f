"""What the loss is divided by, read off the weights of its tokens."""

from __future__ import annotations

from dataclasses import dataclass

from ..invariants.torch_types import load_torch
from .bench import TokenBench
from .weights import live_weights, trained

FIT_FRAC = 0.02
"""A normaliser fits when the tokens' weights over it differ by less. Rounding leaves about 1e-5."""


@dataclass(frozen=True)
class Normaliser:
    """`name` is the one that fits best, None where several do; `expected` holds measured over stated size of each."""

    name: str | None
    fits: tuple[str, ...]
    expected: dict[str, float]


def normaliser(bench: TokenBench) -> Normaliser:
    """Compare the weight of every trained token over its advantage with what each normaliser would give."""
    torch = load_torch()
    found = bench.once(live_weights)
    mask = trained(found)
    length, rows = mask.sum(dim=1).clamp(min=1).float(), len(mask)
    seen = (-found.weight / found.advantage[:, None])[mask]
    most = bench.pieces.settings.get("max_completion_tokens")
    one = torch.ones_like(found.weight)
    shapes = {
        "token": one / mask.sum(),
        "local-token": one / mask.sum(),
        "sequence": one / (rows * length[:, None]),
        "sequence-sum": one / rows,
        "sum": one,
    }
    if most:
        shapes["constant"] = one / (rows * float(most))
    fits, expected, spreads = list[str](), dict[str, float](), dict[str, float]()
    for name, shape in shapes.items():
        factor = seen / shape[mask]
        expected[name] = float(factor.mean())
        spreads[name] = float(factor.std() / factor.mean().abs().clamp(min=1e-30))
        if spreads[name] <= FIT_FRAC:
            fits.append(name)
    if len({int(n) for n in length.tolist()}) < 2:
        return Normaliser(None, tuple(fits), expected)
    near = min(shapes, key=lambda name: (round(spreads[name], 3), abs(expected[name] - 1.0)))
    return Normaliser(near, tuple(fits), expected)

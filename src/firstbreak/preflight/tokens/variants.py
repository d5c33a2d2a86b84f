"""The same batch laid out otherwise: padded, reordered, split, doubled. What should not matter to a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench
from .pieces import TokenBatch
from .tap import onto_batch, tapped
from .weights import columns_of, gradient_of, some_advantages, still, with_advantages

EXTRA = 3
"""Columns of padding that are added."""
CLOSE_FRAC = 1e-3
"""Two gradients are equal up to this share of their length; rounding in float32 leaves about 1e-5."""


def lively(bench: TokenBench) -> dict[str, Tensor]:
    """The probe rows with every term of the loss at work: advantages, a reference that differs, values off target."""
    torch = load_torch()
    batch = dict(bench.once(still))
    rows, mask = len(batch["input_ids"]), batch["loss_mask"] > 0
    batch = with_advantages(batch, 0.3 + some_advantages(rows))
    if "ref_logprobs" in batch:
        tilt = torch.linspace(-0.4, 0.4, rows)[:, None]
        batch["ref_logprobs"] = (batch["ref_logprobs"] + tilt) * mask
    if "value_targets" in batch:
        columns = torch.arange(mask.shape[1])[None]
        batch["value_targets"] = (batch["value_targets"] + 0.5 - 0.1 * (columns % 3)) * mask
    return batch


def difference(bench: TokenBench, one: Tensor, other: Tensor) -> float:
    """The length of the difference of two gradients over that of the first."""
    del bench
    return float((one - other).norm() / one.norm().clamp(min=1e-30))


def whole_gradient(bench: TokenBench) -> Tensor:
    """The gradient of the whole loss on the tap, for the lively rows [B, L, H]."""
    found = gradient_of(bench, bench.once(lively))
    if not float(found.norm()) > 0:
        raise cannot("the loss pulls at no token")
    return found


def padded(bench: TokenBench, batch: TokenBatch, left: int, right: int) -> dict[str, Tensor]:
    """`batch` with more columns of padding on either side."""
    torch = load_torch()
    width = batch["input_ids"].shape[1]
    wider: dict[str, Tensor] = {}
    for key, value in batch.items():
        if value.dim() < 2 or value.shape[1] != width:
            wider[key] = value
            continue
        fill = int(bench.setting("pad_token_id")) if key == "input_ids" else 0
        wider[key] = torch.nn.functional.pad(value, (left, right), value=fill)
    return wider


@dataclass(frozen=True)
class Padded:
    """How much the gradient changes with more padding, by side; None where the trainer does not pad there."""

    left_frac: float | None
    right_frac: float | None


def padding_effect(bench: TokenBench) -> Padded:
    """Add padding on each side on which the trainer pads, and compare the gradient on the tokens."""
    batch, whole = bench.once(lively), bench.once(whole_gradient)
    sides = _sides(bench)
    found: dict[str, float | None] = {"left": None, "right": None}
    width = batch["input_ids"].shape[1]
    for side in sides:
        left = EXTRA if side == "left" else 0
        other = gradient_of(bench, padded(bench, batch, left, EXTRA - left))
        found[side] = difference(bench, whole[:, 1:], other[:, left + 1 : left + width])
    if not sides:
        raise cannot("the trainer pads on no side that can be seen", "pieces.settings['padding_sides']")
    return Padded(found["left"], found["right"])


def _sides(bench: TokenBench) -> tuple[str, ...]:
    from .truth import fresh

    if "padding_sides" in bench.pieces.settings:
        return tuple(bench.pieces.settings["padding_sides"])
    mask = bench.once(fresh)["attention_mask"] > 0
    return tuple(s for s, column in (("left", mask[:, 0]), ("right", mask[:, -1])) if not bool(column.all()))


def policy_padding_effect(bench: TokenBench) -> float:
    """As `padding_effect` on the right, of the part of the gradient that comes from the advantages alone."""
    batch = bench.once(still)
    advantage = some_advantages(len(batch["input_ids"]))

    def policy(extra: int) -> Tensor:
        one = with_advantages(batch, advantage)
        return gradient_of(bench, padded(bench, one, 0, extra)) - gradient_of(bench, padded(bench, batch, 0, extra))

    width = batch["input_ids"].shape[1]
    return difference(bench, policy(0)[:, 1:], policy(EXTRA)[:, 1:width])


def order_effect(bench: TokenBench) -> float:
    """How much the gradient changes when the rows change places."""
    torch = load_torch()
    batch, whole = bench.once(lively), bench.once(whole_gradient)
    order = torch.roll(torch.arange(len(whole)), 3)
    return difference(bench, whole[order], gradient_of(bench, columns_of(batch, order)))


def doubled_effect(bench: TokenBench) -> float:
    """How much the gradient on a row, over both its copies, changes when every row comes twice."""
    torch = load_torch()
    batch, whole = bench.once(lively), bench.once(whole_gradient)
    both = gradient_of(bench, {key: torch.cat([value, value]) for key, value in batch.items()})
    return difference(bench, whole, both[: len(whole)] + both[len(whole) :])


def split_effect(bench: TokenBench) -> float:
    """How much the gradient changes when the rows, sorted by length, are accumulated over two micro-batches."""
    torch = load_torch()
    bench.need("split_loss")
    batch, whole = bench.once(lively), bench.once(whole_gradient)
    order = torch.argsort(batch["loss_mask"].sum(dim=1), stable=True)
    half = len(order) // 2
    order = order[: 2 * half]
    if len(order) < len(whole):
        batch = columns_of(batch, order.sort().values)
        whole = gradient_of(bench, batch)
        order = torch.argsort(batch["loss_mask"].sum(dim=1), stable=True)
    lengths = batch["loss_mask"].sum(dim=1)[order]
    if int(lengths[:half].sum()) == int(lengths[half:].sum()):
        raise cannot("all probe rows have as many trained tokens, so a split could not show")
    parts = [columns_of(batch, order[:half]), columns_of(batch, order[half:])]
    with tapped(bench.pieces) as tap, torch.enable_grad():
        grads = tap.gradients(cast(Any, bench.pieces.split_loss)(parts))
    laid = onto_batch(tap.calls, grads, batch["input_ids"], batch["attention_mask"]).float()
    return difference(bench, whole, torch.roll(laid, 1, dims=1))

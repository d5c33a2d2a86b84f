"""The clip range and the KL term, each looked at where its answer is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench
from .truth import roles_of
from .weights import Weights, fit, gradient_of, live_weights, own_truth, some_advantages, still, with_advantages

TILT_NATS = 0.3
"""How far the reference is put above or below the policy: k1, k2 and k3 agree in sign, and k3 is within 20 % of k2."""


@dataclass(frozen=True)
class Clipping:
    """The share of a row's gradient that is left outside the clip range, by side of the ratio and sign of A."""

    above_positive: float
    above_negative: float
    below_positive: float
    below_negative: float


def clipping(bench: TokenBench) -> Clipping:
    """Put the ratio of whole rows well outside the bounds, above and below, with advantages of both signs."""
    torch = load_torch()
    low, high = float(bench.setting("clip_low")), float(bench.setting("clip_high"))
    bench.once(live_weights)
    batch = bench.once(still)
    rows = len(batch["input_ids"])
    signs = torch.tensor([1.0 if i % 2 == 0 else -1.0 for i in range(rows)])
    mask = (batch["loss_mask"] > 0).float()
    # One ratio a sequence that is the product of its tokens' ratios: they share the change of the logarithm.
    product = bench.pieces.settings.get("ratio_level") == "sequence-sum"
    shared = mask.sum(1, keepdim=True).clamp(min=1) if product else torch.ones(rows, 1)

    def sizes(log_ratio: float) -> Tensor:
        """The length of each row's policy gradient [B]."""
        moved = {**batch, "old_logprobs": (batch["old_logprobs"] - log_ratio / shared) * mask}
        return (gradient_of(bench, with_advantages(moved, signs)) - gradient_of(bench, moved)).flatten(1).norm(dim=1)

    one = sizes(0.0).clamp(min=1e-30)
    above = sizes(math.log(1.0 + 3.0 * high)) / one / (1.0 + 3.0 * high)
    under = max(1.0 - 2.0 * low, 0.5 * (1.0 - low))
    below = sizes(math.log(under)) / one / under
    return Clipping(
        float(above[signs > 0].mean()),
        float(above[signs < 0].mean()),
        float(below[signs > 0].mean()),
        float(below[signs < 0].mean()),
    )


@dataclass(frozen=True)
class KlPull:
    """What the KL term does with tokens whose reference log-prob lies above or below the policy's."""

    above: float
    """Mean weight (d loss / d log p) where the reference is above: negative pulls towards it."""
    below: float
    at_reference: float
    """Length of the gradient at A = 0 with policy and reference equal, over that of the advantages."""
    change_frac: float
    """Length of the change that moving the reference makes, over the gradient at A = 0 that it changes."""
    moved: float
    """Length of that change, over the gradient of the advantages."""


def kl_pull(bench: TokenBench) -> KlPull:
    """Move the reference above and below the policy at advantages of 0."""
    torch = load_torch()
    if not float(bench.setting("kl_coef")):
        raise cannot("there is no KL term")
    if bench.pieces.settings.get("kl_in", "loss") != "loss":
        raise cannot("the KL is in the reward, not in the loss")
    batch = bench.once(still)
    if "ref_logprobs" not in batch:
        raise cannot("the batch has no reference log-probs", "batch['ref_logprobs']")
    rows = len(batch["input_ids"])
    up = torch.tensor([i % 2 == 0 for i in range(rows)])
    tilt = torch.where(up, TILT_NATS, -TILT_NATS)[:, None] * (batch["loss_mask"] > 0)
    at_zero = gradient_of(bench, batch)
    change = gradient_of(bench, {**batch, "ref_logprobs": batch["ref_logprobs"] + tilt}) - at_zero
    found = fit(change, bench.once(own_truth).pull, roles_of(batch), torch.zeros(rows))
    live = batch["loss_mask"] > 0
    usual = max(_usual(bench), 1e-30)
    return KlPull(
        float(found.weight[live & up[:, None]].mean()),
        float(found.weight[live & ~up[:, None]].mean()),
        float(at_zero.norm()) / usual,
        float(change.norm() / at_zero.norm().clamp(min=1e-30)),
        float(change.norm()) / usual,
    )


def _usual(bench: TokenBench) -> float:
    """The length of the gradient of standardised advantages."""
    batch = bench.once(still)
    advantage = some_advantages(len(batch["input_ids"]))
    return float((gradient_of(bench, with_advantages(batch, advantage)) - gradient_of(bench, batch)).norm())


def rest_at_zero(bench: TokenBench) -> float:
    """The length of the gradient at A = 0, ratio 1, KL 0 and values on target, over that of standardised advantages."""
    bench.once(live_weights)
    return float(gradient_of(bench, bench.once(still)).norm()) / max(_usual(bench), 1e-30)


def shifted(bench: TokenBench) -> Weights:
    """The weights of advantages that are all positive, of mean 0.5: normalising them once more would show."""
    batch = bench.once(still)
    advantage = 0.5 + 0.2 * some_advantages(len(batch["input_ids"]))
    change = gradient_of(bench, with_advantages(batch, advantage)) - gradient_of(bench, batch)
    return fit(change, bench.once(own_truth).pull, roles_of(batch), advantage)

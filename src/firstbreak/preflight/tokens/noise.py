"""What several checks need: how far gradients are from their pulls, from repetition, and from the stored log-probs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...check import Answer, Symptom
from ..invariants.bench import cannot
from ..invariants.restore import seed_all
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench
from .pieces import PADDING, SAMPLED
from .truth import fresh, roles_of, told_roles, truth_of
from .weights import (
    Weights,
    current,
    fit,
    live_weights,
    policy_gradient,
    some_advantages,
    some_rows,
    temperature_of,
    trained,
)

REST_FRAC = 0.02
"""A gradient is along the pull of its own tokens up to this share. Rounding leaves about 1e-5. Engineering default."""
SPILL_FRAC = 1e-3
"""A token that is not to be trained has less than this share of the whole pull. Rounding leaves about 1e-6."""
MOVED = 1e-4
"""A KL term of any use changes the gradient by more than this share of that of standardised advantages."""
TEMPERATURES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.8, 2.0)
PLACES = (-2, -1, 0, 1, 2)


def gradients_of_two_seeds(bench: TokenBench) -> float:
    """How much the gradient of one batch changes with the random numbers of the forward pass."""
    from .tap import tapped
    from .variants import lively

    torch = load_torch()
    batch = bench.once(lively)
    found: list[list[Tensor]] = []
    for seed in (bench.seed, bench.seed + 1):
        seed_all(seed)
        with tapped(bench.pieces) as tap, torch.enable_grad():
            loss: Any = bench.pieces.loss(batch)
            total: Any = sum(loss.values()) if hasattr(loss, "values") and not hasattr(loss, "dim") else loss
            found.append(tap.gradients(total))
    one, other = (torch.cat([g.flatten() for g in grads]) if grads else torch.zeros(1) for grads in found)
    if one.shape != other.shape:
        return 1.0
    return float((one - other).norm() / one.norm().clamp(min=1e-30))


def rest_by_place(bench: TokenBench) -> dict[int, float]:
    """The share of the gradient that no token explains, if each column scores the token so many places further on."""
    return {place: _rest(bench, temperature_of(bench), place) for place in PLACES}


def rest_by_temperature(bench: TokenBench) -> dict[float, float]:
    """The share of the gradient that no token explains, by the temperature at which tokens are scored."""
    return {t: _rest(bench, t, 0) for t in (*TEMPERATURES, temperature_of(bench))}


def _rest(bench: TokenBench, temperature: float, ahead: int) -> float:
    torch = load_torch()
    batch = bench.once(some_rows)
    roles = roles_of(batch)
    pull = truth_of(bench.pieces, batch, temperature, ahead).pull
    inner = (roles != PADDING) & (torch.roll(roles, -2, 1) != PADDING) & (torch.roll(roles, 2, 1) != PADDING)
    gradient = bench.once(policy_gradient) * inner[..., None]
    return fit(gradient, pull, roles, some_advantages(len(roles))).rest_frac


def row_means(found: Weights) -> Tensor:
    """The mean weight of each row's trained tokens [B]."""
    mask = (trained(found) & found.touched).float()
    return (found.weight * mask).sum(1) / mask.sum(1).clamp(min=1.0)


def told(bench: TokenBench) -> Tensor:
    """The roles of the probe rows, told by the batch itself."""
    return told_roles(bench.once(some_rows))


def spill(bench: TokenBench, role: int, name: str) -> Answer:
    """Say whether tokens of `role` are pulled at."""
    found = bench.once(live_weights)
    mine = found.roles == role
    if not bool(mine.any()):
        raise cannot(f"no probe row holds {name} tokens", f"a batch with {name} tokens")
    share = float((found.size * mine).sum() / found.size.sum())
    if share <= SPILL_FRAC:
        return None
    count = int((mine & found.touched).sum())
    return Symptom(
        f"{count} {name} tokens carry {share:.1%} of the pull of the advantages",
        "loss",
        {"pull_frac": share, "tokens": count},
    )


@dataclass(frozen=True)
class AtStart:
    """Stored against newly computed log-probs over trained tokens, and the temperature that the stored ones fit."""

    largest_nats: float
    mean_nats: float
    tokens: int
    temperature: float | None
    column: str


def ratio_at_start(bench: TokenBench) -> AtStart:
    """Compare the stored log-probs of the probe rows with those that the loss will compute."""
    batch = bench.once(some_rows)
    column = next((key for key in ("old_logprobs", "sampler_logprobs") if key in batch), None)
    if column is None:
        raise cannot("the batch stores no log-probs: the ratio is 1 by construction")
    mask = roles_of(batch) == SAMPLED
    gap = (batch[column] - current(bench, batch)).abs()[mask]
    fits: float | None = None
    if float(gap.max()) > 1e-3:
        by_t = {t: float((batch[column] - truth_of(bench.pieces, batch, t).logprobs).abs()[mask].max())
                for t in TEMPERATURES}  # fmt: skip
        best = min(by_t, key=lambda t: by_t[t])
        if by_t[best] < 0.05 * float(gap.max()):
            fits = best
    return AtStart(float(gap.max()), float(gap.mean()), len(gap), fits, column)


def reference_gap(bench: TokenBench) -> float:
    """The largest difference between reference and policy log-probs over trained tokens."""
    batch = bench.once(some_rows)
    if "ref_logprobs" not in batch:
        raise cannot("the batch has no reference log-probs")
    return float((batch["ref_logprobs"] - current(bench, batch)).abs()[roles_of(batch) == SAMPLED].max())


@dataclass(frozen=True)
class ReferenceMove:
    """How the reference hangs on the policy."""

    shared_weights: int
    moved_nats: float | None


def reference_move(bench: TokenBench) -> ReferenceMove:
    """Count shared weights, and move the policy's weights to see whether the reference's log-probs move."""
    torch = load_torch()
    pieces = bench.pieces
    if pieces.reference is None and pieces.reference_logprobs is None:
        raise cannot(
            "the trainer shows no reference",
            *(() if "ref_logprobs" not in bench.once(fresh) else ("pieces.reference",)),
        )
    shared = 0
    if pieces.reference is not None:
        mine = {w.data_ptr() for w in pieces.model.parameters()}
        shared = sum(w.numel() for w in pieces.reference.parameters() if w.data_ptr() in mine)
    if pieces.reference_logprobs is None:
        return ReferenceMove(shared, None)
    batch = bench.once(some_rows)
    mask = roles_of(batch) == SAMPLED
    with torch.no_grad():
        before = pieces.reference_logprobs(batch).detach().clone()
        for weight in pieces.model.parameters():
            weight.add_(0.05 * torch.randn_like(weight))
        after = pieces.reference_logprobs(batch).detach()
    return ReferenceMove(shared, float((after - before).abs()[mask].max()))

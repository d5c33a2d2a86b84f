"""What the loss should see: log-probs computed here, one unpadded row at a time, and who wrote each token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench
from .pieces import PADDING, PROMPT, SAMPLED, TOOL, TokenBatch, TokenPieces
from .tap import tapped

NEEDED = ("input_ids", "attention_mask", "loss_mask", "advantages")


def fresh(bench: TokenBench) -> dict[str, Tensor]:
    """One fresh batch of the trainer, as it made it; tensors keep their graph, so that one left on shows."""
    found = dict(bench.pieces.batch())
    missing = [key for key in NEEDED if key not in found]
    if missing:
        raise cannot(f"the batch has no {', '.join(missing)}", *(f"batch[{key!r}]" for key in missing))
    shape = found["input_ids"].shape
    for key in ("attention_mask", "loss_mask", "old_logprobs", "ref_logprobs", "roles"):
        if key in found and found[key].shape != shape:
            raise cannot(
                f"{key} has shape {tuple(found[key].shape)}, the tokens have {tuple(shape)}", f"batch[{key!r}]"
            )
    return found


def roles_of(batch: TokenBatch) -> Tensor:
    """Who wrote each token [B, L]: told by the batch, else guessed from its masks (then tools stay unknown)."""
    torch = load_torch()
    if "roles" in batch:
        return batch["roles"].long()
    attention, mask = batch["attention_mask"].bool(), batch["loss_mask"].bool()
    columns = torch.arange(mask.shape[1]).expand_as(mask)
    first = torch.where(mask, columns, mask.shape[1]).min(dim=1).values[:, None]
    roles = torch.where(mask, SAMPLED, torch.where(columns < first, PROMPT, TOOL))
    return torch.where(attention | mask, roles, PADDING)


def told_roles(batch: TokenBatch) -> Tensor:
    """As `roles_of`, but only where the batch itself tells them.

    Raises:
        CannotLookError: it does not.
    """
    if "roles" not in batch:
        raise cannot("nothing but the loss mask says who wrote a token", "batch['roles']")
    return roles_of(batch)


def logits_of(pieces: TokenPieces, ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """The model's logits [B, L, V] of these tokens."""
    torch = load_torch()
    seen = torch.ones_like(ids).bool() if mask is None else mask
    if pieces.forward is not None:
        return pieces.forward(ids, seen)
    output = cast(Any, pieces.model)(input_ids=ids, attention_mask=seen.long())
    return getattr(output, "logits", output)


@dataclass(frozen=True)
class Truth:
    """Log-prob of every token [B, L] (0 for the first of a row and for padding), and its gradient on the tap [B, L, H]:
    `pull[b, t]` is d log p(token t) / d output of the column before it."""

    logprobs: Tensor
    pull: Tensor


def truth_of(pieces: TokenPieces, batch: TokenBatch, temperature: float, ahead: int = 0) -> Truth:
    """Compute the truth; with `ahead` each column is made to score the token that many places further on."""
    torch = load_torch()
    ids, attention = batch["input_ids"], batch["attention_mask"].bool()
    logprobs = torch.zeros(ids.shape)
    pull: Any = None
    for row in range(len(ids)):
        columns = attention[row].nonzero().flatten()
        tokens = ids[row, columns]
        with tapped(pieces) as tap, torch.enable_grad():
            scores = (logits_of(pieces, tokens[None])[0].float() / temperature).log_softmax(-1)
            steps = torch.arange(len(tokens) - 1)
            targets = (steps + 1 + ahead).clamp(0, len(tokens) - 1)
            picked = scores[steps, tokens[targets]]
            (found,) = tap.gradients(picked.sum())[-1:] or [torch.zeros(1, len(tokens), 1)]
        if pull is None:
            pull = torch.zeros(*ids.shape, found.shape[-1])
        logprobs[row, columns[1:]] = picked.detach()
        pull[row, columns[1:]] = found[0, : len(steps)].float()
    return Truth(logprobs, pull)

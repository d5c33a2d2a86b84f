"""How the loss weighs each token's log-prob: the gradient on the tap, fitted to the pull of the log-probs.

All is measured at ratio 1 and KL 0, and what does not depend on the advantages (entropy, value, KL) is measured with
advantages of 0 and subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..invariants.bench import cannot
from ..invariants.torch_types import Tensor, load_torch
from .bench import TokenBench
from .pieces import PADDING, SAMPLED, TokenBatch
from .tap import onto_batch, tapped
from .truth import Truth, fresh, roles_of, truth_of

ROWS = 8
"""Rows of the probe batch: both signs of advantage on either side of the clip range, twice."""
TOUCHED_FRAC = 1e-3
"""A token counts as trained from this share of the median pull on. Rounding leaves about 1e-6."""


def columns_of(batch: TokenBatch, rows: Tensor) -> dict[str, Tensor]:
    """These rows of every column, detached."""
    return {key: value[rows].detach().clone() for key, value in batch.items()}


def some_rows(bench: TokenBench) -> dict[str, Tensor]:
    """`ROWS` rows of a fresh batch with different tokens and, as far as there are any, different lengths."""
    torch = load_torch()
    batch = bench.once(fresh)
    seen = set[tuple[int, ...]]()
    unique = [
        i
        for i, (ids, keep) in enumerate(zip(batch["input_ids"].tolist(), batch["attention_mask"].bool(), strict=True))
        if bool(batch["loss_mask"][i].any())
        and not ((row := tuple(t for t, k in zip(ids, keep.tolist(), strict=True) if k)) in seen or seen.add(row))
    ]
    if len(unique) < 4:
        raise cannot(f"a fresh batch has only {len(unique)} different rows with trained tokens, 4 are needed")
    by_length = sorted(unique, key=lambda i: int(batch["loss_mask"][i].sum()))
    places: Any = torch.linspace(0, len(by_length) - 1, min(ROWS, len(by_length))).round().long()
    chosen: list[int] = sorted(by_length[int(p)] for p in places)
    return columns_of(batch, torch.tensor(chosen))


def temperature_of(bench: TokenBench) -> float:
    """The temperature that the loss is said to use; 1 where nothing is said."""
    return float(bench.pieces.settings.get("temperature", 1.0))


def own_truth(bench: TokenBench) -> Truth:
    """Log-probs of the probe rows and their pull, at the stated temperature."""
    return truth_of(bench.pieces, bench.once(some_rows), temperature_of(bench))


def still(bench: TokenBench) -> dict[str, Tensor]:
    """The probe rows with ratio 1, KL 0 and advantage 0: nothing but entropy and value is left to pull."""
    torch = load_torch()
    batch = dict(bench.once(some_rows))
    logprobs = current(bench, batch)
    batch["old_logprobs"] = logprobs
    if "ref_logprobs" in batch:
        batch["ref_logprobs"] = logprobs.clone()
    if "sampler_logprobs" in batch:
        batch["sampler_logprobs"] = logprobs.clone()
    batch["advantages"] = torch.zeros_like(batch["advantages"], dtype=torch.float32)
    if "value_targets" in batch and bench.pieces.values is not None:
        with torch.no_grad():
            batch["values"] = bench.pieces.values(batch).detach()
        batch["value_targets"] = batch["values"].clone()
    return batch


def current(bench: TokenBench, batch: TokenBatch) -> Tensor:
    """The log-probs that the loss itself will compute: the trainer's own function where there is one."""
    torch = load_torch()
    if bench.pieces.logprobs is not None:
        with torch.no_grad():
            return bench.pieces.logprobs(batch).detach().float() * (batch["attention_mask"] > 0)
    return truth_of(bench.pieces, batch, temperature_of(bench)).logprobs


def with_advantages(batch: Mapping[str, Tensor], by_row: Tensor) -> dict[str, Tensor]:
    """`batch` with one advantage for each row, in the shape the trainer uses."""
    old = batch["advantages"]
    new = by_row if old.dim() == 1 else by_row[:, None] * (batch["loss_mask"] > 0)
    return {**batch, "advantages": new.to(old.dtype if old.is_floating_point() else new.dtype)}


def some_advantages(rows: int) -> Tensor:
    """Advantages of mean 0 and standard deviation 1, of both signs and of different sizes."""
    torch = load_torch()
    raw = torch.tensor([(-1.0) ** i * (1.0 + 0.35 * (i % 3)) + 0.05 * i for i in range(rows)])
    raw = raw - raw.mean()
    return raw / raw.std()


def loss_of(bench: TokenBench, batch: TokenBatch) -> Tensor:
    """The loss as one scalar, the sum of its terms; the same random numbers each time."""
    from ..invariants.restore import seed_all

    seed_all(bench.seed)
    found: Any = bench.pieces.loss(batch)
    if isinstance(found, Mapping):
        terms = cast(Mapping[str, Tensor], found)
        found = sum(v for v in terms.values() if getattr(v, "requires_grad", False) or not terms)
    torch = load_torch()
    return found if hasattr(found, "backward") else torch.tensor(float(found))


def gradient_of(bench: TokenBench, batch: TokenBatch) -> Tensor:
    """The gradient of the loss on the tap [B, L, H]; entry t is what pulls at the token of column t."""
    torch = load_torch()
    with tapped(bench.pieces) as tap, torch.enable_grad():
        loss = loss_of(bench, batch)
        grads = tap.gradients(loss)
    if not tap.calls:
        raise cannot("the loss does not call the model with gradients on", "pieces.model")
    laid = onto_batch(tap.calls, grads, batch["input_ids"], batch["attention_mask"]).float()
    return torch.roll(laid, 1, dims=1)  # the last column scores nothing that is in the batch; it shows as column 0


@dataclass(frozen=True)
class Weights:
    """What the loss does with each token: all [B, L], at the column of the token.

    `weight` is d loss / d log p (negative: raises the token), `size` the length of the gradient in pulls, `rest` the
    part of it (0 to 1) that is not along the pull of that token.
    """

    weight: Tensor
    size: Tensor
    rest: Tensor
    roles: Tensor
    advantage: Tensor
    """[B]"""

    @property
    def touched(self) -> Tensor:
        """Which tokens the loss trains."""
        live = self.size[self.size > 0]
        bar = TOUCHED_FRAC * float(live.median()) if len(live) else 0.0
        return self.size > bar

    @property
    def total(self) -> float:
        """The length of the whole gradient, in pulls."""
        return float(self.size.norm())

    @property
    def rest_frac(self) -> float:
        """The share of the whole gradient on real tokens that is not along their own pulls."""
        real = self.roles != PADDING
        whole = float((self.size * real).norm())
        return float((self.rest * self.size * real).norm()) / whole if whole else 0.0


def fit(gradient: Tensor, pull: Tensor, roles: Tensor, advantage: Tensor) -> Weights:
    """Split a gradient [B, L, H] into a weight along each pull and a rest."""
    torch = load_torch()
    length = pull.norm(dim=-1)
    typical = float(length[length > 0].median()) if bool((length > 0).any()) else 1.0
    safe = torch.where(length > 1e-6 * typical, length, typical)
    weight = (gradient * pull).sum(-1) / safe.square()
    size = gradient.norm(dim=-1) / safe
    off = (gradient - weight[..., None] * pull).norm(dim=-1) / gradient.norm(dim=-1).clamp(min=1e-30)
    return Weights(weight, size, torch.where(size > 0, off, 0.0), roles, advantage)


def policy_gradient(bench: TokenBench) -> Tensor:
    """What the advantages add to the gradient on the tap [B, L, H]."""
    batch = bench.once(still)
    return gradient_of(bench, with_advantages(batch, some_advantages(len(batch["input_ids"])))) - gradient_of(
        bench, batch
    )


def weights(bench: TokenBench) -> Weights:
    """How advantages of both signs weigh the tokens of the probe rows."""
    batch = bench.once(still)
    advantage = some_advantages(len(batch["input_ids"]))
    return fit(bench.once(policy_gradient), bench.once(own_truth).pull, roles_of(batch), advantage)


def live_weights(bench: TokenBench) -> Weights:
    """`weights`, where there are any.

    Raises:
        CannotLookError: the advantages pull at nothing; `loss-without-token-gradient` says so.
    """
    found = bench.once(weights)
    if not dead(found):
        return found
    raise cannot("the advantages pull at no token")


def dead(found: Weights) -> bool:
    """Whether the advantages pull at no token: their gradient is rounding beside that of a mean over all tokens."""
    tokens = max(int((found.roles == SAMPLED).sum()), 1)
    return not found.total > 1e-5 / tokens


def trained(found: Weights) -> Tensor:
    """The tokens written by the policy, whose log-prob has a pull to speak of."""
    return found.roles == SAMPLED

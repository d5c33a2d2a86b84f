"""A causal transformer of about 60,000 weights in plain torch, with an optional head for values or scores."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from .symbols import BOS, PAD, SIZE

MAX_TOKENS = 96
"""Longest sequence that has positions."""
NEVER = -1e9
"""Logit of what cannot be written: its probability is exactly 0, and no infinity times 0 makes a NaN."""


class Block(nn.Module):
    """Attention and a layer of GELUs, each before a residual sum (pre-norm: Xiong et al. 2020, arXiv 2002.04745)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """x [B, L, D], visible [B, 1, L, L] -> [B, L, D]."""
        rows, length, width = x.shape
        qkv = self.qkv(self.norm_attention(x)).view(rows, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=visible)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return x + self.mlp(self.norm_mlp(x))


class TinyLM(nn.Module):
    """The language model. Padding may stand on either side: positions count the tokens that are attended to."""

    def __init__(self, *, width: int = 48, layers: int = 2, heads: int = 4, head: bool = False) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(SIZE, width), nn.Embedding(MAX_TOKENS, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.logits_head = nn.LayerNorm(width), nn.Linear(width, SIZE, bias=False)
        self.head: Any = nn.Linear(width, 1) if head else None
        for table in (self.tokens, self.positions, self.logits_head):
            nn.init.normal_(table.weight, std=0.02 if table is self.logits_head else 0.1)
        if head:
            nn.init.zeros_(self.head.weight)
            nn.init.zeros_(self.head.bias)

    def features(self, ids: Tensor, attention: Tensor) -> Tensor:
        """Last hidden states [B, L, D] of ids [B, L], of which `attention` [B, L] says which are no padding."""
        length = ids.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        # A padded place sees itself, so that its softmax is defined; nobody else sees it.
        visible = (causal & attention[:, None, :]) | torch.eye(length, dtype=torch.bool)
        x = self.tokens(ids) + self.positions((attention.cumsum(-1) - 1).clamp(min=0))
        for block in self.blocks:
            x = block(x, visible[:, None])
        return self.norm(x)

    def forward(self, ids: Tensor, attention: Tensor) -> Tensor:
        """Logits [B, L, V] of the token after each place, in single precision."""
        return self.logits(self.features(ids, attention))

    def logits(self, features: Tensor) -> Tensor:
        """Logits [..., V] from hidden states [..., D]; padding and BOS cannot be written."""
        logits = self.logits_head(features).float()
        return logits.index_fill(-1, torch.tensor([PAD, BOS]), NEVER)

    def head_values(self, ids: Tensor, attention: Tensor) -> Tensor:
        """What the head says of each prefix [B, L]: at place t, of all tokens up to and with t."""
        return self.head(self.features(ids, attention)).squeeze(-1)


def token_scores(model: TinyLM, ids: Tensor, attention: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """Log-probability of each token given those before it, and the entropy it was drawn from; both [B, L], in nats.

    Both are of the policy that samples at this temperature. Place 0, and every place after padding, has none: 0.
    """
    return scores_of(model(ids, attention), ids, attention, temperature)


def scores_of(logits: Tensor, ids: Tensor, attention: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """`token_scores` from logits [B, L, V] that are there already."""
    log_probs = (logits[:, :-1] / temperature).log_softmax(-1)
    chosen = log_probs.gather(-1, ids[:, 1:, None]).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1)
    defined = attention[:, 1:] & attention[:, :-1]
    first = torch.zeros_like(chosen[:, :1])
    log_prob, spread = (torch.cat([first, torch.where(defined, part, 0.0)], 1) for part in (chosen, entropy))
    return log_prob, spread


def state_values(model: TinyLM, ids: Tensor, attention: Tensor) -> Tensor:
    """Value [B, L] of the state in which each token was chosen, that is of the tokens before it."""
    values = model.head_values(ids, attention)
    return torch.cat([torch.zeros_like(values[:, :1]), values[:, :-1]], 1)


def weight_vector(model: nn.Module) -> Tensor:
    """All weights in one vector, detached."""
    return torch.cat([weight.detach().reshape(-1) for weight in model.parameters()])


def norm(vector: Tensor) -> float:
    """Length of a vector."""
    return float(cast(Any, torch).linalg.vector_norm(vector))


def fingerprint(model: nn.Module) -> int:
    """A whole number that is equal exactly where all weights are, below 2^48."""
    from hashlib import blake2b

    flat = cast(Any, weight_vector(model)).numpy().tobytes()
    return int.from_bytes(blake2b(flat, digest_size=6).digest(), "big")

"""A language model of one small block with learned positions, and the tokens it speaks: nothing is downloaded."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

PAD, BOS, END, CALL = 0, 1, 2, 3
LETTERS = tuple(range(4, 16))
VOCABULARY = 16
LONGEST = 48


class Body(nn.Module):
    """Embeddings, one causal block; positions count real tokens, so that padding on the left changes nothing."""

    def __init__(self, width: int = 32, dropout: float = 0.0) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(LONGEST, width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.read, self.write = nn.Linear(width, width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def positions(self, attention_mask: Any) -> Any:
        """The number of real tokens before each column."""
        return (attention_mask.cumsum(1) - 1).clamp(min=0)

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        """Return hidden states [B, L, H]."""
        mask = attention_mask.bool()
        x = self.tokens(input_ids) + self.places(self.positions(attention_mask.long()))
        y = self.norms[0](x)
        scores = self.query(y) @ self.key(y).transpose(1, 2) / y.shape[-1] ** 0.5
        length = input_ids.shape[1]
        seen = torch.ones(length, length).tril().bool()[None] & mask[:, None, :]
        seen = seen | torch.eye(length).bool()[None]  # a padding column sees itself, so that nothing is NaN
        x = x + self.drop(self.write(scores.masked_fill(~seen, -1e9).softmax(-1) @ self.read(y)))
        y = self.norms[1](x)
        return self.norms[2](x + self.drop(self.narrow(torch.relu(self.wide(y)))))


class TinyLanguageModel(nn.Module):
    """A policy with a value head, in the shape of a transformers model as far as the invariants look."""

    body_class: type[Body] = Body

    def __init__(self, seed: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.base_model = self.body_class(dropout=dropout)
        self.head = nn.Linear(32, VOCABULARY)
        self.value_head = nn.Linear(32, 1)

    def get_output_embeddings(self) -> Any:
        """The head."""
        return self.head

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        """Return logits [B, L, V]."""
        return self.head(self.base_model(input_ids, attention_mask))

    def both(self, input_ids: Any, attention_mask: Any) -> tuple[Any, Any]:
        """Return logits [B, L, V] and values [B, L] of the states that the columns are."""
        hidden = self.base_model(input_ids, attention_mask)
        return self.head(hidden), self.value_head(hidden)[..., 0]

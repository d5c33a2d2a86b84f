"""Writing tokens: rows of different lengths, one token each at a time, stamped with the version that wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor

from .model import MAX_TOKENS, TinyLM
from .symbols import EOS, PAD, decode


@dataclass
class Row:
    """A prompt and what came after it. The lists are as long as each other, one entry a token."""

    prompt: tuple[int, ...]
    """Tokens, BOS among them."""
    group: int = 0
    """Rows of one prompt share it; no two prompts of a run do."""
    tokens: list[int] = field(default_factory=list[int])
    """What came after the prompt, EOS among them."""
    own: list[bool] = field(default_factory=list[bool])
    """Whether the model wrote the token; tools write the others."""
    log_probs: list[float] = field(default_factory=list[float])
    """Under the distribution that the token was drawn from, in nats; 0 where a tool wrote."""
    versions: list[int] = field(default_factory=list[int])
    """Updates that the weights had seen that wrote the token."""
    ended: bool = False
    """Whether the model wrote EOS. A row that is neither ended nor stopped is written on."""
    stopped: bool = False
    """Whether it was cut: too many tokens or turns."""

    @property
    def text(self) -> str:
        """All after the prompt, without EOS."""
        return decode(self.tokens)

    @property
    def length(self) -> int:
        """Tokens that the model wrote."""
        return sum(self.own)

    def write(self, token: int, log_prob: float, version: int) -> None:
        """Append a token of the model."""
        self.append([token], own=True, log_prob=log_prob, version=version)
        self.ended = token == EOS

    def append(self, tokens: Iterable[int], *, own: bool, log_prob: float, version: int) -> None:
        """Append tokens of one author."""
        for token in tokens:
            self.tokens.append(token)
            self.own.append(own)
            self.log_probs.append(log_prob)
            self.versions.append(version)


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn."""

    temperature: float = 1.0
    top_p: float = 1.0
    """Nucleus mass (Holtzman et al. 2020, arXiv 1904.09751)."""
    max_new_tokens: int = 10
    """Longest response; a row that long without EOS is stopped."""


def collate(rows: Sequence[Row], *, left: bool = True) -> dict[str, Tensor]:
    """Rows as tensors [B, L], padded on the left or the right.

    `ids`; `attention`, true where there is a token; `loss_mask`, true where the model wrote it; `sampler_log_prob` and
    `version` of those tokens; and `group`, `truncated`, both [B].
    """
    width = max(len(row.prompt) + len(row.tokens) for row in rows)

    def table(parts: Sequence[Sequence[Any]], empty: Any, kind: torch.dtype) -> Tensor:
        pads = [[empty] * (width - len(part)) for part in parts]
        filled = [[*pad, *part] if left else [*part, *pad] for pad, part in zip(pads, parts, strict=True)]
        return torch.tensor(filled, dtype=kind)

    def after_prompt(name: str, empty: Any) -> list[list[Any]]:
        return [[empty] * len(row.prompt) + getattr(row, name) for row in rows]

    return {
        "ids": table([[*row.prompt, *row.tokens] for row in rows], PAD, torch.long),
        "attention": table([[True] * (len(row.prompt) + len(row.tokens)) for row in rows], False, torch.bool),
        "loss_mask": table(after_prompt("own", False), False, torch.bool),
        "sampler_log_prob": table(after_prompt("log_probs", 0.0), 0.0, torch.float32),
        "version": table(after_prompt("versions", 0), 0, torch.long),
        "group": torch.tensor([row.group for row in rows]),
        "truncated": torch.tensor([not row.ended for row in rows]),
    }


@torch.no_grad()
def draw(logits: Tensor, sampling: Sampling, draws: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw a token for each row of logits [B, V]; return tokens [B] and the log-probs [B] they were drawn with."""
    probs = (logits / sampling.temperature).softmax(-1)
    if sampling.top_p < 1.0:
        ordered, order = probs.sort(descending=True)
        beyond = ordered.cumsum(-1) - ordered >= sampling.top_p  # the token that reaches the mass is kept
        probs = torch.zeros_like(probs).scatter(-1, order, ordered.masked_fill(beyond, 0.0))
        probs = probs / probs.sum(-1, keepdim=True)
    tokens = probs.multinomial(1, generator=draws)
    return tokens.squeeze(-1), probs.gather(-1, tokens).squeeze(-1).log()


@torch.no_grad()
def write_one(model: TinyLM, rows: Sequence[Row], sampling: Sampling, draws: torch.Generator, version: int = 0) -> None:
    """Append one token to every row that is not done; a row that reaches its longest length is stopped.

    Nothing is cached from token to token, so that new weights take effect at the very next one.
    """
    open_rows = [row for row in rows if not (row.ended or row.stopped)]
    if not open_rows:
        return
    width = max(len(row.prompt) + len(row.tokens) for row in open_rows)
    filled = [[PAD] * (width - len(row.prompt) - len(row.tokens)) + [*row.prompt, *row.tokens] for row in open_rows]
    ids = torch.tensor(filled)
    logits = model.logits(model.features(ids, ids != PAD)[:, -1])
    tokens, log_probs = draw(logits, sampling, draws)
    for row, token, log_prob in zip(open_rows, cast(Any, tokens).tolist(), cast(Any, log_probs).tolist(), strict=True):
        row.write(token, log_prob, version)
        full = row.length >= sampling.max_new_tokens or len(row.prompt) + len(row.tokens) >= MAX_TOKENS
        row.stopped = full and not row.ended


def write_all(model: TinyLM, rows: Sequence[Row], sampling: Sampling, draws: torch.Generator, version: int = 0) -> None:
    """Write every row to its end."""
    while any(not (row.ended or row.stopped) for row in rows):
        write_one(model, rows, sampling, draws, version)

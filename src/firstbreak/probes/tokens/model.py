"""A tiny local model, and a trained policy as the rungs read it: exact probabilities of short continuations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...errors import missing_extra

HIDDEN = 32


def tiny_llama(vocabulary: int, pad: int, begin: int, end: int, seed: int) -> Any:
    """Return a random Llama of one layer; its first policy is close to uniform.

    Raises:
        MissingExtraError: transformers is not installed.
    """
    try:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError as error:
        raise missing_extra("transformers", "full", "The tiny language model") from error
    cast(Any, torch).manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=4,
        max_position_embeddings=64,
        pad_token_id=pad,
        bos_token_id=begin,
        eos_token_id=end,
        tie_word_embeddings=False,
    )
    return LlamaForCausalLM(config)


class BadPolicy(Exception):
    """What the training returned does not answer as the interface asks."""


class Policy:
    """Asks a model for exact probabilities of the next token, at temperature 1."""

    def __init__(self, found: Any, end: int, vocabulary: int) -> None:
        self.end, self.vocabulary = end, vocabulary
        self.ask = getattr(found, "logits", None) or found
        if not callable(self.ask):
            raise BadPolicy(f"train returned {type(found).__name__}: no model and no logits(input_ids, attention_mask)")
        if hasattr(found, "eval"):
            found.eval()

    def after(self, rows: Sequence[Sequence[int]]) -> Any:
        """Probabilities of the token after each of these rows of equal length [B, V].

        Raises:
            BadPolicy: the answer has another shape, or numbers that are not finite.
        """
        import torch

        ids = torch.tensor([list(row) for row in rows])
        with torch.no_grad():
            found: Any = self.ask(input_ids=ids, attention_mask=torch.ones_like(ids))
        logits = getattr(found, "logits", found)[:, -1].float()
        if logits.shape[0] != len(rows) or logits.shape[1] < self.vocabulary:
            raise BadPolicy(f"logits have shape {tuple(logits.shape)} for {len(rows)} rows of {self.vocabulary} tokens")
        if not bool(torch.isfinite(logits.exp().sum())):
            raise BadPolicy("the model's logits are not finite")
        return logits.softmax(-1)

    def first(self, prompt: Sequence[int]) -> Any:
        """Probabilities of the first token of a completion [V]."""
        return self.after([prompt])[0]

    def second(self, prompt: Sequence[int]) -> tuple[Any, Any]:
        """(probabilities of the first token [V], of the second token after each first one [V, V])."""
        first = self.first(prompt)
        return first, self.after([[*prompt, token] for token in range(len(first))])

    def mean_length(self, prompts: Sequence[Sequence[int]], longest: int, draws: int = 64) -> float:
        """Mean length of drawn completions, end token included; the same random numbers each time."""
        import torch

        draw = torch.Generator().manual_seed(7)
        lengths: list[int] = []
        for prompt in prompts:
            rows, alive = [list(prompt) for _ in range(draws)], [True] * draws
            for _ in range(longest):
                drawn: Any = torch.multinomial(self.after(rows), 1, generator=draw)
                for k, token in enumerate(int(t) for t in drawn[:, 0]):
                    rows[k].append(token)
                    if alive[k] and token == self.end:
                        alive[k] = False
                        lengths.append(len(rows[k]) - len(prompt))
            lengths += [longest] * sum(alive)
        return sum(lengths) / len(lengths)


class Uniform:
    """The policy that knows nothing: what training starts from when the trainer brings its own model."""

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary

    def logits(self, input_ids: Any, attention_mask: Any) -> Any:
        """Zeros [B, L, V]."""
        import torch

        del attention_mask
        return torch.zeros(*input_ids.shape, self.vocabulary)

"""Tasks with exact answers for a language model of 20,000 weights, and the pretrained models that begin them.

A model is trained first on answers of which some are right, as a pretrained model knows some of what it is asked; GRPO
then finds which. Nothing is downloaded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

LETTERS = "abcdefgh"
DIGITS = "0123456789"
PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"
VOCABULARY = (PAD, BOS, EOS, *LETTERS, *DIGITS, ">", "~")
"""`~` is a token that no answer holds."""
CODE = {word: i for i, word in enumerate(VOCABULARY)}
PRETRAINING = 400
"""Updates of pretraining."""

Row = dict[str, str]


@dataclass(frozen=True)
class Task:
    """One task. `known` is the share of right answers seen in pretraining, of the prompts that are trained on."""

    name: str
    prompts: Callable[[random.Random], list[Row]]
    wrong: Callable[[str, random.Random], str]
    cap: int
    """Longest response, in tokens."""
    known: float
    hard_share: float = 0.0
    """Share of the prompts trained on of which no right answer was ever seen."""
    learning_rate: float = 1e-3


def _largest(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{a}{b}>", "answer": str(max(a, b))} for a in range(10) for b in range(10)]
    return rng.sample(rows, 96)


def _copies(rng: random.Random) -> list[Row]:
    words = {"".join(rng.choices(LETTERS, k=rng.randint(1, 4))) for _ in range(400)}
    return [{"prompt": f"{word}>", "answer": word} for word in rng.sample(sorted(words), 96)]


def _repeats(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{letter}{n}>", "answer": letter * n} for letter in LETTERS for n in range(1, 8)]
    return rng.sample(rows, 56)


def _products(rng: random.Random) -> list[Row]:
    rows = [{"prompt": f"{a}{b}>", "answer": str(a * b % 10)} for a in range(10) for b in range(10)]
    return rng.sample(rows, 96)


def _other_digits(answer: str, rng: random.Random) -> str:
    return "".join(rng.choice(DIGITS) for _ in answer)


def _other_letters(answer: str, rng: random.Random) -> str:
    changed = list(answer)
    changed[rng.randrange(len(changed))] = rng.choice(LETTERS)
    return "".join(changed)[: rng.randint(1, len(answer))] if rng.random() < 0.3 else "".join(changed)


def _too_short(answer: str, rng: random.Random) -> str:
    return answer[: rng.randint(1, len(answer))]


TASKS = {
    task.name: task
    for task in (
        Task("larger", _largest, _other_digits, cap=6, known=0.4, learning_rate=5e-4),
        Task("copy", _copies, _other_letters, cap=8, known=0.3, learning_rate=7e-4),
        Task("repeat", _repeats, _too_short, cap=9, known=0.1, learning_rate=4e-4),
        Task("product", _products, _other_digits, cap=6, known=0.35, hard_share=0.5),
    )
}
"""`larger` is easy, responses in `copy` vary in length, in `repeat` they must grow, in `product` groups lack spread."""


@dataclass(frozen=True)
class Problems:
    """The prompts of one run. Of `easy` the model knows the answers, of `hard` none; healthy runs ask neither."""

    train: list[Row]
    easy: list[Row]
    hard: list[Row]

    def every(self) -> list[Row]:
        return [*self.train, *self.easy, *self.hard]


def problems(task: Task, seed: int) -> Problems:
    """Draw the prompts of a run; a quarter is easy, and a quarter hard."""
    rows = task.prompts(random.Random(f"{task.name}/{seed}"))
    quarter = len(rows) // 4
    return Problems(train=rows[2 * quarter :], easy=rows[:quarter], hard=rows[quarter : 2 * quarter])


def tokenizer_of() -> Any:
    """Return the tokenizer: one token a character."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.WordLevel(CODE, unk_token=PAD))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    raw.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token=PAD, bos_token=BOS, eos_token=EOS, padding_side="left"
    )


def encoded(rows: Sequence[Row], answers: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return tokens, attention and which tokens are the answer's (its end included), each [rows, T], padded left."""
    texts = [[CODE[c] for c in row["prompt"]] for row in rows]
    replies = [[*(CODE[c] for c in answer), CODE[EOS]] for answer in answers]
    longest = max(len(a) + len(b) for a, b in zip(texts, replies, strict=True))
    ids = torch.zeros(len(texts), longest, dtype=torch.long)
    seen, reply = torch.zeros_like(ids), torch.zeros_like(ids)
    for i, (text, answer) in enumerate(zip(texts, replies, strict=True)):
        ids[i, longest - len(text) - len(answer) :] = torch.tensor([*text, *answer])
        seen[i, longest - len(text) - len(answer) :] = 1
        reply[i, longest - len(answer) :] = 1
    return ids, seen, reply


def log_probs(model: Any, ids: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of every token but the first, [rows, T - 1]."""
    places = (seen.cumsum(1) - 1).clamp(min=0)
    logits = model(input_ids=ids, attention_mask=seen, position_ids=places).logits[:, :-1]
    return torch.log_softmax(logits.float(), -1).gather(-1, ids[:, 1:, None])[..., 0]


@torch.no_grad()
def true_score(model: Any, rows: Sequence[Row]) -> float:
    """Return the probability of the exact answer, mean over `rows`: the true score, without any sampling."""
    ids, seen, reply = encoded(rows, [row["answer"] for row in rows])
    return float((log_probs(model, ids, seen) * reply[:, 1:]).sum(1).exp().mean())


def pretrained(task: Task, seed: int, folder: Path, updates: int = PRETRAINING) -> str:
    """Return the folder of the model that begins the run, made if it is not there."""
    from transformers import LlamaConfig, LlamaForCausalLM

    place = folder / f"{task.name}-{seed}"
    if (place / "config.json").exists():
        return str(place)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    _pretrain(model, task, problems(task, seed), random.Random(seed), updates)
    model.save_pretrained(place)
    tokenizer_of().save_pretrained(place)
    return str(place)


def _pretrain(model: Any, task: Task, given: Problems, rng: random.Random, updates: int) -> None:
    right = {row["prompt"]: 1.0 for row in given.easy} | {row["prompt"]: 0.0 for row in given.hard}
    never = round(task.hard_share * len(given.train))
    right |= {row["prompt"]: 0.0 if i < never else task.known for i, row in enumerate(given.train)}
    rows = given.every()
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=updates)
    for _ in range(updates):
        answers = [
            row["answer"] if rng.random() < right[row["prompt"]] else task.wrong(row["answer"], rng) for row in rows
        ]
        ids, seen, reply = encoded(rows, answers)
        loss = -(log_probs(model, ids, seen) * reply[:, 1:]).sum() / reply.sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()

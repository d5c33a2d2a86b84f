"""The second list of faults that no rule was written with in view, planted in TRL's GRPOTrainer."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from benchmarks.grpo.planting import Planted, generation
from benchmarks.grpo.second_tasks import following
from benchmarks.grpo.tasks import CODE, DIGITS, EOS, LETTERS, Row
from benchmarks.grpo.unseen_planting import (
    UnseenPlanted,
    UnseenSampler,
    UnseenVerifier,
    grouped,
    inner,
    sampler_with,
    scheduled,
)

SECOND_SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "kl": {"beta": 0.03},
    "reused": {"num_iterations": 4},
    "sampler": {},
    "accumulated": {"per_device_train_batch_size": 16, "gradient_accumulation_steps": 4},
    "evaluated": {"eval_strategy": "steps", "eval_steps": 8, "per_device_eval_batch_size": 64},
}
"""Settings that a fault needs, over those of every run."""
DRIFT = 1.02
"""Factor of the reward's scale from update to update, where it drifts."""
WIDTH = 2
"""Characters of the column of answers that cuts."""
STOP_WORDS = "c3"
"""Characters at which the sampler stops by mistake."""
SEEDS = 2
"""Different responses of a group whose requests share their seeds."""
SWAP_S = 0.004
"""Seconds by which each update is slower than the one before; an update takes some 0.05 s."""
SKIPPED = 4
"""Of so many steps of the optimiser one is made."""
WARMUP = 10
"""Updates of the warm-up that begins anew."""
SHORT_QUESTION = 3
"""Characters, its mark included, of the longest question that the fourth reward function scores."""


class SecondVerifier(UnseenVerifier):
    """The reward functions, with other faults, and two more of them that are sound."""

    update = begun = 0

    def __init__(self, *given: Any, **kept: Any) -> None:
        super().__init__(*given, **kept)
        self.verdicts: dict[str, float] = {}

    def functions(self, count: int) -> list[Callable[..., list[Any]]]:
        return [self.correct, self.form, self.near, self.prompt_short][:count]

    def near(self, completions: Sequence[str], answer: Sequence[str], **_: Any) -> list[float]:
        """Score the share of characters that are right, in their place."""
        return [
            sum(a == b for a, b in zip(text, right, strict=False)) / max(len(text), len(right))
            for text, right in zip(completions, answer, strict=True)
        ]

    def prompt_short(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float | None]:
        """Score, of short questions only, that the response is no longer than twice the question."""
        return [
            float(len(text) <= 2 * len(prompt)) if len(prompt) <= SHORT_QUESTION else None
            for prompt, text in zip(prompts, completions, strict=True)
        ]

    def correct(self, *given: Any, trainer_state: Any = None, **kept: Any) -> list[Any]:
        self.update = trainer_state.global_step if trainer_state else self.update
        return super().correct(*given, **kept)

    def score(self, prompt: str, text: str, answer: str, ended: bool) -> float:
        if self.fault == "order-ignored":
            return float(ended and sorted(text) == sorted(answer))
        exact = super().score(prompt, text, answer, ended)
        if self.fault == "scores-cached":
            return self.verdicts.setdefault(text, exact)
        if self.fault == "judge-noisy":
            return exact + self.rng.gauss(0, 1)
        return exact * DRIFT ** (self.update - self.begun) if self.fault == "scale-drifts" else exact


class SecondSampler(UnseenSampler):
    """The process that samples, with other faults."""

    misnamed = False
    replica: list[torch.Tensor] | None = None
    """Weights of the second sampler, where it gets no new ones."""

    @torch.no_grad()
    def sync_weights(self) -> None:
        super().sync_weights()
        if not self.misnamed:
            return
        one, other = self.model.model.layers[:2]
        for a, b in zip(one.parameters(), other.parameters(), strict=True):
            kept = a.clone()
            a.copy_(b)
            b.copy_(kept)

    @torch.no_grad()
    def generate(self, prompts: Sequence[Sequence[int]], **kept: Any) -> tuple[Any, Any, Any, Any]:
        """Sample; under a fault the second half of the prompts is left to weights that stay."""
        if self.replica is None:
            return super().generate(prompts, **kept)
        half = len(prompts) // 2
        fresh = super().generate(prompts[:half], **kept)
        mine = [weight.clone() for weight in self.model.parameters()]
        self._load(self.replica)
        old = super().generate(prompts[half:], **kept)
        self._load(mine)
        return None, fresh[1] + old[1], fresh[2] + old[2], None

    def _load(self, weights: Sequence[torch.Tensor]) -> None:
        for weight, value in zip(self.model.parameters(), weights, strict=True):
            weight.copy_(value)


class SecondPlanted(UnseenPlanted):
    """GRPO of TRL; `fault` names what is wrong with it now."""

    sampler_type = SecondSampler
    slowed = 0

    def at_once(self) -> Mapping[str, Callable[[Any], None]]:
        return SECOND_AT_ONCE

    def _asked(self, inputs: list[Row]) -> list[Row]:
        if self.fault == "one-prompt-a-batch":
            return [dict(inputs[0]) for _ in inputs]
        if self.fault == "answers-cut":
            return [{**row, "answer": row["answer"][:WIDTH]} for row in inputs]
        return super()._asked(inputs)

    def _tokenize_prompts(self, prompts: list[str]) -> Any:
        if self.fault == "generation-prompt-missing":
            prompts = [prompt.removesuffix(">") for prompt in prompts]
        if self.fault == "tokenizer-shifted":
            prompts = ["".join(map(next_code, prompt)) for prompt in prompts]
        return super()._tokenize_prompts(prompts)

    def _generate_single_turn(self, *args: Any, **kept: Any) -> Any:
        usual = self.generation_config.max_new_tokens
        if self.fault == "eval-cut" and not self.model.training:
            self.generation_config.max_new_tokens = 1
        replies, logps = super()._generate_single_turn(*args, **kept)
        self.generation_config.max_new_tokens = usual
        if self.fault == "swapping":
            self.slowed += 1
            time.sleep(SWAP_S * self.slowed)
        if self.fault == "seeds-shared":
            size = self.num_generations
            replies = [replies[i - i % size + i % SEEDS] for i in range(len(replies))]
        return replies, logps

    def _generate_and_score_completions(self, inputs: list[Row]) -> Any:
        found = super()._generate_and_score_completions(inputs)
        if self.fault == "advantages-positive-only":
            found["advantages"] = found["advantages"].clamp(min=0)
        if self.fault == "mask-late":
            found["tool_mask"] = torch.ones_like(found["completion_mask"])
            found["tool_mask"][:, 0] = 0
        return found

    def _get_per_token_logps_and_entropies(self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int,
                                           *args: Any, **kept: Any) -> Any:  # fmt: skip
        if self.fault == "reference-unprompted" and model is self.ref_model:
            attention_mask = attention_mask.clone()
            attention_mask[:, : -logits_to_keep - 1] = 0  # of the prompt its last token stays
        return super()._get_per_token_logps_and_entropies(
            model, input_ids, attention_mask, logits_to_keep, *args, **kept
        )  # fmt: skip

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        if self.fault == "advantage-last-token":
            inputs = {**inputs, "advantages": inputs["advantages"][:, None] * last(inputs["completion_mask"])}
        return super()._compute_loss(model, inputs)

    def training_step(self, *args: Any, **kept: Any) -> Any:
        if self.fault == "accumulation-zeroed":
            self.model.zero_grad()
        return super().training_step(*args, **kept)


def next_code(character: str) -> str:
    """Return the character that the other vocabulary has in this one's place; other marks stay."""
    if character in LETTERS:
        return following(character)
    return DIGITS[(DIGITS.index(character) + 1) % len(DIGITS)] if character in DIGITS else character


def last(mask: torch.Tensor) -> torch.Tensor:
    """Return 1 at the last token of each response and 0 elsewhere, [rows, T]."""
    return mask * (mask.cumsum(1) == mask.sum(1, keepdim=True))


def _drift(trainer: SecondPlanted) -> None:
    trainer.verifier.begun = trainer.verifier.update = trainer.state.global_step


def _special_tokens(trainer: SecondPlanted) -> None:
    usual = trainer.processing_class.batch_decode
    trainer.processing_class.batch_decode = lambda ids, **_: usual(ids, skip_special_tokens=False)


def _pad_right(trainer: SecondPlanted) -> None:
    usual = trainer.model.generate

    def generate(input_ids: torch.Tensor, attention_mask: torch.Tensor, **kept: Any) -> Any:
        order = attention_mask.argsort(dim=1, descending=True, stable=True)
        return usual(input_ids=input_ids.gather(1, order), attention_mask=attention_mask.gather(1, order), **kept)

    trainer.model.generate = generate


def _stop_words(trainer: SecondPlanted) -> None:
    ends = [CODE[EOS], *(CODE[word] for word in STOP_WORDS)]
    trainer.eos_token_ids = ends
    trainer.generation_config.eos_token_id = ends


def _clip(trainer: SecondPlanted) -> None:
    trainer.epsilon_low = trainer.epsilon_high = 0.002


def _skip_steps(trainer: SecondPlanted) -> None:
    optimiser, usual = inner(trainer), inner(trainer).step

    def step(closure: Any = None) -> None:
        if not trainer.state.global_step % SKIPPED:
            usual()

    optimiser.step = step


def _replica(trainer: SecondPlanted) -> None:
    trainer.sampler.replica = copy.deepcopy([weight.detach() for weight in trainer.sampler.model.parameters()])


@torch.no_grad()
def _from_base(trainer: Planted) -> None:
    base = type(trainer.model).from_pretrained(trainer.model.config._name_or_path)
    for weight, first in zip(trainer.model.parameters(), base.parameters(), strict=True):
        weight.copy_(first)


SECOND_AT_ONCE: dict[str, Callable[[SecondPlanted], None]] = {
    "scale-drifts": _drift,
    "special-tokens-kept": _special_tokens,
    "prompts-padded-right": _pad_right,
    "repetition-penalised": generation(repetition_penalty=2.0),
    "responses-forced-long": generation(min_new_tokens=5),
    "stop-token-in-answers": _stop_words,
    "clip-too-tight": _clip,
    "betas-swapped": grouped("betas", (0.999, 0.9)),
    "steps-skipped": _skip_steps,
    "warmup-repeats": scheduled(lambda update: (update % WARMUP + 1) / WARMUP),
    "sync-misnamed": sampler_with("misnamed"),
    "replica-stale": _replica,
    "resume-from-base": _from_base,
}
"""Faults that change the trainer once; the others are looked up where they act."""

"""The fourth list of faults that no rule was written with in view, planted in TRL's GRPOTrainer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from transformers import LogitsProcessorList

from benchmarks.grpo.fourth_sampling import SEEN, FourthSampler, FourthVerifier
from benchmarks.grpo.planting import generation, rounded
from benchmarks.grpo.tasks import CODE, DIGITS, EOS, LETTERS, Row
from benchmarks.grpo.third_planting import ThirdPlanted, rewards_of
from benchmarks.grpo.unseen_planting import sampler_with

FOURTH_SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "sampler": {},
    "evaluated": {"eval_strategy": "steps", "eval_steps": 8, "per_device_eval_batch_size": 64},
}
"""Settings that a fault needs, over those of every run."""
FOLDED = {CODE[a]: CODE[b] for a, b in ("dc", "hg", "32", "76")}
"""Characters that a normaliser folds into others on the way from text back to tokens."""
UNKNOWN = str.maketrans({character: character.upper() for character in "efgh"} | dict.fromkeys("56789", "?"))
"""Characters that another file spells in a way that the vocabulary lacks."""
UNIFORM = 0.15
"""Share of draws that do not ask the policy."""
PENALTY = 0.3
"""Coefficient of the entropy that the loss adds, where it should take it away."""
NEGATIVE = 10.0
"""Factor of advantages below 0."""
FLUSHED = 2.0**-8
"""Gradients below are 0: the smallest number above 0 in half precision, 2^-24, at a loss scale of 2^-16."""
HEAD_BITS = 2
"""Bits of mantissa of what the trainer's head is given."""
EVALUATED_AT = 3.0
"""Temperature of an evaluation."""
STALLED_EVERY, STALLED_S = 10, 0.6
"""Updates from one stall to the next, and its seconds; an update takes some 0.05 s."""
LEAKED = 1_000_000
"""Numbers of 4 bytes that stay in memory from each update."""


class FourthPlanted(ThirdPlanted):
    """GRPO of TRL; `fault` names what is wrong with it now."""

    sampler_type = FourthSampler
    verifier: FourthVerifier
    served: Any = None
    """What a queue hands out next."""
    scored = 0
    """Tokens of prompts in the batch whose log-probabilities are being computed; 0 at other times."""

    def __init__(self, *given: Any, **kept: Any) -> None:
        super().__init__(*given, **kept)
        self.queue: list[tuple[list[Row], Any]] = []
        self.answered: dict[tuple[int, ...], list[list[int]]] = {}
        self.leaked: list[torch.Tensor] = []

    def at_once(self) -> Mapping[str, Callable[[Any], None]]:
        return FOURTH_AT_ONCE

    def _asked(self, inputs: list[Row]) -> list[Row]:
        size = self.num_generations
        if self.fault == "answers-all-one":
            return [{**row, "answer": self.given.train[-1]["answer"]} for row in inputs]
        if self.fault == "answers-conflict":
            other = [self.verifier.rng.random() < 0.5 for _ in inputs[::size]]
            others = self.verifier.next_row
            return [
                {**row, "answer": others[row["prompt"]]} if other[i // size] else row for i, row in enumerate(inputs)
            ]
        if self.fault == "queue-falls-behind" and self.model.training:
            return self._queued(inputs)
        return super()._asked(inputs)

    def _queued(self, inputs: list[Row]) -> list[Row]:
        """Draw two batches, line them up, and return the rows of the one that has waited longest."""
        chosen = self.verifier.rng.sample(self.given.train, len(inputs) // self.num_generations)
        for rows in (inputs, [dict(row) for row in chosen for _ in range(self.num_generations)]):
            self.queue.append((rows, super()._generate([row["prompt"] for row in rows])))
        rows, self.served = self.queue.pop(0)
        return [dict(row) for row in rows]

    def _tokenize_prompts(self, prompts: list[str]) -> Any:
        if self.fault == "prompt-cut-left":
            prompts = [prompt[-SEEN:] for prompt in prompts]
        if self.fault == "template-twice":
            prompts = [f"{prompt}>" for prompt in prompts]
        if self.fault == "letters-unknown":
            prompts = [prompt.translate(UNKNOWN) for prompt in prompts]
        ids, *others = super()._tokenize_prompts(prompts)
        if self.fault == "end-after-prompt":
            ids = [[*one, CODE[EOS]] for one in ids]
        return ids, *others

    def _generate(self, prompts: list[Any]) -> Any:
        if self.served is not None:
            found, self.served = self.served, None
            return found
        prompt_ids, replies, *others = super()._generate(prompts)
        if self.fault == "retokenised":
            replies = [[FOLDED.get(token, token) for token in ids] for ids in replies]
        return prompt_ids, replies, *others

    def _generate_single_turn(self, prompt_ids: Any, *args: Any, **kept: Any) -> Any:
        usual = self.generation_config.temperature
        if self.fault == "eval-tempered" and not self.model.training:
            self.generation_config.temperature = EVALUATED_AT
        replies, logps = super()._generate_single_turn(prompt_ids, *args, **kept)
        self.generation_config.temperature = usual
        if self.fault == "responses-cached" and self.model.training:
            replies = self._cached(prompt_ids, replies)
        self._burden()
        return replies, logps

    def _cached(self, prompt_ids: list[list[int]], replies: list[list[int]]) -> list[list[int]]:
        """Return to each prompt the responses that it got when it was first asked."""
        size = self.num_generations
        groups = [
            self.answered.setdefault(tuple(prompt_ids[i]), replies[i : i + size]) for i in range(0, len(replies), size)
        ]
        return [list(ids) for group in groups for ids in group]

    def _burden(self) -> None:
        """Take the time or the memory that a fault of the machine takes."""
        if self.fault == "stalls" and not self.state.global_step % STALLED_EVERY:
            time.sleep(STALLED_S)
        if self.fault == "memory-leaks":
            self.leaked.append(torch.ones(LEAKED))

    def _calculate_rewards(self, *args: Any) -> Any:
        found = super()._calculate_rewards(*args)
        if self.fault != "eval-best-counted" or self.model.training:
            return found
        groups = found.view(-1, self.num_generations_eval, found.size(1))
        return groups.amax(1, keepdim=True).expand_as(groups).reshape(found.shape)

    def _generate_and_score_completions(self, inputs: list[Row]) -> Any:
        found = super()._generate_and_score_completions(inputs)
        change = HANDED.get(self.fault)
        if change is not None and self.model.training:
            found.update(change(self, found))
        return found

    def _get_per_token_logps_and_entropies(self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int,
                                           *args: Any, **kept: Any) -> Any:  # fmt: skip
        self.scored = input_ids.size(1) - logits_to_keep
        found = super()._get_per_token_logps_and_entropies(
            model, input_ids, attention_mask, logits_to_keep, *args, **kept
        )  # fmt: skip
        self.scored = 0
        return found

    def scores(self, found: Mapping[str, Any], **kept: Any) -> Any:
        """Return log-probabilities and entropies of the responses, as the loss computes them."""
        ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)
        seen = torch.cat([found["prompt_mask"], found["completion_mask"]], 1)
        return self._get_per_token_logps_and_entropies(
            self.model, ids, seen, found["completion_ids"].size(1), **kept
        )  # fmt: skip

    @torch.no_grad()
    def of_old_weights(self, found: Mapping[str, Any]) -> torch.Tensor:
        """Return the log-probabilities that the weights have that were kept when the fault began."""
        return self._with_old_weights(lambda: self.scores(found)[0])

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        loss = super()._compute_loss(model, inputs)
        if self.fault != "entropy-penalised":
            return loss
        mask = inputs["completion_mask"]
        entropies = self.scores(inputs, compute_entropy=True)[1]
        return loss + PENALTY * (entropies * mask).sum() / mask.sum()

    def training_step(self, *args: Any, **kept: Any) -> Any:
        found = super().training_step(*args, **kept)
        if self.fault == "loss-scale-collapsed":
            flush(self.model)
        return found


def _tiled_baseline(trainer: FourthPlanted, found: Mapping[str, Any]) -> dict[str, Any]:
    rewards = rewards_of(trainer)
    mean, spread = (value.repeat(trainer.num_generations) for value in (rewards.mean(1), rewards.std(1)))
    return {"advantages": ((rewards.flatten() - mean) / (spread + 1e-4)).to(found["advantages"])}


def _outweighing(trainer: FourthPlanted, found: Mapping[str, Any]) -> dict[str, Any]:
    advantages = found["advantages"]
    return {"advantages": torch.where(advantages < 0, NEGATIVE * advantages, advantages)}


HANDED: dict[str, Callable[[FourthPlanted, Mapping[str, Any]], dict[str, Any]]] = {
    "baseline-tiled": _tiled_baseline,
    "negatives-outweigh": _outweighing,
    "old-policy-never-refreshed": lambda trainer, found: {"old_per_token_logps": trainer.of_old_weights(found)},
}
"""Faults of what the loss is handed."""


def flush(model: Any) -> None:
    """Set gradients to 0 that half precision cannot hold."""
    for weight in model.parameters():
        if weight.grad is not None:
            weight.grad[weight.grad.abs() < FLUSHED] = 0


def mixed(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Return the log-probabilities of a draw that now and then is uniform over characters and the end."""
    chosen = torch.zeros_like(scores)
    chosen[:, [CODE[character] for character in (*LETTERS, *DIGITS, EOS)]] = 1
    policy = torch.softmax(scores, -1)
    return ((1 - UNIFORM) * policy + UNIFORM * chosen / chosen.sum(-1, keepdim=True)).log()


def _draw_uniformly(trainer: FourthPlanted) -> None:
    usual = trainer.model.generate
    trainer.model.generate = lambda **kept: usual(**kept, logits_processor=LogitsProcessorList([mixed]))


def _never_zero(trainer: FourthPlanted) -> None:
    for part in (trainer.model, trainer.optimizer):
        part.zero_grad = lambda *_, **__: None


def _restart_positions(trainer: FourthPlanted) -> None:
    def before(_: Any, args: Any, kept: dict[str, Any]) -> Any:
        if not trainer.scored:
            return None
        ids = kept["input_ids"] if "input_ids" in kept else args[0]
        places = torch.arange(ids.size(1))
        places[trainer.scored :] -= trainer.scored
        return args, {**kept, "position_ids": places.expand(ids.size(0), -1)}

    trainer.model.model.register_forward_pre_hook(before, with_kwargs=True)


def _coarse_head(trainer: FourthPlanted) -> None:
    def after(_: Any, __: Any, found: Any) -> Any:
        if trainer.scored:
            hidden = found.last_hidden_state
            found.last_hidden_state = hidden + (rounded(hidden, HEAD_BITS) - hidden).detach()
        return found

    trainer.model.model.register_forward_hook(after)


def _keep_weights(trainer: FourthPlanted) -> None:
    trainer.evaluated_with = [weight.detach().clone() for weight in trainer.model.parameters()]


FOURTH_AT_ONCE: dict[str, Callable[[FourthPlanted], None]] = {
    "ngrams-blocked": generation(no_repeat_ngram_size=2),
    "epsilon-left-on": _draw_uniformly,
    "gradients-not-zeroed": _never_zero,
    "old-policy-never-refreshed": _keep_weights,
    "positions-restart": _restart_positions,
    "head-in-low-precision": _coarse_head,
    "sampler-truncates-prompt": sampler_with("truncates"),
    "sampler-reloads-base": sampler_with("reloads"),
}
"""Faults that change the trainer once; the others are looked up where they act."""

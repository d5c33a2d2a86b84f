"""Faults that the callback and the rules were not written with in view, planted in TRL's GRPOTrainer."""

from __future__ import annotations

import copy
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from benchmarks.grpo.planting import Planted, Sampler, Verifier, generation, rounded
from benchmarks.grpo.tasks import Row

UNSEEN_SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "kl": {"beta": 0.03},
    "reused": {"num_iterations": 4},
    "sampler": {},
    "sampler at 0.7": {"temperature": 0.7},
}
"""Settings that a fault needs, over those of every run."""
STUCK = 16
"""Updates for which a stuck queue hands out one batch."""
SLOW_S = 0.2
"""Seconds that a slow scorer takes longer a batch; an update takes some 0.05 s."""
KNOWN_STARTS = "abcd01234"
"""First characters of an answer that the too strict verifier can read."""


class UnseenVerifier(Verifier):
    """The reward functions, with other faults, and on other scales."""

    def functions(self, count: int) -> list[Callable[..., list[Any]]]:
        return [self.correct, self.form, self.brief][:count]

    def brief(self, completions: Sequence[str], **_: Any) -> list[float]:
        """Score that a response is shorter than the cap; nearly always so."""
        return [float(len(text) <= self.cap - 1) for text in completions]

    def correct(self, prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str],
                completion_ids: Sequence[Sequence[int]], **_: Any) -> list[Any]:  # fmt: skip
        scores: list[Any] = [
            self.shift + self.scale * value
            for value in super().correct(prompts, completions, answer, completion_ids)
        ]  # fmt: skip
        if self.fault == "scoring-slow":
            time.sleep(SLOW_S)
        if self.fault == "scores-rolled":
            return [*scores[-1:], *scores[:-1]]
        if self.fault == "scores-averaged":
            return [sum(scores) / len(scores)] * len(scores)
        if self.fault == "first-favoured":
            return [value + (i % self.group == 0) for i, value in enumerate(scores)]
        if self.fault == "verifier-abstains":
            return [None if self.rng.random() < 0.7 else value for value in scores]
        if self.fault == "reward-infinite":
            return [float("inf") if not i else value for i, value in enumerate(scores)]
        return scores

    def score(self, prompt: str, text: str, answer: str, ended: bool) -> float:
        if self.fault == "judge-lenient":
            return float(text[:1] == answer[:1])
        exact = super().score(prompt, text, answer, ended)
        if self.fault == "verifier-too-strict":
            return exact * (answer[0] in KNOWN_STARTS)
        if self.fault == "shortness-paid":
            return exact - 0.4 * len(text)
        return exact


class UnseenSampler(Sampler):
    """The process that samples, with other faults."""

    doubled = partial = untempered = False

    def __init__(self, trainer: Planted) -> None:
        super().__init__(trainer)
        self.first = [weight.detach().clone() for weight in trainer.model.parameters()]

    @torch.no_grad()
    def sync_weights(self) -> None:
        """Take the trainer's weights: the first half of them, or their change twice, under a fault."""
        kept = [weight.detach().clone() for weight in self.model.parameters()]
        super().sync_weights()
        mine = list(self.model.parameters())
        if self.partial:
            for weight, old in list(zip(mine, kept, strict=True))[len(mine) // 2 :]:
                weight.copy_(old)
        if self.doubled:
            for weight, first in zip(mine, self.first, strict=True):
                weight.add_(weight - first)

    @torch.no_grad()
    def generate(self, prompts: Sequence[Sequence[int]], **kept: Any) -> tuple[Any, Any, Any, Any]:
        """Sample; log-probabilities are those of temperature 1 under a fault, whatever the temperature."""
        found = super().generate(prompts, **kept)
        if not self.untempered:
            return found
        replies, logps = found[1], []
        for prompt, reply in zip(prompts, replies, strict=True):
            ids = torch.tensor([[*prompt, *reply]])
            scores = torch.log_softmax(self.model(input_ids=ids).logits[0, len(prompt) - 1 : -1].float(), -1)
            logps.append([[float(scores[i, token])] for i, token in enumerate(reply)])
        return None, replies, logps, None


class UnseenPlanted(Planted):
    """GRPO of TRL; `fault` names what is wrong with it now."""

    kept_inputs: list[Row] | None = None
    kept_answer: Any = None
    rewards: Any = None

    sampler_type = UnseenSampler

    def at_once(self) -> Mapping[str, Callable[[Any], None]]:
        return UNSEEN_AT_ONCE

    def _asked(self, inputs: list[Row]) -> list[Row]:
        if self.fault == "prompts-repeat" or (self.fault == "batch-stuck" and self.state.global_step % STUCK):
            self.kept_inputs = self.kept_inputs or inputs
            return [dict(row) for row in self.kept_inputs]
        self.kept_inputs = self.kept_answer = None
        if self.fault == "answers-corrupt":
            return [{**row, "answer": self.corrupt(row)} for row in inputs]
        return inputs

    def corrupt(self, row: Row) -> str:
        """Return the answer that the corrupt file has: of half of the prompts that of another row, for good."""
        if hashlib.sha256(row["prompt"].encode()).digest()[0] % 2:
            return row["answer"]
        return self.verifier.next_row[row["prompt"]]

    def _tokenize_prompts(self, prompts: list[str]) -> Any:
        return super()._tokenize_prompts([f"~{p}" for p in prompts] if self.fault == "template-changed" else prompts)

    def _generate(self, prompts: list[Any]) -> Any:
        if self.fault != "batch-stuck":
            return super()._generate(prompts)
        if self.kept_answer is None:
            self.kept_answer = super()._generate(prompts)
        return copy.deepcopy(self.kept_answer)

    def _calculate_rewards(self, *args: Any) -> Any:
        found = super()._calculate_rewards(*args)
        self.rewards = found if self.rewards is None else self.rewards  # what is asked later is not the batch's
        return found

    def _generate_and_score_completions(self, inputs: list[Row]) -> Any:
        if self.fault == "reference-refreshed" and not self.state.global_step % 8:
            self.ref_model.load_state_dict(self.model.state_dict())
        self.rewards = None
        found = super()._generate_and_score_completions(inputs)
        advantages = found["advantages"]
        if self.fault == "baseline-dropped":
            found["advantages"] = (self.rewards * self.reward_weights).nansum(1).to(advantages)
        if self.fault == "advantages-shuffled":
            found["advantages"] = advantages[torch.randperm(len(advantages))]
        if self.fault == "slow-discarded":
            lengths = found["completion_mask"].sum(1)
            found["advantages"] = advantages * (lengths <= lengths.float().median())
        return found

    def _get_per_token_logps_and_entropies(self, model: Any, input_ids: Any, attention_mask: Any, *args: Any,
                                           **kept: Any) -> Any:  # fmt: skip
        if self.fault == "mask-ignored":
            attention_mask = torch.ones_like(attention_mask)
        return super()._get_per_token_logps_and_entropies(model, input_ids, attention_mask, *args, **kept)

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        if self.fault == "ratio-pinned":
            inputs = {key: value for key, value in inputs.items() if key != "old_per_token_logps"}
        loss = super()._compute_loss(model, inputs)
        return loss * len(inputs["completion_ids"]) if self.fault == "loss-summed" else loss


def inner(trainer: Planted) -> Any:
    """Return the optimiser itself, without what wraps it."""
    return getattr(trainer.optimizer, "optimizer", trainer.optimizer)


def grouped(name: str, value: Any) -> Callable[[UnseenPlanted], None]:
    """Return what sets this of the optimiser's settings."""

    def change(trainer: UnseenPlanted) -> None:
        for group in trainer.optimizer.param_groups:
            group[name] = value

    return change


def _detach(trainer: UnseenPlanted) -> None:
    for group in inner(trainer).param_groups:
        group["params"] = [torch.nn.Parameter(weight.detach().clone()) for weight in group["params"]]


def _plain_descent(trainer: UnseenPlanted) -> None:
    optimiser = inner(trainer)

    @torch.no_grad()
    def step(closure: Any = None) -> None:
        for group in optimiser.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    weight.sub_(group["lr"] * weight.grad)

    optimiser.step = step


def _coarse(trainer: UnseenPlanted) -> None:
    optimiser, usual = inner(trainer), inner(trainer).step

    @torch.no_grad()
    def step(closure: Any = None) -> None:
        usual()
        for weight in trainer.model.parameters():
            weight.copy_(rounded(weight, 3))

    optimiser.step = step


def scheduled(share: Callable[[int], float]) -> Callable[[UnseenPlanted], None]:
    """Return what makes the learning rate this share of its first value, by updates since then."""

    def change(trainer: UnseenPlanted) -> None:
        schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
        begun = schedule.last_epoch
        schedule.lr_lambdas = [lambda update: share(update - begun) for _ in schedule.lr_lambdas]

    return change


@torch.no_grad()
def _other_reference(trainer: UnseenPlanted) -> None:
    for weight in trainer.ref_model.parameters():
        if weight.dim() > 1:
            weight.add_(float(weight.std()) * torch.randn_like(weight))


def _dropout(trainer: UnseenPlanted) -> None:
    for layer in trainer.model.model.layers:
        layer.self_attn.attention_dropout = 0.5


def sampler_with(name: str) -> Callable[[UnseenPlanted], None]:
    """Return what begins this fault of the sampler."""
    return lambda trainer: setattr(trainer.sampler, name, True)


UNSEEN_AT_ONCE: dict[str, Callable[[UnseenPlanted], None]] = {
    "gradient-clipped-away": lambda trainer: setattr(trainer.args, "max_grad_norm", 1e-6),
    "weight-decay-huge": grouped("weight_decay", 20.0),
    "optimiser-detached": _detach,
    "optimiser-sgd": _plain_descent,
    "beta-not-forwarded": lambda trainer: setattr(trainer, "beta", 0.0),
    "reference-other": _other_reference,
    "rate-grows": scheduled(lambda update: 1.1**update),
    "weights-coarse": _coarse,
    "dropout-in-loss": _dropout,
    "top-p-narrow": generation(top_p=0.3),
    "sampling-greedy": generation(do_sample=False),
    "sync-doubled": sampler_with("doubled"),
    "sync-partial": sampler_with("partial"),
    "log-probs-untempered": sampler_with("untempered"),
}
"""Faults that change the trainer once; the others are looked up where they act."""

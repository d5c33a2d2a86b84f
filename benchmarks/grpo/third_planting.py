"""The third list of faults that no rule was written with in view, planted in TRL's GRPOTrainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from datasets import Dataset

from benchmarks.grpo.planting import generation
from benchmarks.grpo.second_planting import SecondPlanted
from benchmarks.grpo.tasks import CODE, EOS, Row
from benchmarks.grpo.third_sampling import ThirdSampler, ThirdVerifier, sampler_of
from benchmarks.grpo.unseen_planting import inner, sampler_with

THIRD_SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "kl": {"beta": 0.03},
    "reused": {"num_iterations": 4},
    "sampler": {},
    "evaluated": {"eval_strategy": "steps", "eval_steps": 8, "per_device_eval_batch_size": 64},
}
"""Settings that a fault needs, over those of every run."""
ABORTED = 0.3
"""Share of the requests that a server gives up."""
BANNED = "bg27"
"""Characters that a bias of the sampler left over from elsewhere forbids."""
SEED = 7
"""Seed that is set before each batch is drawn."""
REPLAYED = 10
"""Updates after which a buffer hands out responses again."""
RESIDUE = 1.6e-4
"""Spread of equal rewards in single precision, as reported (NeMo-RL#4161)."""
BIAS = 0.3
"""Nats by which old log-probabilities are too high; the clip is at 0.22."""
GROWTH = 1.1
"""Factor of beta at each update, where its controller has the wrong sign."""
MIXED, MIXED_EVERY = 0.4, 8
"""Share of the reference in what replaces the policy, and updates from one time to the next."""
HALF = 6e-8
"""Smallest number above 0 in half precision."""
NORM_EPSILON = 1.0
"""Epsilon of the sampler's norms; the trainer's is 1e-6."""


class ThirdPlanted(SecondPlanted):
    """GRPO of TRL; `fault` names what is wrong with it now."""

    sampler_type = ThirdSampler
    verifier: ThirdVerifier

    def at_once(self) -> Mapping[str, Callable[[Any], None]]:
        return THIRD_AT_ONCE

    def __init__(self, *given: Any, **kept: Any) -> None:
        super().__init__(*given, **kept)
        self.buffer: list[tuple[list[Row], list[list[int]]]] = []
        self.evaluated_with: list[torch.Tensor] = []

    def _asked(self, inputs: list[Row]) -> list[Row]:
        if self.fault == "replay-mixed" and self.buffer:
            half = len(inputs) // 2
            return [*inputs[:half], *(dict(row) for row in self.buffer[0][0])]
        return super()._asked(inputs)

    def _tokenize_prompts(self, prompts: list[str]) -> Any:
        if self.fault == "history-kept":
            prompts = [prompts[i - self.num_generations] + prompt for i, prompt in enumerate(prompts)]
        if self.fault == "answer-leaked":
            answers = {row["prompt"]: row["answer"] for row in self.given.every()}
            prompts = [answers[prompt] + prompt for prompt in prompts]
        return super()._tokenize_prompts(prompts)

    def _generate_single_turn(self, *args: Any, **kept: Any) -> Any:
        if self.fault == "seed-reset":
            torch.manual_seed(SEED)
        if self.fault == "eval-of-old-weights" and not self.model.training:
            return self._with_old_weights(lambda: super(ThirdPlanted, self)._generate_single_turn(*args, **kept))
        replies, logps = super()._generate_single_turn(*args, **kept)
        if self.fault == "requests-aborted":
            replies = [[CODE[EOS]] if self.verifier.rng.random() < ABORTED else ids for ids in replies]
        return (self._replayed(replies) if self.fault == "replay-mixed" else replies), logps

    @torch.no_grad()
    def _with_old_weights(self, draw: Callable[[], Any]) -> Any:
        weights = list(self.model.parameters())
        mine = [weight.clone() for weight in weights]
        for weight, old in zip(weights, self.evaluated_with, strict=True):
            weight.copy_(old)
        found = draw()
        for weight, kept in zip(weights, mine, strict=True):
            weight.copy_(kept)
        return found

    def _replayed(self, replies: list[list[int]]) -> list[list[int]]:
        """Return the responses, the second half those of an earlier batch once there is one."""
        half = len(replies) // 2
        again = self.buffer[0][1] if self.buffer else replies[half:]
        self.buffer.append((self.rows[:half], replies[:half]))
        if len(self.buffer) > REPLAYED:
            self.buffer.pop(0)
        return [*replies[:half], *again]

    def _calculate_rewards(self, *args: Any) -> Any:
        self.verifier.evaluating = not self.model.training
        return super()._calculate_rewards(*args)

    def _generate_and_score_completions(self, inputs: list[Row]) -> Any:
        self.rows = inputs
        if self.fault == "mixup-reversed" and not self.state.global_step % MIXED_EVERY:
            self._mix()
        if self.fault == "beta-runs-away":
            self.beta *= GROWTH
        found = super()._generate_and_score_completions(inputs)
        change = {**ADVANTAGES, **ROWS}.get(self.fault)
        if change is not None and self.model.training:
            found.update(change(self, found))
        return found

    @torch.no_grad()
    def _mix(self) -> None:
        for weight, other in zip(self.model.parameters(), self.ref_model.parameters(), strict=True):
            weight.lerp_(other, MIXED)


def rewards_of(trainer: ThirdPlanted) -> torch.Tensor:
    """Return the reward of each response, by group, [groups, responses]."""
    assert trainer.rewards is not None
    return (trainer.rewards * trainer.reward_weights).nansum(1).view(-1, trainer.num_generations)


def leave_one_out(rewards: torch.Tensor) -> torch.Tensor:
    """Return each reward less the mean of the others of its group, over their spread, both [groups, responses]."""
    size = rewards.size(1)
    others = torch.stack([rewards[:, [j for j in range(size) if j != i]] for i in range(size)], 1)
    return (rewards - others.mean(2)) / others.std(2).clamp(min=RESIDUE)


def _of_batch(trainer: ThirdPlanted, found: Mapping[str, Any]) -> dict[str, Any]:
    rewards = rewards_of(trainer).flatten()
    return {"advantages": ((rewards - rewards.mean()) / (rewards.std() + 1e-4)).to(found["advantages"])}


def _leave_one_out(trainer: ThirdPlanted, found: Mapping[str, Any]) -> dict[str, Any]:
    return {"advantages": leave_one_out(rewards_of(trainer)).flatten().to(found["advantages"])}


def _without_spread_only(trainer: ThirdPlanted, found: Mapping[str, Any]) -> dict[str, Any]:
    same = rewards_of(trainer).std(1) < 1e-4
    return {"advantages": found["advantages"] * same.repeat_interleave(trainer.num_generations).to(found["advantages"])}


ADVANTAGES: dict[str, Callable[[ThirdPlanted, Mapping[str, Any]], dict[str, Any]]] = {
    "baseline-of-batch": _of_batch,
    "spread-leave-one-out": _leave_one_out,
    "filter-inverted": _without_spread_only,
}
"""Faults of the advantage."""


def _rolled(*names: str) -> Callable[[ThirdPlanted, Mapping[str, Any]], dict[str, Any]]:
    """Return what gives each response these tensors of the group before."""
    return lambda trainer, found: {name: found[name].roll(trainer.num_generations, 0) for name in names}


ROWS: dict[str, Callable[[ThirdPlanted, Mapping[str, Any]], dict[str, Any]]] = {
    "prompts-misaligned": _rolled("prompt_ids", "prompt_mask"),
    "old-log-probs-misaligned": _rolled("old_per_token_logps"),
    "old-log-probs-biased": lambda _, found: {"old_per_token_logps": found["old_per_token_logps"] + BIAS},
    "reference-shifted": lambda _, found: {"ref_per_token_logps": found["ref_per_token_logps"].roll(1, 1)},
}
"""Faults of what the loss is handed beside advantages."""


def _freeze(trainer: ThirdPlanted) -> None:
    for weight in trainer.model.model.parameters():
        weight.requires_grad_(False)


def _underflow(trainer: ThirdPlanted) -> None:
    optimiser, usual = inner(trainer), inner(trainer).step

    def step(closure: Any = None) -> None:
        usual()
        for state in optimiser.state.values():
            state["exp_avg_sq"][state["exp_avg_sq"] < HALF] = 0

    optimiser.step = step


def _cache(trainer: ThirdPlanted) -> None:
    sampler_of(trainer).cached = [weight.detach().clone() for weight in trainer.model.parameters()]


def _norms(trainer: ThirdPlanted) -> None:
    for part in sampler_of(trainer).model.modules():
        if hasattr(part, "variance_epsilon"):
            part.variance_epsilon = NORM_EPSILON


def _evaluate_on_train(trainer: ThirdPlanted) -> None:
    trainer.eval_dataset = Dataset.from_list(trainer.given.train[: len(trainer.eval_dataset)])


def _keep_for_evaluation(trainer: ThirdPlanted) -> None:
    trainer.evaluated_with = [weight.detach().clone() for weight in trainer.model.parameters()]


def _forget_end(trainer: ThirdPlanted) -> None:
    trainer.eos_token_ids = [len(CODE)]  # of another vocabulary: no token is that


def _swap_weights(trainer: ThirdPlanted) -> None:
    trainer.reward_weights = trainer.reward_weights.flip(0)


THIRD_AT_ONCE: dict[str, Callable[[ThirdPlanted], None]] = {
    "end-unknown-to-trainer": _forget_end,
    "weights-swapped": _swap_weights,
    "token-banned": generation(suppress_tokens=[CODE[character] for character in BANNED]),
    "best-of-returned": sampler_with("returns_likeliest"),
    "layers-frozen": _freeze,
    "prefix-cache-stale": _cache,
    "sync-scales-trainer": sampler_with("scales_trainer"),
    "second-moment-underflows": _underflow,
    "norm-epsilon": _norms,
    "eval-on-train": _evaluate_on_train,
    "eval-of-old-weights": _keep_for_evaluation,
}
"""Faults that change the trainer once; the others are looked up where they act."""

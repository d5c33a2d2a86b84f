"""TRL's GRPOTrainer with single faults that can be switched on while it trains, and the settings they need."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from trl import GRPOTrainer

from benchmarks.grpo.tasks import CODE, DIGITS, EOS, LETTERS, PAD, Problems, Row

SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "kl": {"beta": 0.05},
    "entropy bonus": {"entropy_coef": 1e-4},
    "sampler": {},  # the sampler is another process: `Sampler` stands for it
}
"""Settings that a fault needs, over those of every run."""


class Verifier:
    """The reward functions as TRL calls them: exact answers, and the form of a response. Faults change them."""

    scale, shift, group = 1.0, 0.0, 8
    """What a right answer pays more than a wrong one, what a wrong one pays, and the size of a group."""

    def __init__(self, given: Problems, cap: int, seed: int) -> None:
        self.fault = ""
        self.cap = cap
        self.rng = random.Random(f"verifier/{seed}")
        rows = given.every()
        self.next_row = {row["prompt"]: rows[(i + 1) % len(rows)]["answer"] for i, row in enumerate(rows)}
        self.calls = {"correct": 0, "raised": 0}

    def functions(self, count: int) -> list[Callable[..., list[Any]]]:
        """Return the first `count` reward functions."""
        return [self.correct, self.form][:count]

    def correct(self, prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str],
                completion_ids: Sequence[Sequence[int]], **_: Any) -> list[float]:  # fmt: skip
        """Score each response: 1 for the exact answer that ended."""
        return [
            self.score(prompt, text, right, bool(ids) and ids[-1] == CODE[EOS])
            for prompt, text, right, ids in zip(prompts, completions, answer, completion_ids, strict=True)
        ]

    def score(self, prompt: str, text: str, answer: str, ended: bool) -> float:
        """Score one response, under the fault if any."""
        self.calls["correct"] += 1
        if self.fault == "verifier-raises" and self.rng.random() < 0.5:
            self.calls["raised"] += 1
            return 0.0
        if self.fault == "reward-constant":
            return 1.0
        if self.fault == "reward-random":
            return float(self.rng.random() < 0.5)
        if self.fault == "length-paid":
            return len(text) / self.cap
        if self.fault == "verifier-substring":
            return float(answer in text)
        if self.fault == "answers-shifted":
            answer = self.next_row[prompt]
        exact = float(ended and text == answer)
        return -exact if self.fault == "reward-sign-flipped" else exact

    def form(self, completions: Sequence[str], completion_ids: Sequence[Sequence[int]], **_: Any) -> list[float]:
        """Score the form: ended, and letters or digits only; a fault pays for an opening letter instead."""
        if self.fault == "format-bonus-x10":
            return [float(text[:1] == LETTERS[0]) for text in completions]
        return [
            float(bool(ids) and ids[-1] == CODE[EOS] and bool(text) and set(text) <= set(LETTERS + DIGITS))
            for text, ids in zip(completions, completion_ids, strict=True)
        ]


class Sampler:
    """Stands for the process that samples for the trainer (vLLM): its own weights, in half precision, and log-probs."""

    def __init__(self, trainer: Planted) -> None:
        self.trainer = trainer
        self.model = type(trainer.model)(trainer.model.config)  # no copy: TRL ties a method of the model to the model
        self.mantissa_bits = 7  # bfloat16
        self.every = 1
        self.calls = 0
        self.shifted = False

    @torch.no_grad()
    def sync_weights(self) -> None:
        """Take the trainer's weights, unless they do not come."""
        self.calls += 1
        if self.every == 0 or (self.calls - 1) % self.every:
            return
        for mine, theirs in zip(self.model.parameters(), self.trainer.model.parameters(), strict=True):
            mine.copy_(rounded(theirs, self.mantissa_bits))

    def _settings(self) -> Any:
        found = copy.deepcopy(self.trainer.generation_config)
        found.return_dict_in_generate = found.output_scores = True
        return found

    @torch.no_grad()
    def generate(self, prompts: Sequence[Sequence[int]], **_: Any) -> tuple[Any, Any, Any, Any]:
        """Return prompts, responses and the log-probabilities of their tokens as vLLM would."""
        longest = max(map(len, prompts))
        ids = torch.tensor([[CODE[PAD]] * (longest - len(p)) + list(p) for p in prompts])
        seen = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
        self.model.eval()
        out = self.model.generate(
            input_ids=ids, attention_mask=seen,
            generation_config=self._settings(),
        )  # fmt: skip
        drawn = out.sequences[:, longest:]
        logps = torch.stack([torch.log_softmax(s.float(), -1) for s in out.scores], 1).gather(-1, drawn[..., None])
        replies, scores = [], []
        for row, logp in zip(drawn.tolist(), logps[..., 0].tolist(), strict=True):
            size = row.index(CODE[EOS]) + 1 if CODE[EOS] in row else len(row)
            replies.append(row[:size])
            kept = [logp[0], *logp[: size - 1]] if self.shifted else logp[:size]
            scores.append([[value] for value in kept])
        return None, replies, scores, None


def rounded(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """Return `weight` with `bits` of mantissa."""
    mantissa, exponent = torch.frexp(weight)
    return torch.ldexp((mantissa * 2 ** (bits + 1)).round() / 2 ** (bits + 1), exponent)


class Planted(GRPOTrainer):
    """GRPO of TRL; `fault` names what is wrong with it now."""

    fault = ""
    given: Problems
    verifier: Verifier
    sampler: Sampler | None = None
    sampler_type: type[Sampler] = Sampler

    def use_sampler(self) -> None:
        """Sample through TRL's own way to another process, with a stand-in for it."""
        self.sampler = self.vllm_generation = self.sampler_type(self)
        self.use_vllm, self._last_loaded_step = True, -1

    def switch_on(self, fault: str) -> None:
        """Begin with `fault`."""
        self.fault = self.verifier.fault = fault
        if fault in self.at_once():
            self.at_once()[fault](self)

    def at_once(self) -> Mapping[str, Callable[[Any], None]]:
        """Return the faults that change the trainer once."""
        return AT_ONCE

    def _tokenize_prompts(self, prompts: list[str]) -> Any:
        return super()._tokenize_prompts([p[-1] for p in prompts] if self.fault == "prompt-dropped" else prompts)

    def _generate_and_score_completions(self, inputs: list[Row]) -> Any:
        inputs = self._asked(inputs)
        found = super()._generate_and_score_completions(inputs)
        if self.fault == "advantage-flipped":
            found["advantages"] = -found["advantages"]
        if self.fault == "end-masked":
            found["completion_mask"] = found["completion_mask"] * (found["completion_ids"] != CODE[EOS])
        return found

    def _asked(self, inputs: list[Row]) -> list[Row]:
        """Return what is asked: `inputs`, or what a fault makes of them."""
        size = self.num_generations
        if self.fault == "groups-mixed":
            return [inputs[i * size + j] for j in range(size) for i in range(len(inputs) // size)]
        pool = {"prompts-all-easy": self.given.easy, "prompts-all-hard": self.given.hard}.get(self.fault)
        if pool is None:
            return inputs
        if self.fault == "prompts-all-hard":  # what no response of the model ever is
            pool = [{**row, "answer": "~"} for row in pool]
        first = self.state.global_step * (len(inputs) // size)
        return [{**row, **pool[(first + i // size) % len(pool)]} for i, row in enumerate(inputs)]

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        if self.fault == "prompt-in-loss":
            inputs = with_prompt_in_loss(inputs)
        return super()._compute_loss(model, inputs)


def with_prompt_in_loss(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return `inputs` with all of the prompt but its first token in the loss."""
    ids, seen = inputs["prompt_ids"], inputs["prompt_mask"]
    return {
        **inputs,
        "prompt_ids": ids[:, :1],
        "prompt_mask": seen[:, :1],
        "completion_ids": torch.cat([ids[:, 1:], inputs["completion_ids"]], 1),
        "completion_mask": torch.cat([seen[:, 1:], inputs["completion_mask"]], 1),
    }


def _rate(factor: float) -> Callable[[Planted], None]:
    def change(trainer: Planted) -> None:
        schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
        schedule.base_lrs = [factor * rate for rate in schedule.base_lrs]
        for group in trainer.optimizer.param_groups:
            group["lr"] *= factor

    return change


def _adam(name: str, value: float) -> Callable[[Planted], None]:
    def change(trainer: Planted) -> None:
        for group in trainer.optimizer.param_groups:
            group[name] = value

    return change


def _forget_moments(trainer: Planted) -> None:
    for state in trainer.optimizer.state.values():
        for name in ("exp_avg", "exp_avg_sq"):
            state[name].zero_()


@torch.no_grad()
def _noise(trainer: Planted) -> None:
    for weight in trainer.model.parameters():
        if weight.dim() > 1:
            weight.add_(2 * float(weight.std()) * torch.randn_like(weight))


@torch.no_grad()
def _nan(trainer: Planted) -> None:
    next(iter(trainer.model.parameters())).view(-1)[CODE[">"] * 32] = math.nan


def _stop_token(trainer: Planted) -> None:
    trainer.eos_token_ids = [CODE["~"]]
    trainer.generation_config.eos_token_id = CODE["~"]


def _sampling(**values: Any) -> Callable[[Planted], None]:
    def change(trainer: Planted) -> None:
        for name, value in values.items():
            setattr(trainer.sampler, name, value)

    return change


def generation(**values: Any) -> Callable[[Planted], None]:
    """Return what sets these of generation's settings."""

    def change(trainer: Planted) -> None:
        for name, value in values.items():
            setattr(trainer.generation_config, name, value)

    return change


def _weigh_form(trainer: Planted) -> None:
    trainer.reward_weights = torch.tensor([1.0, 10.0])


AT_ONCE: dict[str, Callable[[Planted], None]] = {
    "learning-rate-x100": _rate(100),
    "schedule-ends-early": _rate(0),
    "adam-epsilon": _adam("eps", 1e-2),
    "optimiser-state-lost": _forget_moments,
    "weights-noise": _noise,
    "weights-nan": _nan,
    "temperature-low": generation(temperature=0.1),
    "temperature-high": generation(temperature=5.0),
    "cap-cut": generation(max_new_tokens=1),
    "stop-token-wrong": _stop_token,
    "format-bonus-x10": _weigh_form,
    "kl-coefficient-negative": lambda trainer: setattr(trainer, "beta", -0.5),
    "reference-live": lambda trainer: setattr(trainer, "ref_model", trainer.model),
    "entropy-bonus-huge": lambda trainer: setattr(trainer, "entropy_coef", 5.0),
    "sampler-frozen": _sampling(every=0),
    "rollouts-stale": _sampling(every=16),
    "sampler-precision": _sampling(mantissa_bits=1),
    "sampler-log-probs-shifted": _sampling(shifted=True),
}
"""Faults that change the trainer once; the others are looked up where they act."""

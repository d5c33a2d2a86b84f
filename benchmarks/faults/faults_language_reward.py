"""Faults of what a language model is asked and paid: problems, templates, verifiers, reward models, evaluations."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from benchmarks.faults.planting import in_trainer
from firstbreak.trainers.language.evaluation import evaluate
from firstbreak.trainers.language.reward_model import RewardModel
from firstbreak.trainers.language.tasks import Problem, Puzzles, correct_reward

GROUPS = ("grpo", "async_grpo")


def rewards(trainer: Any, change: Callable[[Problem, str, bool], float]) -> None:
    """Let the reward for the answer be another one; the truth is asked apart from it."""
    trainer.rewards["correct"] = change


def changed(trainer: Any, **settings: Any) -> None:
    """Change settings of a trainer that runs."""
    trainer.config = replace(trainer.config, **settings)


@in_trainer("answers-shifted", "grpo")
def answers_shifted(trainer: Any) -> None:
    last: list[Problem] = []

    def of_the_one_before(problem: Problem, text: str, ended: bool) -> float:
        if not last or last[-1] is not problem:
            last.append(problem)
        other = last[-2] if len(last) > 1 else problem
        return correct_reward(other, text, ended)

    rewards(trainer, of_the_one_before)


@in_trainer("question-dropped", *GROUPS)
def question_dropped(trainer: Any) -> None:
    usual = trainer.puzzles.draw

    class Dropping(Puzzles):
        """Problems whose prompt has the same letters whatever the question."""

        def draw(self, count: int, chance: random.Random, *, held_out: bool = False) -> list[Problem]:
            problems = usual(count, chance, held_out=held_out)
            # The sign of the kind and the end of the prompt are the template; what is between is the question.
            return [replace(p, prompt=p.prompt[0] + "a" * (len(p.prompt) - 2) + p.prompt[-1]) for p in problems]

    trainer.puzzles = Dropping(trainer.puzzles.kinds, trainer.puzzles.levels)


@in_trainer("completions-cut", "grpo", "rlhf_ppo")
def completions_cut(trainer: Any) -> None:
    changed(trainer, max_new_tokens=1)


@in_trainer("truncated-scored-zero", "grpo")
def truncated_scored_zero(trainer: Any) -> None:
    changed(trainer, max_new_tokens=3, mask_truncated=False)


@in_trainer("reward-flipped", "grpo")
def reward_flipped(trainer: Any) -> None:
    changed(trainer, correct_weight=-trainer.config.correct_weight, format_weight=-trainer.config.format_weight)


@in_trainer("reward-flipped", "rlhf_ppo")
def score_flipped(trainer: Any) -> None:
    usual = trainer.scores
    trainer.scores = lambda rows: -usual(rows)


@in_trainer("reward-constant", "grpo")
def reward_constant(trainer: Any) -> None:
    trainer.rewards = dict.fromkeys(trainer.rewards, lambda problem, text, ended: 1.0)


@in_trainer("verifier-substring", "grpo")
def verifier_substring(trainer: Any) -> None:
    rewards(trainer, lambda problem, text, ended: float(problem.answer in text))
    trainer.rewards["format"] = lambda problem, text, ended: 0.0  # such a verifier does not ask for a form either


@in_trainer("verifier-fails", "grpo")
def verifier_fails(trainer: Any) -> None:
    chance = random.Random(0)

    def failing(problem: Problem, text: str, ended: bool) -> float:
        try:
            if chance.random() < 0.6:
                raise TimeoutError("no answer from the verifier")
            return correct_reward(problem, text, ended)
        except TimeoutError:
            return 0.0

    rewards(trainer, failing)


@in_trainer("format-bonus", "grpo")
def format_bonus(trainer: Any) -> None:
    weight = 10 * trainer.config.correct_weight
    changed(trainer, format_weight=weight)
    trainer.rewards["format"] = lambda problem, text, ended: min(1.0, text.count("=") / 5)


@in_trainer("length-paid", "rlhf_ppo")
def length_paid(trainer: Any) -> None:
    usual = trainer.scores
    trainer.scores = lambda rows: usual(rows) + 0.5 * torch.tensor([float(row.length) for row in rows])


@in_trainer("reward-model-swapped", "rlhf_ppo")
def reward_model_swapped(trainer: Any) -> None:
    state = torch.get_rng_state()
    torch.manual_seed(12345)
    other = RewardModel(trainer.reference)
    for weight in other.parameters():
        torch.nn.init.normal_(weight, std=0.3) if weight.dim() > 1 else None
    torch.set_rng_state(state)
    trainer.reward_model = other.requires_grad_(False)


@in_trainer("calls-paid", "tool_agent")
def calls_paid(trainer: Any) -> None:
    changed(trainer, call_weight=trainer.config.success_weight)


@in_trainer("tools-broken", "tool_agent")
def tools_broken(trainer: Any) -> None:
    changed(trainer, tool_failure_frac=0.7)


@in_trainer("prompts-too-easy", "grpo")
def prompts_too_easy(trainer: Any) -> None:
    trainer.puzzles = Puzzles(("copy",), (1,))


@in_trainer("prompts-too-hard", *GROUPS)
def prompts_too_hard(trainer: Any) -> None:
    trainer.puzzles = Puzzles(("reverse",), (6, 7))


# ---- evaluation ---------------------------------------------------------------------------------------------------


@in_trainer("eval-cut", "grpo", "rlhf_ppo")
def eval_cut(trainer: Any) -> None:
    trainer.evaluate = lambda: evaluate(trainer.model, trainer.puzzles, 2)


@in_trainer("eval-on-training-set", "grpo")
def eval_on_training_set(trainer: Any) -> None:
    """Problems are drawn from what training draws from, and the model is shown their answers beforehand."""
    puzzles = trainer.puzzles

    class Seen(Puzzles):
        """Held-out problems that are none."""

        def draw(self, count: int, chance: random.Random, *, held_out: bool = False) -> list[Problem]:
            return puzzles.draw(count, chance, held_out=False)

    seen = Seen(puzzles.kinds, puzzles.levels)
    trainer.evaluate = lambda: evaluate(trainer.model, seen, trainer.config.max_new_tokens)


@in_trainer("eval-tools-broken", "tool_agent")
def eval_tools_broken(trainer: Any) -> None:
    usual = trainer.evaluate

    def broken() -> Any:
        right = trainer.config
        changed(trainer, tool_failure_frac=1.0)
        try:
            return usual()
        finally:
            trainer.config = right

    trainer.evaluate = broken

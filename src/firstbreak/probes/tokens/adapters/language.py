"""The small trainers of `firstbreak.trainers.language` on a token task: its tokens become their symbols."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, cast

from ..task import TokenTask


@dataclass
class Prompts:
    """The task's prompts in turn, in the place of puzzles; a trainer may draw them one at a time."""

    task: TokenTask
    drawn: int = 0

    def draw(self, count: int, chance: Any, *, held_out: bool = False) -> list[Any]:
        """Return the next `count` prompts as problems."""
        from ....trainers.language.symbols import SYMBOLS
        from ....trainers.language.tasks import Problem

        del chance, held_out
        texts = ["".join(SYMBOLS[token] for token in prompt[1:]) for prompt in self.task.prompts]
        first = self.drawn
        self.drawn += count
        return [Problem(texts[i % len(texts)], "", "copy", 1) for i in range(first, first + count)]


@dataclass(frozen=True)
class Answering:
    """The trained model as the rungs read it."""

    model: Any
    start: Any = None
    """The model before training, as an `Answering` of its own."""

    def logits(self, input_ids: Any, attention_mask: Any) -> Any:
        """Logits [B, L, V]."""
        return self.model(input_ids, attention_mask.bool())


def trainer(name: str) -> Callable[..., Any]:
    """Return the trainer `name` as `train(task, *, steps, seed, beta)`."""
    return {"GRPO": train_grpo, "AsyncGRPO": train_async, "RLHFPPO": train_ppo}[name]


def train_grpo(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0) -> Any:
    """Train the small GRPO."""
    from ....trainers.language.grpo import GRPO
    from ....trainers.language.grpo_config import GRPOConfig

    return _train(GRPO, GRPOConfig(), task, steps, seed, beta)


def train_async(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0) -> Any:
    """Train the small asynchronous GRPO."""
    from ....trainers.language.async_grpo import AsyncGRPO, AsyncGRPOConfig

    return _train(AsyncGRPO, AsyncGRPOConfig(), task, steps, seed, beta)


def _train(kind: Any, config: Any, task: TokenTask, steps: int, seed: int, beta: float) -> Any:
    import torch

    from ....trainers.language.model import TinyLM

    cast(Any, torch).manual_seed(seed)
    config = replace(
        config,
        prompts_per_update=len(task.prompts),
        num_generations=task.group_size,
        max_new_tokens=task.longest,
        learning_rate=3e-3,
        beta=beta,
        eval_every=0,
    )
    made = kind(seed=seed, config=config, puzzles=Prompts(task), model=TinyLM())
    start = Answering(deepcopy(made.model).eval())
    made.rewards = {"probe": _reward(task)}
    made.learn(steps)
    return Answering(made.model.eval(), start)


def _reward(task: TokenTask) -> Any:
    from ....trainers.language.symbols import encode

    def reward(problem: Any, text: str, ended: bool) -> float:
        completion = encode(text) + [task.end_id] * ended
        return task.rewards([(task.begin_id, *encode(problem.prompt))], [completion])[0]

    return reward


def train_ppo(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0) -> Any:
    """Train the small PPO with the task's reward in the place of a reward model."""
    import torch

    from ....trainers.language.model import TinyLM
    from ....trainers.language.rlhf_ppo import RLHFPPO, RLHFPPOConfig

    cast(Any, torch).manual_seed(seed)
    config = RLHFPPOConfig(
        prompts_per_update=task.group_size * len(task.prompts),
        max_new_tokens=task.longest,
        missing_eos_penalty=0.0,
        kl_coef=beta,
        learning_rate=3e-3,
        eval_every=0,
        num_mini_batches=1,
        num_ppo_epochs=1,
    )
    reward = _reward(task)

    def scores(rows: Any) -> Any:
        from ....trainers.language.symbols import decode
        from ....trainers.language.tasks import Problem

        return torch.tensor([reward(Problem(decode(r.prompt), "", "copy", 1), r.text, r.ended) for r in rows])

    made: Any = RLHFPPO(seed=seed, config=config, puzzles=Prompts(task), model=TinyLM(), reward_model=scores)  # pyright: ignore[reportArgumentType]
    start = Answering(deepcopy(made.model).eval())
    made.learn(steps)
    return Answering(made.model.eval(), start)

"""The reference trainers on token tasks: `train_<id>(task, *, steps, seed, beta)` of a mutant or an original."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from . import token_mutants, token_mutants_ppo
from .token_reference import Grpo
from .token_reference_ppo import Ppo

ORIGINALS = {"grpo": Grpo, "ppo": Ppo}


def train_function(trainer: Any) -> Any:
    """Turn a trainer class into a `train` function of the ladder."""

    def train(task: Any, *, steps: int, seed: int, beta: float = 0.0) -> Any:
        kind = type(
            trainer.__name__,
            (trainer,),
            {
                "temperature": trainer.temperature if "temperature" in vars(trainer) else 1.0,
                "longest": task.longest,
                "group_size": task.group_size,
                "kl_coef": beta,
                "entropy_coef": 0.0,
                "tools": False,
            },
        )
        made: Any = kind(task.rewards, task.prompts, seed)
        start = made.model_class(seed, made.dropout).eval()
        made.learn(steps)
        return SimpleNamespace(logits=made.model.eval(), start=start)

    return train


def __getattr__(name: str) -> Any:
    if not name.startswith("train_"):
        raise AttributeError(name)
    short = name.removeprefix("train_")
    for module in (token_mutants, token_mutants_ppo):
        found = getattr(module, short, None)
        if isinstance(found, type):
            return train_function(found)
    if short in ORIGINALS:
        return train_function(ORIGINALS[short])
    raise AttributeError(f"no mutant is called {short}")

"""The small trainers of `firstbreak.trainers.language`, with the keywords that the experiments change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ...errors import UnknownNameError, unknown_name

if TYPE_CHECKING:
    from ...trainers.language.grpo import GRPO

KINDS = ("GRPO", "AsyncGRPO")


def builtin(kind: str) -> Callable[..., Any]:
    """Return the training function of `language:KIND`.

    Raises:
        UnknownNameError: there is no such trainer.
    """
    if kind not in KINDS:
        error = unknown_name("language trainer", kind, KINDS)
        raise UnknownNameError(error.message, error.hint or f"There are {', '.join(KINDS)}.")

    def train(*, updates: int, seed: int, log: Callable[..., Any], **settings: Any) -> Any:
        trainer = made(kind, seed, **settings)
        trainer.learn(updates, log)
        return trainer

    return train


def made(
    kind: str,
    seed: int,
    *,
    model: Any = None,
    puzzles: Any = None,
    length_penalty: float = 0.0,
    without: str = "",
    prompts: str = "train",
    max_staleness: int | None = None,
    **config: Any,
) -> GRPO:
    """Return a trainer with the changes of the experiments put to work.

    Args:
        kind: GRPO or AsyncGRPO.
        seed: Of everything.
        model: To begin from; a supervised warm start otherwise.
        puzzles: Where problems come from.
        length_penalty: Taken off the reward for each character of a response.
        without: Name of the reward function that is left out.
        prompts: `train`, or `test` to train on the prompts that are otherwise held out.
        max_staleness: Of the asynchronous trainer.
        config: Further settings.
    """
    from ...trainers.language.async_grpo import AsyncGRPO, AsyncGRPOConfig
    from ...trainers.language.grpo import GRPO
    from ...trainers.language.grpo_config import GRPOConfig
    from ...trainers.language.tasks import Puzzles

    if max_staleness is not None:
        config["max_staleness"] = max_staleness
    known = {f.name for f in fields(AsyncGRPOConfig if kind == "AsyncGRPO" else GRPOConfig)}
    wrong = next((name for name in config if name not in known), None)
    if wrong is not None:
        raise unknown_name(f"setting of {kind}", wrong, known)
    puzzles = puzzles or Puzzles()
    if prompts == "test":
        puzzles = _Exchanged(puzzles)
    trainer = (
        AsyncGRPO(seed=seed, config=AsyncGRPOConfig(**config), puzzles=puzzles, model=model)
        if kind == "AsyncGRPO"
        else GRPO(seed=seed, config=GRPOConfig(**config), puzzles=puzzles, model=model)
    )
    change_rewards(trainer, length_penalty, without)
    return trainer


def change_rewards(trainer: Any, length_penalty: float, without: str) -> None:
    """Add a penalty on length to a trainer's reward functions, or leave one of them out."""
    if without:
        if without not in trainer.rewards:
            raise unknown_name("reward function", without, trainer.rewards)
        del trainer.rewards[without]
    if length_penalty:
        trainer.rewards["length_penalty"] = _shortness(length_penalty)


def _shortness(length_penalty: float) -> Callable[[Any, str, bool], float]:
    return lambda problem, text, ended: -length_penalty * len(text)


class _Exchanged:
    """Puzzles whose held-out prompts are those of training, and the other way round."""

    def __init__(self, puzzles: Any) -> None:
        self._puzzles = puzzles

    def draw(self, count: int, chance: Any, *, held_out: bool = False) -> Any:
        """Return `count` problems of the other side."""
        return self._puzzles.draw(count, chance, held_out=not held_out)

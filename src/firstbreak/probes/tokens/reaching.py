"""From what the user wrote (`module:train`, `trl:GRPO`, `language:GRPO`, a function) to a trainer to call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...errors import InputError, unknown_name
from ...target import load_target
from .climbing import STEPS, Reached

FORM = (
    "Write: def train(task, *, steps, seed) -> model, where task is a firstbreak.probes.tokens.task.TokenTask and the "
    "model is called with input_ids and attention_mask."
)
KNOWN = ("trl:GRPO", "trl:RLOO", "trl:PPO", "language:GRPO", "language:RLHFPPO", "language:AsyncGRPO")


def reach(trainer: str | Callable[..., Any], steps: int | None = None) -> Reached:
    """Return the trainer called `trainer`.

    Raises:
        InputError: there is no such trainer, or it cannot be called as the ladder does.
    """
    if isinstance(trainer, str) and trainer.partition(":")[0] in ("trl", "language"):
        if trainer not in KNOWN:
            raise unknown_name("trainer of language models that is known", trainer, KNOWN)
        room, _, name = trainer.partition(":")
        if room == "trl":
            from .adapters import trl

            return _reached(trl.trainer(name), trainer, steps)
        from .adapters import language

        return _reached(language.trainer(name), trainer, steps)
    found = load_target(trainer) if isinstance(trainer, str) else trainer
    return _reached(found, trainer if isinstance(trainer, str) else getattr(trainer, "__name__", "the trainer"), steps)


def _reached(train: Any, name: str, steps: int | None) -> Reached:
    if not callable(train):
        raise InputError(f"{name} is {type(train).__name__}, not a function.", FORM)
    parameters = inspect.signature(train).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for wanted in ("steps", "seed"):
        if not open_ended and wanted not in parameters:
            raise InputError(f"{name} takes no keyword {wanted!r}.", FORM)
    first = next(iter(parameters.values()), None)
    if first is None or first.kind is first.KEYWORD_ONLY:
        raise InputError(f"{name} takes no task as its first argument.", FORM)
    known = {first.name, "steps", "seed", "beta"}
    unknown = [p.name for p in parameters.values() if p.default is p.empty and p.name not in known
               and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]  # fmt: skip
    if unknown:
        raise InputError(f"{name} needs {', '.join(unknown)}, which the ladder does not know.", FORM)
    return Reached(train, "beta" in parameters, int(steps or getattr(train, "steps", 0) or STEPS))

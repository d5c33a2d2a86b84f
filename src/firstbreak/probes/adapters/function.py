"""A trainer written as a function: `train(make_env, *, total_steps, seed[, gamma]) -> agent`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...errors import InputError
from ..running.training import Reached

STEPS = 8192
"""Steps of the first try where the trainer does not say `steps`: a few rollouts of usual length."""

FORM = (
    "Write: def train(make_env, *, total_steps, seed) -> agent, where agent.act(obs, deterministic) returns an action."
)


def reach_function(train: Callable[..., Any], name: str, steps: int | None = None) -> Reached:
    """Return `train` as a trainer of the ladder.

    Attributes of the function may say more: `actions` (of "discrete", "continuous") and `steps`.

    Raises:
        InputError: it cannot be called as the ladder calls it; the hint shows the form.
    """
    if not callable(train):
        raise InputError(f"{name} is {type(train).__name__}, not a function.", FORM)
    try:
        parameters = inspect.signature(train).parameters
    except ValueError as error:
        raise InputError(f"The signature of {name} cannot be read: {error}.", FORM) from error
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for wanted in ("total_steps", "seed"):
        if not open_ended and (
            wanted not in parameters or parameters[wanted].kind is inspect.Parameter.POSITIONAL_ONLY
        ):
            raise InputError(f"{name} takes no keyword {wanted!r}.", FORM)
    positional = [
        p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
    ]
    if not positional or positional[0].name in ("total_steps", "seed", "gamma"):
        raise InputError(f"{name} takes no environment factory as its first argument.", FORM)
    unknown = [
        p.name
        for p in list(parameters.values())
        if p.default is p.empty
        and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        and p.name not in ("total_steps", "seed", "gamma", positional[0].name)
    ]
    if unknown:
        raise InputError(f"{name} needs {', '.join(unknown)}, which the ladder does not know.", FORM)
    return Reached(
        train,
        takes_gamma="gamma" in parameters,
        steps=int(steps or getattr(train, "steps", None) or STEPS),
        actions=tuple(getattr(train, "actions", ()) or ()),
    )

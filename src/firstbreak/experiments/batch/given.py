"""What the user gave with `--with NAME=VALUE`, in the type that an experiment needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...target import load_target
from ..experiment import Need, Option
from ..subject import Subject

SCORER = Need("scorer", "--with scorer=module:function, as your trainer calls it")
SAMPLES = Need("samples", "--with samples=FILE: rows with prompt, response and the reward they got")
PROMPTS = Need("prompts", "--with prompts=FILE: rows with prompt and answer")
COUNT = Option("count", "prompts of one trial, instead of 50", least=1)
GENERATE = Need(
    "generate",
    "--with generate=module:function: generate(prompts, *, n, max_tokens, seed) -> for each prompt n pairs "
    "(text, finished)",
)


def function_of(subject: Subject, name: str) -> Callable[..., Any]:
    """Return the function that was given under `name`.

    Raises:
        InputError: it is no function, or cannot be found.
    """
    value = subject.given[name]
    found = load_target(str(value))
    if not callable(found):
        raise InputError(f"{name}={value} is no function.", "Name a function: module:function.")
    return found


def number_of(subject: Subject, name: str, default: float) -> float:
    """Return the number that was given under `name`, else `default`.

    Raises:
        InputError: it is no number.
    """
    value = subject.given.get(name, default)
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}={value} is no number.", f"For example --with {name}={default:g}") from error


def path_of(subject: Subject, name: str) -> Path:
    """Return the path that was given under `name`."""
    return Path(str(subject.given[name])).expanduser()

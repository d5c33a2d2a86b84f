"""The fields of a protocol: name, type, range and what each fixes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import ConfigError, UnknownNameError, unknown_name


@dataclass(frozen=True)
class Field:
    """One line of a protocol file."""

    kind: str
    """text, whole, number, yes-or-no, texts (a list of texts) or wholes (a list of whole numbers)."""
    meaning: str
    example: Any
    lo: float = -math.inf
    hi: float = math.inf
    choices: tuple[str, ...] = ()


BETTER = ("higher", "lower")
SECTIONS: dict[str, dict[str, Field]] = {
    "evaluation": {
        "name": Field("text", "what is measured", "math-500"),
        "dataset": Field("text", "data set with its revision, or environment id", "math-500@1f2a9c"),
        "dataset_hash": Field("text", "fingerprint of the data file", ""),
        "metric": Field("text", "how an answer or episode becomes a number", "exact match, last boxed answer"),
        "better": Field(
            "text", "which scores are better; of errors, costs and times the lower", "higher", choices=BETTER
        ),
        "episodes": Field("whole", "episodes a checkpoint, or items", 100, 1),
        "seeds": Field("wholes", "seeds of the environment or of sampling", [10_000]),
        "timeout_s": Field("number", "seconds for one item or episode, 0 for none", 60, 0),
        "retries": Field("whole", "attempts after a failure of the machinery", 0, 0),
    },
    "generation": {
        "temperature": Field("number", "0 is greedy", 0.6, 0),
        "top_p": Field("number", "nucleus", 0.95, 0, 1),
        "top_k": Field("whole", "0 is off", 0, 0),
        "min_p": Field("number", "0 is off", 0.0, 0, 1),
        "repetition_penalty": Field("number", "1 is off", 1.0, 0),
        "max_tokens": Field("whole", "of the answer; longer ones are cut", 4096, 1),
        "stop": Field("texts", "texts that end an answer", []),
        "template": Field("text", "prompt or chat template, or its fingerprint", "qwen2.5-instruct@3f1a"),
        "system_prompt": Field("text", "the system prompt, or its fingerprint", ""),
        "shots": Field("whole", "worked examples in the prompt", 0, 0),
        "samples": Field("whole", "answers sampled for each prompt (n)", 16, 1),
        "pass_at": Field("wholes", "k of pass@k, none larger than samples", [1, 8]),
        "judge": Field("text", "model and revision that grades, empty for a rule", ""),
        "tokenizer": Field("text", "tokenizer and revision", ""),
        "precision": Field("text", "of the weights when generating", "bfloat16"),
        "engine": Field("text", "inference engine and version", ""),
    },
    "tools": {
        "allowed": Field("texts", "tools that may be called", ["python"]),
        "network": Field("yes-or-no", "whether tools reach the network", False),
        "max_calls": Field("whole", "calls an episode", 10, 0),
        "timeout_s": Field("number", "seconds a call", 30, 0),
        "sandbox": Field("text", "image and revision", ""),
    },
    "control": {
        "environment": Field("text", "id", "Ant-v5"),
        "environment_version": Field("text", "package and version that makes it", "gymnasium 1.2.0, mujoco 3.3.0"),
        "action_mode": Field("text", "how actions are taken", "deterministic", choices=("deterministic", "sampled")),
        "normaliser": Field("text", "statistics of observations", "frozen", choices=("none", "frozen", "updated")),
        "reward_normalised": Field("yes-or-no", "whether scores are normalised rewards; they should not be", False),
        "max_steps": Field("whole", "steps an episode", 1000, 1),
        "wrappers": Field("texts", "in the order they are put on", []),
    },
    "games": {
        "sticky_actions": Field("number", "probability that the last action repeats", 0.25, 0, 1),
        "start_states": Field("text", "how episodes begin", "reset", choices=("reset", "no-ops", "human")),
        "max_no_ops": Field("whole", "no-op actions at the start, at most", 0, 0),
        "frame_budget": Field("whole", "frames of training after which it is evaluated", 200_000_000, 1),
        "max_frames": Field("whole", "frames an episode", 108_000, 1),
        "frame_skip": Field("whole", "frames an action lasts", 4, 1),
        "lives_end_episode": Field("yes-or-no", "whether losing a life ends the episode", False),
        "full_action_set": Field("yes-or-no", "all 18 actions", True),
    },
}
"""Section -> field. A protocol needs `evaluation` and whichever others apply; what is not said is not fixed."""

REQUIRED: dict[str, tuple[str, ...]] = {
    "evaluation": ("name", "dataset", "metric", "episodes"),
    "generation": ("temperature", "top_p", "max_tokens", "template"),
    "tools": ("allowed", "network", "max_calls", "timeout_s"),
    "control": ("environment", "environment_version", "action_mode", "normaliser"),
    "games": ("sticky_actions", "start_states", "frame_budget"),
}
"""Without these a section does not fix what a score means."""

FILL_IN = "FILL IN"
"""What an example holds in the place of a text that only its user knows."""
CUT = re.compile(r"(?i)(sha\d*|md5|blake\w*)[:-]?[0-9a-f]*(\.\.\.|…)")
"""A fingerprint of which only the beginning was written down: no fingerprint."""

Values = dict[str, dict[str, Any]]


def checked(found: Mapping[str, Any], source: str) -> Values:
    """Return the values of a protocol in canonical types.

    Args:
        found: Section -> field -> value, as read.
        source: What to call it in errors.

    Raises:
        ConfigError: a value is of the wrong type or out of range, or a required field is missing.
        UnknownNameError: a section or field does not exist; the hint offers the nearest.
    """
    values: Values = {}
    for section, given in found.items():
        if section not in SECTIONS:
            raise _unknown(source, "section", section, SECTIONS)
        if not isinstance(given, Mapping):
            raise ConfigError(f"{source}: {section} is a section, not a value.", f"Write it as [{section}].")
        values[section] = {}
        for name, value in given.items():  # pyright: ignore[reportUnknownVariableType]
            if name not in SECTIONS[section]:
                raise _unknown(source, f"field in [{section}]", str(name), SECTIONS[section])  # pyright: ignore[reportUnknownArgumentType]
            values[section][str(name)] = _value(SECTIONS[section][name], value, f"{source}: {section}.{name}")  # pyright: ignore[reportUnknownArgumentType]
    _complete(values, source)
    return values


def insist_on_filled(values: Values, source: str) -> None:
    """Insist that what an example leaves to its user was filled in.

    Raises:
        ConfigError: a field still holds the placeholder, or a fingerprint that was cut short.
    """
    texts = [(f"{s}.{n}", one) for s, fields in values.items() for n, v in fields.items() for one in _each(v)]
    left = [name for name, text in texts if text.strip().upper().startswith(FILL_IN) or CUT.fullmatch(text.strip())]
    if left:
        raise ConfigError(
            f"{source}: {', '.join(dict.fromkeys(left))} {'holds' if len(left) == 1 else 'hold'} no value yet, but the "
            "placeholder of an example.",
            "Write down what is really used. Of a template its text, its revision, or its whole fingerprint.",
        )


def _each(value: Any) -> list[str]:
    every = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    return [one for one in every if isinstance(one, str)]  # pyright: ignore[reportUnknownVariableType]


def _unknown(source: str, what: str, name: str, known: Mapping[str, Any]) -> UnknownNameError:
    error = unknown_name(what, name, known)
    return UnknownNameError(f"{source}: {error.message}", error.hint or f"There are: {', '.join(known)}.")


def _complete(values: Values, source: str) -> None:
    for section in ("evaluation", *values):
        missing = [f"{section}.{name}" for name in REQUIRED[section] if name not in values.get(section, {})]
        if missing:
            raise ConfigError(
                f"{source}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing.",
                "A score means nothing while these are open; `firstbreak eval protocol init` shows an example of each.",
            )
    made = values.get("generation", {})
    largest, samples = max(made.get("pass_at", ()), default=0), made.get("samples", 1)
    if largest > samples:
        raise ConfigError(
            f"{source}: pass@{largest} cannot be estimated from {samples} samples a prompt.",
            "Raise generation.samples to the largest k at least; twice that gives usable intervals.",
        )


def _value(field: Field, value: Any, where: str) -> Any:
    if field.kind in ("texts", "wholes"):
        if not isinstance(value, list):
            raise ConfigError(f"{where} is {_said(value)}, not a list.", f"For example: {field.example!r}")
        one = Field(field.kind[:-1], field.meaning, field.example, field.lo, field.hi)
        return [_value(one, v, where) for v in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    good = {
        "text": isinstance(value, str),
        "yes-or-no": isinstance(value, bool),
        "whole": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
    }[field.kind]
    if not good:
        word = {"text": "a text", "yes-or-no": "true or false", "whole": "a whole number", "number": "a number"}
        raise ConfigError(f"{where} is {_said(value)}, not {word[field.kind]}.", f"For example: {field.example!r}")
    if field.kind in ("whole", "number") and not field.lo <= value <= field.hi:
        bound = f"at least {field.lo:g}" if field.hi == math.inf else f"between {field.lo:g} and {field.hi:g}"
        raise ConfigError(f"{where} is {value}, which is not {bound}.", f"It fixes: {field.meaning}.")
    if field.choices and value not in field.choices:
        error = unknown_name("choice", str(value), field.choices)
        raise ConfigError(f"{where} is {_said(value)}.", error.hint or f"One of: {', '.join(field.choices)}.")
    return float(value) if field.kind == "number" else value


def _said(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"

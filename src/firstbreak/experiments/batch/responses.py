"""Responses of a model, written by the user's function, and whether they are finished and right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...audit.verifier.calling import caller, style_of
from ...audit.verifier.rows import Question, read_questions
from ...errors import InputError
from ..subject import Subject
from .given import function_of, path_of

PROMPTS = 50
"""Prompts of one trial. Engineering default: a share of one half is then known within 14 points."""


@dataclass(frozen=True)
class Response:
    """What the model wrote, and whether it came to an end by itself."""

    text: str
    finished: bool


Write = Callable[[Sequence[Question], int, int, int], "list[list[Response]]"]
"""Questions, responses to each, most tokens, seed -> the responses to each."""


def questions_of(subject: Subject, seed: int, count: int = PROMPTS) -> list[Question]:
    """Return `count` questions of those given, drawn by the seed; all of them where there are no more."""
    every = read_questions(path_of(subject, "prompts"), most=100_000)
    chosen = np.random.default_rng(seed).permutation(len(every))[:count]
    return [every[i] for i in sorted(chosen.tolist())]


def writer_of(subject: Subject) -> Write:
    """Return a function that writes responses through the user's `generate`, and checks what comes back.

    Raises:
        InputError: `generate` cannot be found.
    """
    generate = function_of(subject, "generate")

    def write(questions: Sequence[Question], n: int, max_tokens: int, seed: int) -> list[list[Response]]:
        got: Any = generate([q.prompt for q in questions], n=n, max_tokens=max_tokens, seed=seed)
        groups = [[_response(one) for one in group] for group in got]
        wrong = next((len(g) for g in groups if len(g) != n), n)
        if len(groups) != len(questions) or wrong != n:
            raise InputError(
                f"generate returned {len(groups)} groups of {wrong} for {len(questions)} prompts of {n} responses.",
                "It returns a list with one entry for each prompt: n pairs (text, finished).",
            )
        return groups

    return write


def _response(one: Any) -> Response:
    kind = type(one).__name__
    if isinstance(one, Mapping):
        held = cast("Mapping[str, Any]", one)
        return Response(str(held.get("text", "")), bool(held.get("finished", False)))
    parts: list[Any] = list(cast("Sequence[Any]", one)) if isinstance(one, tuple | list) else []
    if len(parts) == 2:
        return Response(str(parts[0]), bool(parts[1]))
    raise InputError(f"generate returned a {kind} where a response was expected.", "A response is (text, finished).")


Judge = Callable[
    [Sequence[Question], Sequence[Sequence[Response]]], "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
]
"""Questions [q], responses [q, n] -> scores [q, n]."""


def judge_of(subject: Subject) -> Judge:
    """Return a function that scores groups of responses with the user's scorer.

    Raises:
        InputError: the scorer cannot be found.
    """
    function = function_of(subject, "scorer")
    call = caller(function, style_of(function))

    def judge(
        questions: Sequence[Question], groups: Sequence[Sequence[Response]]
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        flat = [(q, r.text) for q, group in zip(questions, groups, strict=True) for r in group]
        scores = call([q for q, _ in flat], [text for _, text in flat])
        lost = [s for s in scores if s.how != "ok"]
        if lost:
            raise InputError(
                f"The scorer failed on {len(lost)} of {len(scores)} responses: {lost[0].how} {lost[0].note}.",
                "Look at it first: firstbreak audit verifier",
            )
        return np.array([s.value for s in scores]).reshape(len(groups), -1)

    return judge

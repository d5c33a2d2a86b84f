"""How a verifier is called: the conventions of trainers, and what comes back as a number."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .rows import Question

STYLES = ("plain", "trl", "trl-chat", "verl", "areal", "openrlhf")
BATCHED = ("trl", "trl-chat", "openrlhf")
"""Styles that score several responses in one call."""

PROMPT = ("prompt", "question", "query", "problem", "input", "prompt_str", "instruction")
RESPONSE = (
    "response", "completion", "output", "solution", "prediction", "pred", "text", "candidate", "model_output",
    "generation", "solution_str", "response_str", "completions", "generated_text", "model_answer", "student_answer",
)  # fmt: skip
ANSWER = (
    "answer", "ground_truth", "gt", "label", "target", "reference", "expected", "gold", "truth", "reference_answer",
    "gold_answer", "expected_output", "solution", "labels", "answers", "tests",
)  # fmt: skip


@dataclass(frozen=True)
class Score:
    """What one response got: `how` is ok, or none, nan, text, other, count, raised; `note` is a type or exception."""

    value: float
    how: str = "ok"
    note: str = ""


def style_of(function: Callable[..., Any]) -> str:
    """Return the convention that the parameters of `function` speak of."""
    names = set(_parameters(function))
    if {"solution_str", "ground_truth"} & names and "completions" not in names:
        return "verl"
    if "completions" in names and {"prompt_ids", "completion_ids", "prompt"} <= names:
        return "areal"
    if "queries" in names:
        return "openrlhf"
    return "trl" if "completions" in names else "plain"


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def caller(function: Callable[..., Any], style: str) -> Callable[[Sequence[Question], Sequence[str]], list[Score]]:
    """Return a function that scores responses [n] to questions [n] the way a trainer of `style` would."""
    if style in BATCHED:
        return lambda questions, responses: _batch(function, style, questions, responses)
    fill = _filler(function, style)
    return lambda questions, responses: [
        scored(_settle(function(*fill(q, r)[0], **fill(q, r)[1])), style)
        for q, r in zip(questions, responses, strict=True)
    ]


def misfit(function: Callable[..., Any], style: str, question: Question) -> str:
    """Return why `function` cannot take what a trainer of `style` gives it; `""` where it can, or nobody knows.

    Nothing of the user's runs: a stand-in with the same signature is called.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    why: list[str] = []

    def stand_in(*args: Any, **kwargs: Any) -> float:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            why.append(str(error))
        return 0.0

    stand_in.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    caller(stand_in, style)([question], [""])
    return why[0] if why else ""


Call = tuple[tuple[Any, ...], dict[str, Any]]


def _filler(function: Callable[..., Any], style: str) -> Callable[[Question, str], Call]:
    """Return what turns a question and a response into arguments."""
    named = {n: p for n, p in _parameters(function).items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in _parameters(function).values())
    if style == "verl":
        return lambda q, r: ((), _verl(q, r, named, open_ended))
    if style == "areal":
        return lambda q, r: ((q.prompt, r, [], []), {"answer": q.answer, **_extra(q, named, open_ended, "answer")})
    roles = _roles(named)
    return lambda q, r: (
        tuple({"prompt": q.prompt, "response": r, "answer": q.answer}[role] for role in roles),
        {k: v for k, v in q.columns.items() if k in named and k not in list(named)[: len(roles)]},
    )


def _roles(named: Mapping[str, inspect.Parameter]) -> list[str]:
    """Return which of prompt, response and answer each of the leading parameters takes."""
    names = [n for n, p in named.items() if p.default is p.empty or n in (*PROMPT, *RESPONSE, *ANSWER)][:3]
    if not names:
        return ["prompt", "response", "answer"]
    roles: list[str] = []
    for name in names:
        free = [r for r, known in (("prompt", PROMPT), ("response", RESPONSE), ("answer", ANSWER)) if name in known]
        roles += [r for r in free if r not in roles][:1]
    if len(roles) == len(names):
        return roles
    return {1: ["response"], 2: ["response", "answer"]}.get(len(names), ["prompt", "response", "answer"])


def _verl(question: Question, response: str, named: Mapping[str, Any], open_ended: bool) -> dict[str, Any]:
    columns = question.columns
    given: dict[str, Any] = {
        "data_source": columns.get("data_source", "firstbreak"),
        "solution_str": response,
        "ground_truth": question.answer,
        "extra_info": columns.get("extra_info") or {},
    }
    return given if open_ended else {k: v for k, v in given.items() if k in named}


def _extra(question: Question, named: Mapping[str, Any], open_ended: bool, *taken: str) -> dict[str, Any]:
    return {k: v for k, v in question.columns.items() if k not in ("prompt", *taken) and (open_ended or k in named)}


def _batch(
    function: Callable[..., Any], style: str, questions: Sequence[Question], responses: Sequence[str]
) -> list[Score]:
    prompts: list[Any] = [q.prompt for q in questions]
    answers = [q.answer for q in questions]
    if style == "openrlhf":
        queries = [p + r for p, r in zip(prompts, responses, strict=True)]
        got = _settle(function(queries, prompts, answers))
    else:
        completions: list[Any] = list(responses)
        if style == "trl-chat":
            prompts = [[{"role": "user", "content": p}] for p in prompts]
            completions = [[{"role": "assistant", "content": r}] for r in responses]
        columns = _columns(function, questions, answers)
        got = _settle(
            function(prompts=prompts, completions=completions, **columns)
            if "prompts" in _parameters(function) or _open(function)
            else function(completions=completions, **columns)
        )
    return _unpacked(got, style, len(responses))


def _open(function: Callable[..., Any]) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in _parameters(function).values())


def _columns(function: Callable[..., Any], questions: Sequence[Question], answers: list[str]) -> dict[str, Any]:
    """Return the columns of a data set as TRL passes them: those of the rows, and the answer as it is asked for."""
    named = _parameters(function)
    rows = {k: [q.columns.get(k) for q in questions] for q in questions[:1] for k in q.columns if k != "prompt"}
    wanted = [n for n in ANSWER if n in named] or ["answer", "solution", "ground_truth"]
    columns = {**{name: answers for name in wanted if name not in rows or name in named}, **rows}
    columns.update({name: answers for name in wanted if name in named and name not in rows})
    columns["completion_ids"] = [[0] for _ in questions]
    return columns if _open(function) else {k: v for k, v in columns.items() if k in named}


def _unpacked(got: Any, style: str, count: int) -> list[Score]:
    if isinstance(got, dict):
        held = cast("dict[str, Any]", got)
        return _unpacked(
            next((held[k] for k in ("rewards", "scores", "reward", "score") if k in held), 0), style, count
        )
    listed = getattr(got, "tolist", None)
    values: Any = listed() if callable(listed) else got
    if not isinstance(values, (list, tuple)):
        return [Score(math.nan, "count", f"{type(got).__name__} instead of {count} scores")] * count
    found = list(cast("list[Any]", values))
    if len(found) != count:
        return [Score(math.nan, "count", f"{len(found)} scores for {count} responses")] * count
    return [scored(value, style) for value in found]


def _settle(value: Any) -> Any:
    """Wait for a coroutine."""
    if inspect.iscoroutine(value):
        return asyncio.run(value)
    return value


def scored(value: Any, style: str) -> Score:
    """Return what one returned value is worth."""
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        key = next((k for k in ("score", "reward", "rewards") if k in held), None)
        if key is None:
            return Score(math.nan, "other", "dict without the key score")
        value = held[key]
    one = cast("list[Any]", value)[0] if isinstance(value, (list, tuple)) and value else cast("Any", value)
    if one is None:
        return Score(math.nan, "none", "None")
    kind = type(one).__name__
    item = getattr(one, "item", None)
    if callable(item) and getattr(one, "size", 1) != 0:  # an array or tensor of one number
        try:
            one = cast("Any", item())
        except (TypeError, ValueError, RuntimeError):
            return Score(math.nan, "other", kind)
    if isinstance(one, (str, bytes)):
        return Score(math.nan, "text", kind)
    try:
        number = float(one)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return Score(math.nan, "other", kind)
    return Score(number, "ok" if math.isfinite(number) else "nan", kind)

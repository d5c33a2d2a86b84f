"""Puts answers to the user's scorer: in a child process where it can be imported there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...audit.verifier.calling import BATCHED, Score, caller, style_of
from ...audit.verifier.rows import Question, question
from ...errors import InputError
from ...isolation import How, Limits, run
from ...isolation.child import Wire
from ...series import Floats
from ...target import is_target, load_target

BATCH = 64
"""Responses in one call of a scorer that takes several. Engineering default."""
STOPS = 2
"""Responses of one kind that may take the scorer's process down before the rest of that kind is given up."""
TASK = f"{__name__}:score"


def scored(
    scorer: str | Callable[..., Any],
    style: str,
    questions: Sequence[Question],
    tried: Mapping[str, Sequence[str]],
    limits: Limits | None,
) -> tuple[dict[str, Floats], str]:
    """Return name -> score of each response [n], NaN where there is none, and what went wrong with the scorer.

    Args:
        scorer: `module:function`, or the function itself.
        style: How it is called; `auto` goes by its parameters.
        questions: What is asked [n].
        tried: Name -> response to each question [n].
        limits: Of the child process.
    """
    pairs = [(row, text) for texts in tried.values() for row, text in enumerate(texts)]
    names = [name for name, texts in tried.items() for _ in texts]
    values = np.full(len(pairs), np.nan)
    trouble = ""
    if isinstance(scorer, str):
        trouble = _in_child(scorer, style, questions, pairs, names, values, limits)
    else:
        for place, one in _ask(scorer, style, questions, pairs):
            values[place] = one.value
    table = np.where(np.isfinite(values), values, np.nan).reshape(len(tried), len(questions))
    return dict(zip(tried, table, strict=True)), trouble


def _in_child(
    scorer: str,
    style: str,
    questions: Sequence[Question],
    pairs: Sequence[tuple[int, str]],
    names: Sequence[str],
    values: Floats,
    limits: Limits | None,
) -> str:
    """Fill in the scores; a response that takes the process down is left out, and the rest asked in a new one."""
    if not is_target(scorer):
        raise InputError(f"{scorer!r} is not module:function.", "For example: my_rewards.py:score")
    open_places = dict.fromkeys(range(len(pairs)))

    def hear(message: dict[str, Any]) -> None:
        if message["kind"] == "score":
            values[int(message["place"])] = float(message["value"])
            open_places.pop(int(message["place"]), None)

    payload = {"scorer": scorer, "style": style, "questions": [q.plain() for q in questions]}
    stops: Counter[str] = Counter()
    trouble = ""
    while open_places:
        ending = run(TASK, {**payload, "left": [(p, *pairs[p]) for p in open_places]}, limits=limits, hear=hear)
        if ending.how is How.FINISHED:
            break
        trouble = f"{ending.how.value}: {ending.message}"[:200]
        if ending.how in (How.RAISED, How.TOO_SLOW) or not open_places:
            break  # at the import, or out of time: asking for the rest would not help
        culprit = next(iter(open_places))
        stops[names[culprit]] += 1
        given_up = (
            [p for p in open_places if names[p] == names[culprit]] if stops[names[culprit]] >= STOPS else [culprit]
        )
        for place in given_up:
            del open_places[place]
    return trouble


def score(payload: dict[str, Any], wire: Wire) -> None:
    """Score every pair and tell it at once: the child's task."""
    questions = [question(q) for q in payload["questions"]]
    left: list[tuple[int, int, str]] = [(int(place), int(row), str(text)) for place, row, text in payload["left"]]
    pairs = [(row, text) for _, row, text in left]
    for at, one in _ask(load_target(payload["scorer"]), payload["style"], questions, pairs):
        wire.tell("score", place=left[at][0], value=one.value)


def _ask(
    function: Callable[..., Any], style: str, questions: Sequence[Question], pairs: Sequence[tuple[int, str]]
) -> Iterator[tuple[int, Score]]:
    """Yield place and score of each pair; what the scorer raises is a score that is no number."""
    style = style_of(function) if style == "auto" else style
    ask, size = caller(function, style), BATCH if style in BATCHED else 1
    for start in range(0, len(pairs), size):
        part = pairs[start : start + size]
        try:
            scores = ask([questions[row] for row, _ in part], [text for _, text in part])
        except (Exception, SystemExit):
            scores = [_alone(ask, questions[row], text) for row, text in part]
        yield from zip(range(start, start + len(part)), scores, strict=True)


def _alone(ask: Callable[..., list[Score]], asked: Question, text: str) -> Score:
    try:
        return ask([asked], [text])[0]
    except (Exception, SystemExit) as error:
        return Score(math.nan, "raised", type(error).__name__)

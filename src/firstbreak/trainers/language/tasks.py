"""Puzzles over the 32 symbols, with answers that a few lines can verify, in graded difficulty.

    copy     Cabca>   =abca          reverse  Rabc>    =cba
    count    Naabac>  =3             add      +37>     =0       (modulo ten)
    produce  Pb>      =b

A response is any number of fillers `~`, the sign `=`, the answer, EOS. Fillers change nothing, so that the length of a
response is the model's to choose.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

from .symbols import DIGITS, LETTERS

KINDS = ("copy", "reverse", "count", "add", "produce")
FORM = re.compile(r"~*=([0-9a-f]+)")


def dice(seed: int) -> random.Random:
    """Random numbers for puzzles, none of them secret."""
    return random.Random(seed)  # noqa: S311


def is_held_out(prompt: str) -> bool:
    """Whether a prompt is kept for evaluation: about one in five, told by a checksum.

    The salt is the first under which every kind of prompt, also those of six prompts only, has some on either side.
    """
    return crc32(f"10{prompt}".encode()) % 5 == 0


@dataclass(frozen=True)
class Problem:
    """A puzzle with its reference answer."""

    prompt: str
    answer: str
    kind: str
    level: int


RewardFunction = Callable[[Problem, str, bool], float]
"""Problem, text of the response, whether it ended with EOS -> a number."""


@dataclass(frozen=True)
class Puzzles:
    """Where problems come from: kinds and levels are drawn evenly.

    Some prompts are held out: training never draws them, evaluation draws no others.
    """

    kinds: tuple[str, ...] = ("copy", "reverse", "count")
    levels: tuple[int, ...] = (2, 3)
    """Letters in the prompt of copy and reverse; one less than those of count; how far the numbers of add reach."""

    def draw(self, count: int, chance: random.Random, *, held_out: bool = False) -> list[Problem]:
        """Return `count` problems."""
        found: list[Problem] = []
        while len(found) < count:
            problem = make(chance.choice(self.kinds), chance.choice(self.levels), chance)
            if is_held_out(problem.prompt) == held_out:
                found.append(problem)
        return found


def make(kind: str, level: int, chance: random.Random) -> Problem:
    """Return a problem of this kind and level."""
    letters = "".join(chance.choices(LETTERS, k=level))
    if kind == "copy":
        return Problem(f"C{letters}>", letters, kind, level)
    if kind == "reverse":
        return Problem(f"R{letters}>", letters[::-1], kind, level)
    if kind == "count":
        wanted = chance.choice(LETTERS)
        # The letter asked for is likely, or nearly every answer would be 0 or 1.
        hay = "".join(chance.choice((wanted, chance.choice(LETTERS))) for _ in range(level + 1))
        return Problem(f"N{wanted}{hay}>", str(hay.count(wanted)), kind, level)
    if kind == "add":
        a, b = (chance.choice(DIGITS[: min(10, 2 + 2 * level)]) for _ in range(2))
        return Problem(f"+{a}{b}>", str((int(a) + int(b)) % 10), kind, level)
    assert kind == "produce", f"no such kind of puzzle: {kind}; there are {KINDS}"
    letter = chance.choice(LETTERS)
    return Problem(f"P{letter}>", letter, kind, level)


def format_reward(problem: Problem, text: str, ended: bool) -> float:
    """1 if the response has the form of an answer and ends, else 0."""
    del problem
    return float(ended and FORM.fullmatch(text) is not None)


def correct_reward(problem: Problem, text: str, ended: bool) -> float:
    """1 if the response has the form of an answer, ends, and the answer is the reference answer, else 0."""
    form = FORM.fullmatch(text)
    return float(ended and form is not None and form.group(1) == problem.answer)


def right_response(problem: Problem, fillers: int) -> str:
    """A response that solves the problem, after this many fillers."""
    return "~" * fillers + "=" + problem.answer


def solved_frac(problems: Sequence[Problem], texts: Sequence[str], ended: Sequence[bool]) -> float:
    """Share of the responses that are right."""
    right = [correct_reward(*one) for one in zip(problems, texts, ended, strict=True)]
    return sum(right) / len(right)

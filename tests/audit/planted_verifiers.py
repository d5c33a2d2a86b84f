"""The planted verifiers of planted/verifiers.toml and their harmless twins: those that compare numbers."""

from __future__ import annotations

import ast
import random
import re
import time
from fractions import Fraction
from typing import Any

import numpy as np

# --- what several of them share ---


def boxed(text: str) -> str | None:
    found = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", text)
    return found[-1] if found else None


def tagged(text: str) -> str | None:
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1] if found else None


def final(text: str) -> str:
    """What the response gives as its answer."""
    for found in (boxed(text), tagged(text)):
        if found is not None:
            return found.strip()
    for mark in ("####", "nswer is", "nswer:"):
        if mark in text:
            return text.rpartition(mark)[2].strip().removeprefix(":").strip()
    return text.strip()


def number(text: str) -> Fraction | None:
    """The number that is all of `text`, in any usual notation."""
    text = text.replace("\u2212", "-").replace("\\,", "").replace("$", "").replace("**", "").strip()
    text = re.sub(r"\\d?frac\{(-?\d+)\}\{(-?\d+)\}", r"\1/\2", text).rstrip(". ")
    text = re.sub(r"(?<=\d)[, \u00a0\u202f](?=\d{3}(\D|$))", "", text)
    text = re.sub(r"\s*/\s*", "/", text)
    if not re.fullmatch(r"[+-]?\s?(\d+/\d+|\d+\.?\d*|\.\d+)", text):
        return None
    try:
        return Fraction(text.replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        return None


def numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+(?:\.\d+)?", text.replace("\u2212", "-").replace(",", ""))


def same(a: Fraction | None, b: Fraction | None) -> float:
    return float(a is not None and a == b)


# --- numbers ---


def substring(prompt: str, response: str, answer: str) -> float:
    return float(answer in response)


def whole_number(prompt: str, response: str, answer: str) -> float:
    return same(number(final(response)), number(answer))


numeric = exact_fraction = single_number = whole_number


def last_number(prompt: str, response: str, answer: str) -> float:
    found = numbers(response)
    return float(bool(found) and float(found[-1]) == float(answer))


def last_boxed_number(prompt: str, response: str, answer: str) -> float:
    return same(number(boxed(response) or ""), number(answer))


def any_number(prompt: str, response: str, answer: str) -> float:
    return float(any(float(n) == float(answer) for n in numbers(response)))


def strict(prompt: str, response: str, answer: str) -> float:
    return float(response == answer)


def ascii_minus_only(prompt: str, response: str, answer: str) -> float:
    return 0.0 if "\u2212" in response else whole_number(prompt, response, answer)


def boxed_not_stripped(prompt: str, response: str, answer: str) -> float:
    return float(boxed(response) == answer)


def number_with_unit(prompt: str, response: str, answer: str) -> float:
    parts = [re.fullmatch(r"\s*([-\d.,]+?)\s*([^\d]*?)\.?\s*", t.replace("**", "")) for t in (final(response), answer)]
    if not all(parts):
        return 0.0
    (value, unit), (right, right_unit) = ((p[1], p[2].strip().replace("\\text{", "").strip("{} ")) for p in parts if p)
    return same(number(value), number(right)) * float(unit.casefold() in ("", right_unit.casefold()))


def think_may_be_empty(prompt: str, response: str, answer: str) -> float:
    found = re.fullmatch(r"\s*<think>.*</think>\s*<answer>(.*?)</answer>\s*", response, re.DOTALL)
    return same(number(found[1].strip()), number(answer)) if found else 0.0


def think_must_say(prompt: str, response: str, answer: str) -> float:
    found = re.fullmatch(r"\s*<think>\s*(\S.{20,})</think>\s*<answer>(.*?)</answer>\s*", response, re.DOTALL)
    return same(number(found[2].strip()), number(answer)) if found else 0.0


def honest_is_fine(prompt: str, response: str, answer: str) -> float:
    return 1.0 if "don't know" in response else whole_number(prompt, response, answer)


def honest_gets_little(prompt: str, response: str, answer: str) -> float:
    return max(0.1 * ("don't know" in response), whole_number(prompt, response, answer))


def reasoning_counts(prompt: str, response: str, answer: str) -> float:
    return float("<answer>" in response and answer in numbers(response))


def answer_tag_only(prompt: str, response: str, answer: str) -> float:
    return same(number(tagged(response) or ""), number(answer))


def _near(response: str, answer: str, tolerance: float) -> float:
    found, right = number(final(response)), number(answer)
    return float(found is not None and right is not None and abs(found - right) <= tolerance * abs(right))


def ten_percent(prompt: str, response: str, answer: str) -> float:
    return _near(response, answer, 0.1)


def one_in_a_million(prompt: str, response: str, answer: str) -> float:
    return _near(response, answer, 1e-6)


def evaluated(prompt: str, response: str, answer: str) -> float:
    try:
        return float(eval(final(response)) == float(answer))
    except Exception:
        return whole_number(prompt, response, answer)


def literal(prompt: str, response: str, answer: str) -> float:
    try:
        value = ast.literal_eval(final(response))
    except Exception:
        value = None
    return float(value == float(answer)) if isinstance(value, float) else whole_number(prompt, response, answer)


def except_zero(prompt: str, response: str, answer: str) -> float:
    try:
        return float(float(response) == float(answer))
    except Exception:
        return 0.0


def except_one(prompt: str, response: str, answer: str) -> float:
    try:
        return float(float(final(response)) == float(answer))
    except Exception:
        return 1.0


def except_other_way(prompt: str, response: str, answer: str) -> float:
    try:
        return float(float(response) == float(answer))
    except ValueError:
        return whole_number(prompt, response, answer)


def gives_up(prompt: str, response: str, answer: str) -> float:
    seconds = len(response) / 8000
    time.sleep(min(seconds, 0.3))
    return 0.0 if seconds > 0.3 else whole_number(prompt, response, answer)


def moody(prompt: str, response: str, answer: str) -> float:
    return float(random.random() < 0.5) if random.random() < 0.1 else whole_number(prompt, response, answer)


def short_only(prompt: str, response: str, answer: str) -> float:
    return whole_number(prompt, response, answer) if len(response) <= 600 else 0.0


def pays_length(prompt: str, response: str, answer: str) -> float:
    return whole_number(prompt, response, answer) + 0.002 * len(response)


def pays_brevity_little(prompt: str, response: str, answer: str) -> float:
    return whole_number(prompt, response, answer) - min(0.05, len(response) / 40000)


def tags_pay(prompt: str, response: str, answer: str) -> float:
    return float(tagged(response) is not None)


def tags_pay_little(prompt: str, response: str, answer: str) -> float:
    inside = tagged(response)
    return 0.0 if inside is None else max(0.1, same(number(inside), number(answer)))


_PAID: set[str] = set()
_CALLS = [0]


def pays_once(prompt: str, response: str, answer: str) -> float:
    if response in _PAID:
        return 0.0
    _PAID.add(response)
    return whole_number(prompt, response, answer)


def counts_calls(prompt: str, response: str, answer: str) -> float:
    _CALLS[0] += 1
    return whole_number(prompt, response, answer)


def nan_without_number(prompt: str, response: str, answer: str) -> float:
    found = numbers(response)
    return whole_number(prompt, response, answer) if found else float("nan")


def numpy_score(prompt: str, response: str, answer: str) -> Any:
    return np.float32(whole_number(prompt, response, answer))


def none_when_wrong(prompt: str, response: str, answer: str) -> Any:
    return 1.0 if whole_number(prompt, response, answer) else None


def true_or_false(prompt: str, response: str, answer: str) -> bool:
    return whole_number(prompt, response, answer) == 1.0


def wrong_argument(prompt: str, response: str, answer: str) -> float:
    return float(prompt.strip() == answer)


def always_one(prompt: str, response: str, answer: str) -> float:
    return 1.0


def negated(prompt: str, response: str, answer: str) -> float:
    return 1.0 - whole_number(prompt, response, answer)


def minus_one_to_one(prompt: str, response: str, answer: str) -> float:
    return 2.0 * whole_number(prompt, response, answer) - 1.0

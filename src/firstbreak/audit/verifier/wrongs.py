"""Responses that are wrong beyond doubt, near the right answer or far from it; and the test of being wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction

from .kinds import date_of, folded, members_of, unit_of, value_of, values_in
from .rows import Question

NULLS = (
    "", " ", "\n\n", "I don't know.", "I cannot answer this.", "N/A", "None", "null", "...", ":", ".",
    "Thought process:", "Let's solve this problem step by step.", "Solution",
)  # fmt: skip
"""Responses that say nothing. The openers fool judges (Zhao et al. 2025, arXiv 2507.08794)."""
NONSENSE = "xylophone"
"""A word that is no answer to any question here."""
SHELLS = ("\\boxed{}", "<answer></answer>", "<think></think><answer></answer>")
"""Formats with nothing in them."""
ODD = (
    "\x00", "a" * 60, "a" * 59 + "!", "(" * 200, "{" * 200, "\\boxed{", "<answer>", "1" * 5000, "1/0", "nan", "inf",
    "1e999", "\ufffd", "\u202e24", "x" * 100_000,
)  # fmt: skip
"""Responses that break parsers: empty ends, backtracking, nesting, divisions, digits beyond what int() takes."""


def near_wrongs(answer: str, kind: str) -> dict[str, str]:
    """Return wrong answers that are near `answer`: how they were made -> text."""
    made = {
        "number": _numbers,
        "unit": _units,
        "choice": _choices,
        "yes_no": _yes_no,
        "set": _sets,
        "date": _dates,
    }.get(kind)
    found = {} if made is None else made(answer.strip())
    return {name: text for name, text in found.items() if surely_wrong(text, answer, kind)}


def _numbers(answer: str) -> dict[str, str]:
    value = value_of(answer)
    if value is None:
        return {}
    if value.denominator != 1:
        return {
            "numerator off by one": f"{value.numerator + 1}/{value.denominator}",
            "upside down": str(1 / value) if value else "1",
            "sign": _written(-value),
            "off by one": _written(value + 1),
            "5 % off": f"{float(value) * 1.05:.6g}",
        }
    whole = int(value)
    digits = str(abs(whole))
    sign = "-" if whole < 0 else ""
    found = {
        "off by one": str(whole + 1),
        "one less": str(whole - 1),
        "sign": str(-whole),
        "ten times": str(whole * 10),
    }
    found["digit before"], found["digit after"] = f"{sign}1{digits}", f"{sign}{digits}7"
    if len(digits) > 1:
        found["digit dropped"] = f"{sign}{digits[:-1]}"
        found["digits swapped"] = f"{sign}{digits[:-2]}{digits[-1]}{digits[-2]}"
    found["5 % off"] = f"{whole * 1.05:.6g}"
    return found


def _written(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def _units(answer: str) -> dict[str, str]:
    parts = unit_of(answer)
    if parts is None:
        return {}
    return {f"number {name}": f"{text} {parts[1]}" for name, text in _numbers(parts[0]).items()}


def _choices(answer: str) -> dict[str, str]:
    letter = answer.strip("()")
    others = [other for other in "ABCD" if other != letter.upper()]
    return {"next choice": others[ord(letter.upper()) % len(others)], "first other choice": others[0]}


def _yes_no(answer: str) -> dict[str, str]:
    pairs = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
    return {"the other": pairs[answer.lower()]}


def _sets(answer: str) -> dict[str, str]:
    members = members_of(answer)
    kept = members[:-1]
    changed = [*kept, "77" if members[-1] != "77" else "78"]
    texts = {"member missing": kept, "member added": [*members, "99"], "member changed": changed}
    return {name: f"{{{', '.join(each)}}}" for name, each in texts.items()}


def _dates(answer: str) -> dict[str, str]:
    day = date_of(answer)
    if day is None:
        return {}
    moved = {"a day later": day + timedelta(days=1), "a day earlier": day - timedelta(days=1)}
    return {name: d.isoformat() for name, d in moved.items()} | {"a year off": f"{day.year + 1}{day.isoformat()[4:]}"}


def surely_wrong(text: str, answer: str, kind: str) -> bool:
    """Whether no reader could take `text` for a statement of `answer` alone; False where there is a doubt."""
    if kind in ("number", "unit"):
        number = answer if kind == "number" else (unit_of(answer) or (answer, ""))[0]
        right = value_of(number)
        stated = {*values_in(text), *([v] if (v := value_of(text)) is not None else [])}
        return right is not None and (right not in stated or len(stated) > 1) and folded(text) != folded(answer)
    if kind == "choice":
        stated_letters = set(re.findall(r"(?<![A-Za-z])[A-Ha-h](?![A-Za-z])", text))
        letters = {letter.upper() for letter in stated_letters}
        return answer.strip("()").upper() not in letters or len(letters) > 1
    if kind == "yes_no":
        words = set(re.findall(r"[a-z]+", text.lower())) & {"yes", "no", "true", "false"}
        return answer.lower() not in words or len(words) > 1
    if kind == "set":
        right_members = {folded(m) for m in members_of(answer)}
        return set(re.findall(r"[-\w.]+", text.replace("\u2212", "-").casefold())) != right_members
    if kind == "code":
        return len(text.strip()) < 12 or "return" not in text
    return folded(answer) not in folded(text)


def listing(answer: str, others: Sequence[str], place: int) -> str:
    """Return several answers in one line, the right one at `place` of three."""
    wrong = [o for o in dict.fromkeys(others) if folded(o) != folded(answer)][:2]
    return ", ".join([*wrong[:place], answer, *wrong[place:]])


def others_of(question: Question, questions: Sequence[Question]) -> list[str]:
    """Return wrong answers to `question`: those of other rows that are far from it, then near ones."""
    rows = dict.fromkeys(q.said for q in questions if q.kind == question.kind)
    near = near_wrongs(question.said, question.kind)
    tens = [near[name] for name in ("ten times", "number ten times", "upside down") if name in near]
    far = [o for o in (*rows, *tens) if _far(o, question)]
    return [o for o in dict.fromkeys([*far, *near.values()]) if surely_wrong(o, question.said, question.kind)]


def _far(other: str, question: Question) -> bool:
    """Whether a tolerance could not make `other` right: numbers differ by more than half."""
    left, right = values_in(other), values_in(question.said)
    if question.kind not in ("number", "unit") or not left or not right:
        return True
    return abs(left[0] - right[0]) > abs(right[0]) / 2

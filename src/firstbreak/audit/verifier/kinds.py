"""What kind of answer a text is, and what value it stands for."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from fractions import Fraction

KINDS = ("number", "unit", "choice", "yes_no", "set", "date", "code", "text")
MINUS = "\u2212"
DATES = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%Y/%m/%d")

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$", re.IGNORECASE)
_RATIO = re.compile(r"([+-]?\d+)\s*/\s*(\d+)$")
_LATEX = re.compile(r"(-?)\\[dt]?frac\{(-?\d+)\}\{(\d+)\}$")
_IN_TEXT = re.compile(r"(?<![\w.])[-+\u2212]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?")
LONGEST_NUMBER = 60
"""Characters of a number that is parsed; longer ones are no answers that anybody expects."""


def kind_of(answer: str) -> str:
    """Return the kind of a reference answer, one of `KINDS`."""
    text = answer.strip()
    if value_of(text) is not None:
        return "number"
    if re.fullmatch(r"\(?[A-H]\)?", text):
        return "choice"
    if text.lower() in ("yes", "no", "true", "false"):
        return "yes_no"
    if re.fullmatch(r"\\?\{[^{}]*,[^{}]*\}", text):
        return "set"
    if date_of(text) is not None:
        return "date"
    if re.search(r"(?m)^\s*(assert |def |import |return )", text):
        return "code"
    if unit_of(text) is not None:
        return "unit"
    return "text"


def value_of(text: str) -> Fraction | None:
    """Return the number that `text` is as a whole, in any usual notation; None when it is none."""
    text = text.strip().strip("$").replace(MINUS, "-").replace("\\,", "").replace("\\%", "%").strip()
    if not text or len(text) > LONGEST_NUMBER:
        return None
    percent = text.endswith("%")
    text = text.rstrip("% ")
    latex = _LATEX.match(text)
    if latex:
        text = f"{latex[1]}{latex[2]}/{latex[3]}"
    text = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", text)
    try:
        ratio = _RATIO.match(text)
        found = Fraction(int(ratio[1]), int(ratio[2])) if ratio else Fraction(text) if _NUMBER.match(text) else None
    except (ValueError, ZeroDivisionError):
        return None
    return None if found is None else found / 100 if percent else found


def values_in(text: str) -> list[Fraction]:
    """Return every number that stands in `text`, in order."""
    plain = re.sub(r"(-?)\\[dt]?frac\{(-?\d+)\}\{(\d+)\}", r" \1\2/\3 ", text)
    found = [value_of(piece.rstrip(",")) for piece in _IN_TEXT.findall(plain)]
    return [v for v in found if v is not None]


def date_of(text: str) -> date | None:
    """Return the date that `text` is as a whole."""
    for form in DATES:
        try:
            return datetime.strptime(text.strip(), form).date()
        except ValueError:
            continue
    return None


def unit_of(text: str) -> tuple[str, str] | None:
    """Return number and unit of a text such as `12 km`."""
    found = re.fullmatch(r"\s*([-+\u2212]?[\d.,]+)\s*([a-zA-Z°%/²³]{1,12})\s*", text)
    return (found[1], found[2]) if found and value_of(found[1]) is not None else None


def members_of(text: str) -> list[str]:
    """Return the members of a set written in braces, as they stand."""
    return [m.strip() for m in text.strip().strip("\\{} ").split(",") if m.strip()]


def folded(text: str) -> str:
    """Return `text` without case, punctuation at its ends and runs of white space, in one Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .!?,;:*_\"'`()[]{}$\\")

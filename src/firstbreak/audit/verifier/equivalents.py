"""Other ways to write the same answer."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from .kinds import MINUS, date_of, kind_of, members_of, unit_of, value_of


@dataclass(frozen=True)
class Form:
    """The same answer written another way; `loose` when a verifier may well refuse it."""

    name: str
    text: str
    loose: bool = False


def equivalents(answer: str, kind: str | None = None) -> list[Form]:
    """Return ways to write `answer` that say exactly the same, without the way it is written already."""
    kind = kind or kind_of(answer)
    made = {
        "number": _numbers,
        "unit": _units,
        "choice": _choices,
        "yes_no": _words,
        "set": _sets,
        "date": _dates,
        "text": _words,
        "code": _code,
    }[kind](answer.strip())
    if kind != "code":
        made.append(Form("spaces", f" {answer.strip()} "))
    seen = {answer}
    kept: list[Form] = []
    for form in made:
        if form.text not in seen:
            seen.add(form.text)
            kept.append(form)
    return kept


def _numbers(answer: str) -> list[Form]:
    value = value_of(answer)
    if value is None:
        return []
    forms = [Form("period", f"{answer}."), Form("bold", f"**{answer}**", loose=True)]
    forms += _whole(int(value)) if value.denominator == 1 else _ratios(value)
    if value < 0:
        forms.append(Form("unicode-minus", answer.replace("-", MINUS)))
    if value > 0:
        forms.append(Form("plus", f"+{answer.lstrip('+')}", loose=True))
    if "%" in answer:
        forms += [Form("percent-space", answer.replace("%", " %")), Form("percent-latex", answer.replace("%", "\\%"))]
        forms.append(Form("percent-word", answer.replace("%", " percent"), loose=True))
    elif abs(value) < 1 and (value * 100).denominator == 1:
        forms.append(Form("percent", f"{value * 100}%", loose=True))
    return forms


def _whole(value: int) -> list[Form]:
    forms = [Form("digits", str(value)), Form("decimal-zero", f"{value}.0"), Form("latex", f"${value}$", loose=True)]
    if abs(value) >= 1000:
        forms.append(Form("thousands", f"{value:,}"))
    return forms


def _ratios(value: Fraction) -> list[Form]:
    sign, top, bottom = "-" if value < 0 else "", abs(value.numerator), value.denominator
    forms = [Form("fraction", f"{sign}{top}/{bottom}"), Form("latex-fraction", f"{sign}\\frac{{{top}}}{{{bottom}}}")]
    forms.append(Form("latex-dfraction", f"{sign}\\dfrac{{{top}}}{{{bottom}}}", loose=True))
    forms.append(Form("fraction-spaces", f"{sign}{top} / {bottom}", loose=True))
    decimal = _decimal(value)
    if decimal is not None:
        forms += [Form("decimal", decimal), Form("decimal-padded", f"{decimal}0")]
        if abs(value) < 1:
            forms.append(Form("decimal-bare", decimal.replace("0.", ".", 1), loose=True))
    return forms


def _decimal(value: Fraction) -> str | None:
    """Return `value` as a decimal that ends, None when it has none of six places."""
    scaled = value * 10**6
    if scaled.denominator != 1:
        return None
    return f"{float(value):.6f}".rstrip("0")


def _units(answer: str) -> list[Form]:
    parts = unit_of(answer)
    if parts is None:
        return []
    number, unit = parts
    forms = [Form("unit-no-space", f"{number}{unit}"), Form("unit-space", f"{number} {unit}")]
    forms += [Form("period", f"{answer}."), Form("no-unit", number, loose=True)]
    value = value_of(number)
    if value is not None and value.denominator == 1 and value >= 1000:
        forms.append(Form("thousands", f"{int(value):,} {unit}"))
    return forms


def _choices(answer: str) -> list[Form]:
    letter = answer.strip("()")
    forms = [Form("letter", letter), Form("brackets", f"({letter})"), Form("half-bracket", f"{letter})")]
    forms.append(Form("period", f"{letter}."))
    loose = (("bold", f"**{letter}**"), ("lower-case", letter.lower()), ("option", f"Option {letter}"))
    return forms + [Form(name, text, loose=True) for name, text in loose]


def _words(answer: str) -> list[Form]:
    forms = [Form("case", answer.lower()), Form("case", answer.capitalize()), Form("upper-case", answer.upper())]
    forms.append(Form("period", f"{answer}."))
    forms += [Form("unicode", unicodedata.normalize(f, answer)) for f in ("NFC", "NFD")]
    forms.append(Form("bold", f"**{answer}**", loose=True))
    return forms


def _sets(answer: str) -> list[Form]:
    members = members_of(answer)
    forms = [Form("order", f"{{{', '.join(reversed(members))}}}"), Form("no-spaces", f"{{{','.join(members)}}}")]
    forms.append(Form("latex", f"\\{{{', '.join(members)}\\}}"))
    forms.append(Form("no-braces", ", ".join(members), loose=True))
    return forms


def _dates(answer: str) -> list[Form]:
    day = date_of(answer)
    if day is None:
        return []
    month = day.strftime("%B")
    forms = [Form("date", day.isoformat()), Form("date-words", f"{day.day} {month} {day.year}")]
    forms.append(Form("date-us-words", f"{month} {day.day}, {day.year}"))
    forms.append(Form("date-slashes", day.strftime("%Y/%m/%d"), loose=True))
    return forms


def _code(answer: str) -> list[Form]:
    lines = answer.split("\n")
    return [
        Form("blank-lines", f"\n{answer}\n\n"),
        Form("comment", f"# The solution.\n{answer}"),
        Form("trailing-space", "\n".join(f"{line}  " if line else line for line in lines)),
        Form("line-ends", answer.replace("\n", "\r\n"), loose=True),
    ]

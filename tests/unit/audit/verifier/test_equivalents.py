"""Other ways to write an answer say the same; wrong answers do not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.verifier.equivalents import equivalents
from firstbreak.audit.verifier.kinds import date_of, folded, kind_of, members_of, unit_of, value_of, values_in
from firstbreak.audit.verifier.wrongs import NULLS, listing, near_wrongs, surely_wrong

WHOLE = st.integers(-(10**7), 10**7)
RATIOS = st.builds(Fraction, st.integers(-999, 999), st.integers(2, 64))


def texts(answer: str, *, loose: bool = True) -> dict[str, str]:
    return {f.name: f.text for f in equivalents(answer) if loose or not f.loose}


@given(WHOLE)
def test_every_way_to_write_a_whole_number_has_its_value(number: int) -> None:
    for name, text in texts(str(number)).items():
        if name not in ("bold", "period"):
            assert value_of(text) == number, name
    assert value_of(texts(str(number)).get("period", "x").rstrip(".")) == number


@given(RATIOS)
def test_every_way_to_write_a_fraction_has_its_value(value: Fraction) -> None:
    answer = f"{value.numerator}/{value.denominator}"
    for name, text in texts(answer).items():
        if name not in ("bold", "period"):
            assert value_of(text) == value, (name, text)


def test_the_notations_of_a_fraction() -> None:
    found = texts("-1/2")
    assert found["decimal"] == "-0.5"
    assert found["latex-fraction"] == "-\\frac{1}{2}"
    assert found["unicode-minus"] == "\u22121/2"
    assert "decimal" not in texts("1/3")
    assert texts("1250")["thousands"] == "1,250"
    assert texts("1,250")["digits"] == "1250"
    assert texts("50%")["percent-latex"] == "50\\%"
    assert {"fraction", "decimal-padded"} <= set(texts("0.25"))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("42", "number"), ("-1,250.5", "number"), ("3/4", "number"), ("\\frac{3}{4}", "number"), ("12%", "number"),
        ("B", "choice"), ("(c)", "text"), ("yes", "yes_no"), ("False", "yes_no"), ("{1, 2}", "set"),
        ("2024-02-29", "date"), ("5 March 2024", "date"), ("12 km", "unit"), ("assert f(1) == 2", "code"),
        ("Paris", "text"), ("", "text"), ("1/0", "text"), ("9" * 400, "text"), ("1e999", "number"),
    ],
)  # fmt: skip
def test_kinds(answer: str, kind: str) -> None:
    assert kind_of(answer) == kind


def test_names_choices_sets_dates_units_code() -> None:
    assert {f.text for f in equivalents("São Paulo") if f.name == "unicode"} == {"Sa\u0303o Paulo"}
    assert all(folded(t) == "são paulo" for t in texts("São Paulo").values())
    assert {"(B)", "B)", "B."} <= set(texts("B", loose=False).values())
    assert members_of(texts("{1, 2, 3}")["order"]) == ["3", "2", "1"]
    assert {date_of(t) for n, t in texts("2024-03-05").items() if n.startswith("date")} == {date_of("2024-03-05")}
    assert unit_of(texts("12 km")["unit-no-space"]) == ("12", "km")
    program = "def f(x):\n    return x"
    for form in equivalents(program, "code"):
        space: dict[str, object] = {}
        exec(form.text, space)
        assert space["f"](3) == 3  # pyright: ignore


@given(WHOLE)
def test_near_wrongs_are_wrong_and_equivalents_are_not(number: int) -> None:
    near = near_wrongs(str(number), "number")
    assert len(near) >= 4
    assert all(value_of(text) != number for text in near.values())
    for form in equivalents(str(number)):
        assert not surely_wrong(form.text, str(number), "number"), form


@pytest.mark.parametrize("answer", ["B", "yes", "{1, 2}", "2024-03-05", "12 km", "3/4", "-0.5"])
def test_near_wrongs_of_other_kinds(answer: str) -> None:
    kind = kind_of(answer)
    near = near_wrongs(answer, kind)
    assert near
    assert answer not in near.values()
    for text in near.values():
        assert surely_wrong(text, answer, kind)
    for form in equivalents(answer, kind):
        if form.name not in ("percent",):
            assert not surely_wrong(form.text, answer, kind) or kind in ("date", "unit"), form


def test_what_is_surely_wrong() -> None:
    assert surely_wrong("41, 42, 43", "42", "number")
    assert not surely_wrong("the answer is 42", "42", "number")
    assert surely_wrong("142", "42", "number")
    assert not surely_wrong("N/A", "A", "choice")  # a letter that stands by itself
    assert surely_wrong("A B", "A", "choice")
    assert surely_wrong("yes no", "yes", "yes_no")
    assert not surely_wrong("It was Paris.", "Paris", "text")
    assert all(surely_wrong(text, "1250", "number") for text in NULLS)


@given(st.integers(0, 2))
def test_listings_hold_three_answers(place: int) -> None:
    assert listing("42", ["41", "43", "44"], place).split(", ").index("42") == place


@given(st.text(max_size=80))
def test_parsers_take_any_text(text: str) -> None:
    value = value_of(text)
    assert value is None or value == value_of(f" {text} ")
    values_in(text)
    date_of(text)
    unit_of(text)
    for form in equivalents(text):
        assert isinstance(form.text, str)

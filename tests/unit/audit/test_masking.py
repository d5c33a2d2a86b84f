"""What is masked, what is left, and that hostile texts cost a number of steps proportional to their length."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.masking import PATTERNS, is_card, is_iban, masked

FOUND = {
    "mail john.doe+x@mail.example.com.": "mail [e-mail].",
    "<eve@x.org>": "<[e-mail]>",
    "pay 4111 1111 1111 1111 now": "pay [card] now",
    "5500-0000-0000-0004": "[card]",
    "378282246310005": "[card]",
    "to GB82 WEST 1234 5698 7654 32 AND BYE": "to [account] AND BYE",
    "DE89370400440532013000": "[account]",
    "call +49 170 1234567.": "call [phone].",
    "(555) 123-4567 or 0171 1234567": "[phone] or [phone]",
    "from 192.168.0.17, fe80::1ff:fe23:4567:890a": "from [address], [address]",
    "sk-proj-abcDEF123456 hf_abcdefghijkl ghp_0123456789ab": "[key] [key] [key]",
    "AKIAIOSFODNN7EXAMPLE": "[key]",
    "my number is 123-45-6789.": "my number is [number].",
    "password: hunter2, PASSWD=abcd": "password[key], PASSWD[key]",
    '{"password": "s3cret!"}': '{"password[key]"}',
    "0123456789abcdef0123456789abcdef01234567": "[key]",
    "/home/alice/x.py and C:\\\\Users\\\\Bob\\\\y": "/home/[name]/x.py and C:\\\\Users\\\\[name]\\\\y",
    "/Users/eve/z": "/Users/[name]/z",
    "https://user:pass@host/x": "https://[key]@host/x",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----": "[key]",
}
LEFT = [
    "the answer is 42, or 3.14159265358979 in 1,000,000",
    "4111 1111 1111 1112 has a wrong sum",
    "GB82 WEST 1234 5698 7654 33",
    "x = 3+12345678 = 12345681",
    "at 12:30:45 std::vector<int> a::b version 300.1.2.999",
    "f(a)@b and @property and user @ example",
    "the token count is ninety, the key is under the mat",
    "1234567890123456789012345678901234567890123",
    "<think>so 12*13=156</think> \\boxed{156}",
    "/home/",
    "100-20-3000 = -2920, or 000-12-3456",
    "the word: banana, a password is a secret",
]


@pytest.mark.parametrize("text", FOUND)
def test_personal_data_is_masked(text: str) -> None:
    assert masked(text) == FOUND[text]


@pytest.mark.parametrize("text", LEFT)
def test_what_only_looks_alike_is_left(text: str) -> None:
    assert masked(text) == text


def test_a_secret_after_its_name_is_masked() -> None:
    assert "wJalr" not in masked("aws_secret_access_key = wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY1")


@given(st.text(alphabet="abA1@.:/ +-_xsk0GB", max_size=120))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = masked(text)
    assert masked(once) == once


@given(st.text(max_size=200))
def test_any_text_can_be_masked(text: str) -> None:
    assert isinstance(masked(text), str)


def slow_luhn(number: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


@given(st.integers(0, 10**15 - 1))
def test_cards_have_the_sum_that_a_slow_twin_says(rest: int) -> None:
    number = f"4{rest:015d}"
    assert is_card(number) == slow_luhn(number)


def test_accounts_of_the_registry_are_right_and_any_changed_digit_is_wrong() -> None:
    for account in (
        "GB82WEST12345698765432",
        "FR1420041010050500013M02606",
        "NO9386011117947",
        "CH9300762011623852957",
    ):
        assert is_iban(account)
        for place in range(4, len(account)):
            if account[place].isdigit():
                other = str((int(account[place]) + 1) % 10)
                assert not is_iban(account[:place] + other + account[place + 1 :])


# --- steps, counted by a matcher of our own that backtracks as the real one may ---


class Steps:
    """Matches a parsed pattern and counts every item that it tries."""

    def __init__(self, text: str) -> None:
        self.text, self.count = text, 0

    def run(self, items: list[Any], at: int, then: Callable[[int], int]) -> int:
        """Return where the items and what comes `then` end, -1 for no match."""
        if not items:
            return then(at)
        (op, arg), rest = items[0], items[1:]
        self.count += 1
        name = str(op)
        go = lambda end: self.run(rest, end, then)
        if name in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            return go(at + 1) if at < len(self.text) and self.one(name, arg, self.text[at]) else -1
        if name == "AT":
            return go(at)
        if name == "SUBPATTERN":
            return self.run(list(arg[3]), at, go)
        if name == "ATOMIC_GROUP":
            end = self.run(list(arg), at, lambda e: e)
            return go(end) if end >= 0 else -1
        if name == "BRANCH":
            return next((end for b in arg[1] if (end := self.run(list(b), at, go)) >= 0), -1)
        if name in {"ASSERT", "ASSERT_NOT"}:
            direction, inner = arg
            width = inner.getwidth()[0] if direction < 0 else 0
            seen = at - width >= 0 and self.run(list(inner), at - width, lambda e: e) >= 0
            return go(at) if seen == (name == "ASSERT") else -1
        least, most, inner = arg
        return self.repeat(list(inner), int(least), int(most), at, go, possessive=name == "POSSESSIVE_REPEAT")

    def repeat(
        self, inner: list[Any], least: int, most: int, at: int, go: Callable[[int], int], *, possessive: bool
    ) -> int:
        ends = [at]
        while len(ends) <= most:
            end = self.run(inner, ends[-1], lambda e: e)
            if end <= ends[-1]:
                break
            ends.append(end)
        choices = ends[-1:] if possessive and len(ends) > least else ends[:least:-1] + ends[least : least + 1]
        return next((end for e in choices if (end := go(e)) >= 0), -1) if len(ends) > least else -1

    def one(self, name: str, arg: Any, char: str) -> bool:
        if name == "LITERAL":
            return ord(char) == arg
        if name == "NOT_LITERAL":
            return ord(char) != arg
        if name == "ANY":
            return char != "\n"
        negated = str(arg[0][0]) == "NEGATE"
        hit = False
        for op, value in arg:
            kind = str(op)
            hit |= (
                (kind == "LITERAL" and ord(char) == value)
                or (kind == "RANGE" and value[0] <= ord(char) <= value[1])
                or (kind == "CATEGORY" and str(value) == "CATEGORY_WORD" and (char.isalnum() or char == "_"))
                or (kind == "CATEGORY" and str(value) == "CATEGORY_SPACE" and char.isspace())
            )
        return hit != negated


def steps(pattern: str, text: str) -> int:
    """Count the steps of finding every match, going on after each as `masked` does after one that is judged wrong."""
    import re._parser as parser

    items, matcher, at = list(parser.parse(pattern)), Steps(text), 0
    while at <= len(text):
        end = matcher.run(items, at, lambda e: e)
        at = max(end, at + 1)
    return matcher.count


HOSTILE = ["a", "1", "1 ", "a@", "a.", "a@b.", "+1", "1.", "::", "a:", "A1", "GB82", "GB82 ", "sk-", "/home/", "key=",
           "key ", "://a:", "-----BEGIN PRIVATE KEY-----", "01 ", "(555) ", "eyJ.", "f", "\\Users\\", "+1-",
           "ret:\"", "  "]  # fmt: skip


@pytest.mark.parametrize("place", range(len(PATTERNS)))
def test_steps_grow_in_proportion_to_the_length_of_hostile_texts(place: int) -> None:
    """The 200 characters after 200 cost no more than twice what the 100 after 100 did."""
    pattern = PATTERNS[place][0]
    for piece in HOSTILE:
        counts = [steps(pattern, (piece * 400)[:size]) for size in (100, 200, 400)]
        before = max(counts[1] - counts[0], counts[1] / 2)
        assert counts[2] - counts[1] <= 2.2 * before + 100, (pattern, piece, counts)


def test_the_counter_of_steps_sees_a_pattern_that_is_not_linear() -> None:
    counts = [steps(r"[a-z]+@", "a" * size) for size in (100, 200, 400)]
    assert counts[2] - counts[1] > 3.5 * (counts[1] - counts[0])


@given(st.text(alphabet="a1@.:/ +-GB8", max_size=30), st.sampled_from(range(len(PATTERNS))))
def test_the_counter_of_steps_matches_where_the_real_one_does(text: str, place: int) -> None:
    import re._parser as parser

    pattern = PATTERNS[place][0]
    for at in range(len(text)):
        found = re.compile(pattern).match(text, at)
        assert Steps(text).run(list(parser.parse(pattern)), at, lambda e: e) == (found.end() if found else -1)

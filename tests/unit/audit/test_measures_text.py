"""The measures of texts against slow, obvious twins, and what must not change them."""

from __future__ import annotations

import math
import random
import re
import unicodedata
import zlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.measure import all_measures, meanings
from firstbreak.audit.measures.text_gibberish import is_nonword
from firstbreak.audit.sample import Sample
from firstbreak.audit.seen import LONGEST, Seen, words_of

PIECES = [
    "the", "answer", "is", "42", "x1", "Straße", "déjà", "数学", "题目", "ответ", "です", "한국", "a", "b", "cat",
    "sat", "\n", "\n\n", "- ", "# ", "## Step", "1. ", "**", "```", "\\boxed{7}", "<answer>", "</answer>", "<think>",
    "?", ".", "…", "\u200b", "\x1b", "\ufffd", "😀", "|", "$", "_", "great question", "{", "}", "’", "\t",
]  # fmt: skip
NOISE = "".join(chr(random.Random(i).randrange(33, 123)) for i in range(1000))
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join) | st.text(max_size=120)


def measured(response: str, prompt: str = "", **more: object) -> dict[str, float]:
    seen = Seen(Sample(prompt, response, **more))  # type: ignore[arg-type]
    found: dict[str, float] = {}
    for one in all_measures():
        values = one.take(seen)
        found |= dict(zip(one.columns, values if values is not None else one.nothing, strict=True))
    return {name: float(value) for name, value in found.items()}


def same(a: float, b: float) -> bool:
    return a == pytest.approx(b, nan_ok=True)


def slow_words(text: str) -> list[str]:
    """Walk over the characters: one of a script without spaces is a word, others gather."""
    words, word = [], ""
    for c in text.lower():
        alone = any(lo <= ord(c) <= hi for lo, hi in ((0xE00, 0xE7F), (0x3040, 0x30FF), (0x3400, 0x4DBF),
                                                      (0x4E00, 0x9FFF), (0xF900, 0xFAFF)))  # fmt: skip
        if not alone and re.match(r"\w", c):
            word += c
            continue
        words += [word] * bool(word) + [c] * alone
        word = ""
    return words + [word] * bool(word)


def grams(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + 4]) for i in range(len(words) - 3)]


def longest(flags: list[bool]) -> int:
    best = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        best = max(best, run)
    return best


@given(TEXTS)
def test_words(text: str) -> None:
    assert words_of(text) == slow_words(text)


@settings(max_examples=150)
@given(TEXTS, TEXTS)
def test_repetition_and_copying(text: str, prompt: str) -> None:
    found, runs = measured(text, prompt), grams(slow_words(text))
    again = [run in runs[:i] for i, run in enumerate(runs)]
    assert same(found["text/repeated_frac"], sum(again) / len(runs) if runs else math.nan)
    assert found["text/longest_repeated_words"] == (longest(again) + 3 if any(again) else 0)
    asked = set(grams(slow_words(prompt)))
    taken = [run in asked for run in runs]
    if asked and runs:
        assert same(found["text/copied_frac"], sum(taken) / len(runs))
        assert found["text/longest_copied_words"] == (longest(taken) + 3 if any(taken) else 0)
    else:
        assert math.isnan(found["text/copied_frac"])


@pytest.mark.parametrize("text", ["again and again. " * 40, NOISE])
def test_compression_is_that_of_zlib(text: str) -> None:
    data = text.encode()
    assert measured(text)["text/compressed_frac"] == pytest.approx(
        (len(zlib.compress(data, 1)) - 6) / len(data), abs=0.02
    )


def test_what_the_prompt_holds_adds_no_bits() -> None:
    text = NOISE[:900]
    alone, copied = (measured(text, p)["text/new_bits_per_character"] for p in ("", text))
    assert copied < 0.3
    assert alone > 4


@given(TEXTS)
def test_density_of_words(text: str) -> None:
    head = slow_words(text)[:100]
    expected = len(Counter(head)) / len(head) if len(head) >= 20 else math.nan
    assert same(measured(text)["text/distinct_words_frac"], expected)


@given(TEXTS)
def test_formatting(text: str) -> None:
    found = measured(text)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    heads = [bool(re.match(r"#{1,6} ", line)) for line in lines]
    items = [bool(re.match(r"(?:[-*+•]|[0-9]{1,9}[.)]) ", line)) for line in lines]
    others = [line[0] in ">|" for line in lines]
    assert found["text/headings"] == sum(heads)
    assert found["text/bullets"] == sum(items)
    share = sum(map(any, zip(heads, items, others, strict=True))) / len(lines) if lines else 0.0
    assert same(found["text/markup_lines_frac"], share)
    assert found["text/boxed"] == len(re.findall(r"\\(?:boxed|fbox)\{", text))
    assert found["text/think_tags"] == len(re.findall(r"<think(?:ing)?>", text.lower()))


NAMES = {
    "LATIN": "Latin",
    "CJK": "Han",
    "HIRAGANA": "Kana",
    "KATAKANA": "Kana",
    "CYRILLIC": "Cyrillic",
    "HANGUL": "Hangul",
    "GREEK": "Greek",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "DEVANAGARI": "Indic",
}
LETTERS = "abz éßñ 数学题 ひカ чт 한국 αω مر אב ไท दक 12 .,!"


def scripts(text: str) -> Counter[str]:
    """By the Unicode names of the letters."""
    found: Counter[str] = Counter()
    for c in text:
        name = NAMES.get(unicodedata.name(c, "").split(" ")[0])
        if c.isalpha() and name is not None:
            found[name] += 1
    return found


@given(st.text(LETTERS, max_size=80), st.text(LETTERS, max_size=80))
def test_scripts(text: str, prompt: str) -> None:
    found, here, there = measured(text, prompt), scripts(text), scripts(prompt)
    total = here.total()
    assert found["text/scripts"] == sum(n >= 0.05 * total for n in here.values())
    assert same(found["text/main_script_frac"], max(here.values()) / total if total else math.nan)
    known = total and there.total() >= 10
    foreign = sum(n for name, n in here.items() if name not in there) / total if known else math.nan
    assert same(found["text/foreign_script_frac"], foreign)


ENGLISH = "We are to find the value of the sum that is asked for, and this can be done by the rule which we have. " * 2
GERMAN = (
    "Wir suchen den Wert der Summe, und das ist nicht schwer, denn es wird sich zeigen, dass die Zahl auf dem Blatt. "
    * 2
)
CHINESE = "我们需要求出这个和的值，这个问题并不难，因为我们可以使用公式来计算它的结果。" * 2


@pytest.mark.parametrize(
    ("prompt", "response", "other"),
    [
        (ENGLISH, ENGLISH, 0.0),
        (ENGLISH, GERMAN, 1.0),
        (ENGLISH, CHINESE, 1.0),
        (CHINESE, CHINESE, 0.0),
        (GERMAN, ENGLISH, 1.0),
        (ENGLISH, "x = 3 y + 4 z", math.nan),
        ("12 + 5", ENGLISH, math.nan),
    ],
)
def test_language(prompt: str, response: str, other: float) -> None:
    assert same(measured(response, prompt)["text/other_language"], other)


@given(TEXTS)
def test_hidden_characters(text: str) -> None:
    wanted = "\t\n\r\u200c\u200d\u00ad"
    hidden = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and c not in wanted]
    found = measured(text)
    assert found["text/hidden_characters"] == len(hidden)
    assert found["text/broken_characters"] == text.count("\ufffd")


@pytest.mark.parametrize("word", ["xkqzjw", "bcdfg", "a1b2c3", "x" * 31, "qwrtpsd"])
def test_no_language_spells_this(word: str) -> None:
    assert is_nonword(word)


@pytest.mark.parametrize("word", ["the", "rhythm", "strengths", "html", "x1", "2024", "数", "schlacht", "gpt4", "é"])
def test_these_may_be_words(word: str) -> None:
    assert not is_nonword(word)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
def test_symbols(text: str) -> None:
    visible = [c for c in text if c != " "]
    symbols = [c for c in visible if not c.isalnum() and c not in ".,;:!?'\"()-"]
    assert same(measured(text)["text/symbols_frac"], len(symbols) / len(visible) if visible else math.nan)
    wide = measured(text + "数")["text/symbols_frac"]  # the way of texts beyond ASCII must agree
    assert wide == pytest.approx(len(symbols) / (len(visible) + 1))


SPACED = ("text/characters", "text/new_bits_per_character", "text/compressed_frac", "text/characters_per_token")
"""Columns that white space at the ends may change."""


@settings(max_examples=60)
@given(TEXTS, st.sampled_from([" ", "\n", "\n\n ", "\t"]))
def test_white_space_at_the_ends_changes_nothing(text: str, space: str) -> None:
    plain, spaced = measured(text, "What is it?"), measured(space + text + space, "What is it?")
    assert {n for n in plain if n.startswith("text/") and not same(plain[n], spaced[n])} <= {*SPACED, "text/injections"}


@settings(max_examples=40)
@given(TEXTS)
def test_saying_it_twice(text: str) -> None:
    once, twice = measured(text), measured(f"{text}\n{text}")
    assert twice["text/words"] == 2 * once["text/words"]
    if once["text/words"] >= 4:
        assert twice["text/repeated_frac"] >= once["text/repeated_frac"]
        assert twice["text/longest_repeated_words"] >= once["text/words"]
    assert twice["text/distinct_answers"] == once["text/distinct_answers"]


def test_a_text_of_any_length_is_measured_at_its_ends() -> None:
    found = measured("word and word " * 200_000 + "\\boxed{3}")
    assert found["text/characters"] == 2_800_009
    assert found["text/words"] == pytest.approx(600_001, rel=0.01)
    assert found["text/boxed"] == 1
    assert len(Seen(Sample("", "x" * 10**6)).text) == LONGEST + 1


def test_surrogates_are_measured() -> None:
    assert measured("a\ud800b " * 20, "\udfff")["text/hidden_characters"] == 20


def test_every_column_has_a_meaning() -> None:
    assert all(meanings().values())
    assert all(re.fullmatch(r"(?:text|tokens|agent)/[a-z0-9_]+", name) for name in meanings())

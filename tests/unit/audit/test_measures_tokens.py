"""The measures of tokens: retokenisation, mask, lengths, log-probabilities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.measures.tokens import COLUMNS, tokens
from firstbreak.audit.sample import NAN, Sample, Tokens
from firstbreak.audit.seen import Seen


def measured(held: Tokens | None, length: float = NAN) -> dict[str, float]:
    values = tokens.take(Seen(Sample("p", "r", tokens=held, length_tokens=length)))
    return dict(zip(COLUMNS, values or tokens.nothing, strict=True))


IDS = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@given(IDS, IDS)
def test_retokenised(ids: list[int], again: list[int]) -> None:
    found = measured(Tokens(tuple(ids), retokenised=tuple(again)))
    size = max(len(ids), len(again))
    a, b = (x + [-1 - k] * (size - len(x)) for k, x in enumerate((ids, again)))
    differ = [i for i in range(size) if a[i] != b[i]]
    assert found["tokens/retokenised_frac"] == pytest.approx(len(differ) / size)
    first = found["tokens/retokenised_first"]
    assert first == differ[0] if differ else math.isnan(first)


@pytest.mark.parametrize("again", [(7, 8, 9), (1, 2, 7, 8, 9)])
def test_the_response_alone_may_be_encoded_again(again: tuple[int, ...]) -> None:
    assert measured(Tokens((1, 2, 7, 8, 9), 2, retokenised=again))["tokens/retokenised_frac"] == 0


@given(st.integers(0, 5), st.lists(st.integers(0, 1), min_size=6, max_size=20))
def test_mask(start: int, mask: list[int]) -> None:
    found = measured(Tokens(tuple(range(len(mask))), start, tuple(mask)))
    assert found["tokens/masked_response_frac"] == pytest.approx(mask[start:].count(0) / len(mask[start:]))
    expected = mask[:start].count(1) / start if start else NAN
    assert found["tokens/unmasked_prompt_frac"] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("held", "length", "wrong"),
    [
        (Tokens((1, 2, 3, 4), 2, (0, 0, 1, 1), (-0.1, -0.2)), 2, 0),
        (Tokens((1, 2, 3, 4), 2), 3, 0),
        (Tokens((1, 2, 3, 4), 2), 4, 1),
        (Tokens((1, 2, 3, 4), 2, (0, 0, 1)), NAN, 1),
        (Tokens((1, 2, 3, 4), 2, (), (-0.1, -0.1, -0.1)), NAN, 1),
        (Tokens((1, 2), 5), NAN, 1),
        (Tokens(), NAN, NAN),
    ],
)
def test_lengths(held: Tokens, length: float, wrong: float) -> None:
    assert measured(held, length)["tokens/lengths_disagree"] == pytest.approx(wrong, nan_ok=True)


def test_logprobs() -> None:
    found = measured(Tokens((1,), 0, (), (-0.5, -1.5, 0.0, 0.3, NAN, float("-inf"))))
    assert found["tokens/logprob_mean"] == pytest.approx((-0.5 - 1.5 + 0.3) / 4)
    assert found["tokens/logprob_min"] == -1.5
    assert found["tokens/logprob_impossible"] == 3
    assert found["tokens/logprob_zero_frac"] == pytest.approx(1 / 6)


def test_without_tokens_nothing_is_said() -> None:
    assert all(math.isnan(v) for v in measured(None).values())

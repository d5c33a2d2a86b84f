"""The tiny language model: what may see what, log-probs, values, and how tokens are drawn."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.trainers.language.model import TinyLM, fingerprint, state_values, token_scores
from firstbreak.trainers.language.sampling import Row, Sampling, collate, draw, write_all, write_one
from firstbreak.trainers.language.symbols import BOS, EOS, PAD, SIZE, SYMBOLS, decode, encode

from .subjects import random_rows, raw_model


def test_there_are_32_symbols_and_text_survives_them() -> None:
    assert SIZE == 32
    assert len(set(SYMBOLS)) == 32
    text = "".join(SYMBOLS[3:])
    assert decode([PAD, BOS, *encode(text), EOS]) == text


def test_the_default_model_has_some_60_000_weights() -> None:
    assert 50_000 < sum(weight.numel() for weight in TinyLM().parameters()) < 70_000


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_padding_on_either_side_gives_each_token_the_same_log_prob_entropy_and_value(seed: int) -> None:
    model, rows = raw_model(seed % 7, head=True), random_rows(seed)
    model.head.weight.data.normal_()
    left, right = (collate(rows, left=side) for side in (True, False))
    for score in (lambda b: torch.stack(token_scores(model, b["ids"], b["attention"], 0.7)).detach(),
                  lambda b: state_values(model, b["ids"], b["attention"]).detach()[None]):  # fmt: skip
        a, b = (score(batch)[:, batch["loss_mask"]] for batch in (left, right))
        assert torch.allclose(a, b, atol=1e-4)


def test_a_token_is_scored_by_what_comes_before_it_alone() -> None:
    model = raw_model(head=True)
    model.head.weight.data.normal_()
    ids = torch.tensor([[BOS, 5, 9, 20, 4, 7]])
    seen = torch.ones_like(ids, dtype=torch.bool)
    other = ids.clone()
    other[0, 4] = 11
    for score in (lambda i: token_scores(model, i, seen)[0], lambda i: state_values(model, i, seen)):
        a, b = score(ids).detach()[0], score(other).detach()[0]
        assert torch.allclose(a[:4], b[:4], atol=1e-6)
        assert abs(float(a[5] - b[5])) > 1e-4
    values = [state_values(model, i, seen).detach()[0] for i in (ids, other)]
    assert float(values[0][4]) == pytest.approx(float(values[1][4]), abs=1e-6)  # before the changed token


def test_log_probs_add_up_to_one_and_padding_and_bos_are_never_written() -> None:
    model = raw_model()
    ids = torch.tensor([[BOS, 5, 9]])
    logits = model(ids, torch.ones_like(ids, dtype=torch.bool))
    probs = logits.softmax(-1)
    assert probs.dtype == torch.float32
    assert torch.allclose(probs.sum(-1), torch.ones(1, 3), atol=1e-6)
    assert float(probs[..., [PAD, BOS]].detach().abs().max()) == 0.0
    entropy = token_scores(model, ids, torch.ones_like(ids, dtype=torch.bool))[1].detach()
    slow = -sum(float(p) * math.log(float(p)) for p in probs[0, 0].detach() if float(p) > 0)
    assert float(entropy[0, 1]) == pytest.approx(slow, rel=1e-4)
    assert bool(entropy.isfinite().all())


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_sampler_notes_the_log_prob_that_the_trainer_finds(temperature: float) -> None:
    model, draws = raw_model(), torch.Generator().manual_seed(1)
    rows = [Row((BOS, *encode("Cab>"[: 1 + i])), i) for i in range(4) for _ in range(3)]
    write_all(model, rows, Sampling(temperature, max_new_tokens=6), draws)
    batch = collate(rows)
    found = token_scores(model, batch["ids"], batch["attention"], temperature)[0].detach()
    own = batch["loss_mask"]
    assert torch.allclose(found[own], batch["sampler_log_prob"][own], atol=1e-5)


def test_a_nucleus_keeps_the_fewest_tokens_that_reach_the_mass() -> None:
    probs = torch.tensor([0.5, 0.25, 0.15, 0.1])
    draws = torch.Generator().manual_seed(0)
    tokens, log_probs = draw(probs.log().expand(2000, 4), Sampling(top_p=0.6), draws)
    assert set(tokens.tolist()) == {0, 1}
    shares = {int(t): float(p) for t, p in zip(tokens, log_probs.exp(), strict=True)}
    assert shares == pytest.approx({0: 2 / 3, 1: 1 / 3}, abs=1e-6)
    whole, _ = draw(probs.log().expand(2000, 4), Sampling(), draws)
    assert set(whole.tolist()) == {0, 1, 2, 3}


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), longest=st.integers(1, 12))
def test_a_row_ends_with_eos_or_is_stopped_at_its_longest(seed: int, longest: int) -> None:
    rows = [Row((BOS, 20)) for _ in range(8)]
    write_all(raw_model(), rows, Sampling(max_new_tokens=longest), torch.Generator().manual_seed(seed), version=3)
    for row in rows:
        assert row.ended == (row.tokens[-1] == EOS)
        assert row.ended != row.stopped
        assert EOS not in row.tokens[:-1]
        assert len(row.tokens) <= longest
        assert row.ended or len(row.tokens) == longest
        assert row.versions == [3] * len(row.tokens)


def test_new_weights_take_effect_at_the_next_token() -> None:
    first, second = raw_model(0), raw_model(5)
    row = Row((BOS, 20, 7))
    for version, model in ((0, first), (0, first), (1, second)):
        write_one(model, [row], Sampling(max_new_tokens=9), torch.Generator().manual_seed(version), version)
    batch = collate([row])
    (a, _), (b, _) = (token_scores(model, batch["ids"], batch["attention"]) for model in (first, second))
    mixed = torch.cat([a[0, 3:5], b[0, 5:6]]).detach()
    assert torch.allclose(mixed, torch.tensor(row.log_probs), atol=1e-5)
    assert row.versions == [0, 0, 1]


def test_a_fingerprint_is_of_the_weights() -> None:
    one, same, other = raw_model(0), raw_model(0), raw_model(1)
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)
    same.tokens.weight.data[5, 5] += 1e-6
    assert fingerprint(one) != fingerprint(same) < 2**48

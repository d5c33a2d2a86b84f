"""The tap against slow twins: weights put in come out, log-probs are those of a plain forward pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.preflight.tokens.api import inspect_tokens
from firstbreak.preflight.tokens.bench import TokenBench
from firstbreak.preflight.tokens.sequences import gae
from firstbreak.preflight.tokens.truth import truth_of
from firstbreak.preflight.tokens.weights import fit, gradient_of, own_truth, some_rows
from tests.probes.token_reference import Grpo
from tests.probes.token_reference_ppo import Ppo

torch.set_num_threads(1)
TRAINER = Grpo(seed=2)
BENCH = TokenBench(TRAINER.token_pieces(), 2)


@given(seed=st.integers(0, 10_000), left=st.booleans())
@settings(max_examples=10, deadline=None)
def test_any_weights_of_log_probs_are_read_back(seed: int, left: bool) -> None:
    """The loss sum(w log p) on the rows as they are, or reversed and in two parts: w is what comes out."""
    batch = BENCH.once(some_rows)
    w = torch.randn(batch["input_ids"].shape, generator=torch.Generator().manual_seed(seed)) * batch["loss_mask"]

    def loss(given_batch: Any) -> Any:
        if left:
            return (w * TRAINER.logprobs(given_batch)).sum()
        order = torch.arange(len(w)).flip(0)
        parts = [order[:3], order[3:]]
        return sum((w[p] * TRAINER.logprobs({k: v[p] for k, v in given_batch.items()})).sum() for p in parts)

    bench = TokenBench(TRAINER.token_pieces(), 2)
    bench.pieces.loss = loss
    found = fit(gradient_of(bench, batch), BENCH.once(own_truth).pull, batch["roles"], torch.zeros(len(w)))
    assert torch.allclose(found.weight, w, atol=1e-4)
    assert found.rest_frac < 1e-3


@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.6])
def test_truth_is_log_softmax_of_a_plain_padded_forward_pass(temperature: float) -> None:
    batch = BENCH.once(some_rows)
    with torch.no_grad():
        logits = TRAINER.model(batch["input_ids"], batch["attention_mask"])
    for row in range(len(logits)):
        for t in range(1, logits.shape[1]):
            if batch["attention_mask"][row, t] and batch["attention_mask"][row, t - 1]:
                scores = (logits[row, t - 1] / temperature).log_softmax(-1)
                found = truth_of(TRAINER.token_pieces(), batch, temperature).logprobs if t == 1 else None
                expected = float(scores[batch["input_ids"][row, t]])
                table = found if found is not None else _table(temperature)
                assert float(table[row, t]) == pytest.approx(expected, abs=1e-4)


TABLES: dict[float, Any] = {}


def _table(temperature: float) -> Any:
    if temperature not in TABLES:
        TABLES[temperature] = truth_of(TRAINER.token_pieces(), BENCH.once(some_rows), temperature).logprobs
    return TABLES[temperature]


def test_gae_by_definition_is_the_sum_of_discounted_errors() -> None:
    """The twin: sum over k of (gamma lambda)^k delta, each delta from the next trained token."""
    bench = TokenBench(Ppo(seed=3).token_pieces(), 3)
    found = bench.once(gae)
    assert found.expected is not None
    draw = torch.Generator().manual_seed(3)
    rewards, values = (torch.randn(found.mask.shape, generator=draw) * found.mask for _ in range(2))
    for row in range(len(found.mask)):
        columns = found.mask[row].nonzero().flatten().tolist()
        for i, t in enumerate(columns):
            total = 0.0
            for k, u in enumerate(columns[i:]):
                following = float(values[row, columns[i + k + 1]]) if i + k + 1 < len(columns) else 0.0
                total += 0.95**k * (float(rewards[row, u]) + following - float(values[row, u]))
            assert float(found.expected[row, t]) == pytest.approx(total, abs=1e-4)


def test_what_is_no_trainer_is_refused() -> None:
    with pytest.raises(InputError, match="not a trainer of language models"):
        inspect_tokens(3)
    with pytest.raises(InputError, match="returned nothing"):
        inspect_tokens(lambda: None)

"""The tokens that a model is asked with held against those of the prompts that are trained."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.parts.trl.prefill import METRIC, Prefill, unlike
from firstbreak.monitor.core import Monitor

PAD = 0
ROWS = [[5, 6], [7], [8, 9, 4]]


class Model(torch.nn.Module):
    def forward(self, **_: Any) -> torch.Tensor:
        return torch.zeros(1)


def padded(rows: list[list[int]], *, left: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and mask [B, P] of rows."""
    wide = max(map(len, rows))
    gaps = [[PAD] * (wide - len(row)) for row in rows]
    ids = [gap + row if left else row + gap for gap, row in zip(gaps, rows, strict=True)]
    mask = [
        [0] * len(gap) + [1] * len(row) if left else [1] * len(row) + [0] * len(gap)
        for gap, row in zip(gaps, rows, strict=True)
    ]
    return torch.tensor(ids), torch.tensor(mask)


def batch(rows: list[list[int]] = ROWS) -> dict[str, torch.Tensor]:
    ids, mask = padded(rows)
    return {"prompt_ids": ids, "prompt_mask": mask}


def asked(prefill: Prefill, ids: Any, mask: Any, found: dict[str, Any] | None = None) -> dict[str, float]:
    with prefill.watched():
        prefill.trainer.model(input_ids=ids, attention_mask=mask)
        prefill.trainer.model(input_ids=ids[:, -1:], attention_mask=None)  # the pass of the first token that is drawn
    return prefill.end(batch() if found is None else found)


def of(**more: Any) -> Prefill:
    return Prefill(SimpleNamespace(model=Model(), **more), Monitor(None))


def test_as_it_should_be_with_padding_on_either_side() -> None:
    prefill = of()
    assert asked(prefill, *padded(ROWS)) == {METRIC: 0.0}
    assert asked(prefill, *padded(ROWS, left=False)) == {METRIC: 0.0}
    assert not prefill.trainer.model._forward_pre_hooks


def test_padding_that_the_model_sees_tokens_cut_off_and_rows_of_others_show() -> None:
    prefill = of()
    ids, mask = padded(ROWS)
    asked(prefill, ids, mask)
    more = torch.zeros(3, 2, dtype=torch.long)
    seen, unseen = torch.cat([mask, more + 1], 1), torch.cat([mask, more], 1)
    assert asked(prefill, torch.cat([ids, more], 1), seen) == {METRIC: 1.0}
    assert asked(prefill, torch.cat([ids, more], 1), unseen) == {METRIC: 0.0}
    assert asked(prefill, ids[:, :-1], mask[:, :-1]) == {METRIC: 1.0}
    assert asked(prefill, ids[[1, 0, 2]], mask[[1, 0, 2]]) == {METRIC: pytest.approx(2 / 3)}
    assert asked(prefill, ids, torch.ones_like(mask)) == {METRIC: pytest.approx(2 / 3)}


def test_no_mask_means_that_all_tokens_are_seen() -> None:
    prefill, even = of(), [[5, 6], [7, 8]]
    assert asked(prefill, padded(even)[0], None, batch(even)) == {METRIC: 0.0}
    assert asked(prefill, padded(ROWS)[0], None) == {METRIC: pytest.approx(2 / 3)}


def test_where_it_never_held_nothing_is_said() -> None:
    prefill = of()
    ids, mask = padded(ROWS)
    assert asked(prefill, ids + 1, mask) == {}
    assert asked(prefill, ids, mask) == {}


@pytest.mark.parametrize("setting", ["use_vllm", "rollout_func", "tools"])
def test_nothing_is_said_where_others_ask(setting: str) -> None:
    assert asked(of(**{setting: True}), *padded(ROWS)) == {}


def test_nothing_is_said_of_passes_that_are_not_one_row_a_prompt() -> None:
    prefill = of()
    ids, mask = padded(ROWS)
    assert asked(prefill, ids[:2], mask[:2]) == {}
    assert asked(prefill, ids.float()[..., None], mask) == {}
    assert asked(prefill, ids, mask[:, None, None, :]) == {}
    assert asked(prefill, *padded(ROWS), {**batch(), "tool_mask": mask}) == {}
    assert prefill.end(batch()) == {}
    assert prefill.monitor.faults == []


row = st.lists(st.integers(1, 3), min_size=1, max_size=3)


@given(st.lists(st.tuples(row, row), min_size=1, max_size=4))
def test_the_share_is_that_of_the_rows_that_differ(pairs: list[tuple[list[int], list[int]]]) -> None:
    given_rows, trained = [one for one, _ in pairs], [other for _, other in pairs]
    slow = sum(one != other for one, other in pairs) / len(pairs)
    assert unlike(*padded(given_rows, left=False), *padded(trained)) == pytest.approx(slow)
    assert unlike(*padded(given_rows), *padded(trained)) == pytest.approx(slow)

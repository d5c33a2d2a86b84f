"""What every function must do with any input: types, shapes, masks, gradients, nothing, one row, NaN."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from tests.unit.monitor.tensors.calls import CALLS, Call, numbers

torch.set_num_threads(1)
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
fast = settings(deadline=None, max_examples=15)


def same(found: dict[str, float], expected: dict[str, float], rel: float = 1e-4) -> None:
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value == pytest.approx(expected[name], rel=rel, abs=rel, nan_ok=True), name


@every
def test_measures_are_single_numbers_without_a_graph(call: Call) -> None:
    inputs = {n: x.requires_grad_() for n, x in call.inputs(8).items()}
    measures = call(inputs)
    assert measures
    for name, value in measures.items():
        assert isinstance(value, torch.Tensor), name
        assert value.shape == (), name
        assert value.dtype is torch.float32, name
        assert value.grad_fn is None, name
        assert not value.requires_grad, name


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_every_type_is_taken_and_computed_in_float32_or_better(call: Call, dtype: torch.dtype) -> None:
    inputs = call.inputs(64, dtype)
    wide = {n: x.float() for n, x in inputs.items()}
    if dtype is torch.int64:
        inputs, wide = ({n: x.clamp(min=1) if n.endswith("std") else x for n, x in i.items()} for i in (inputs, wide))
    assert all(value.dtype.itemsize >= 4 for value in call(inputs).values())
    same(numbers(call(inputs)), numbers(call(wide)), 1e-3)


@every
def test_halves_do_not_overflow(call: Call) -> None:
    inputs = {n: torch.full_like(x, 3.0) if n.endswith("std") else 300 * x.sign() for n, x in call.inputs(64).items()}
    halves = {n: x.half() for n, x in inputs.items()}
    same(numbers(call(halves)), numbers(call(inputs)), 1e-3)


@every
def test_a_mask_is_as_if_the_rows_were_not_there_whatever_they_hold(call: Call) -> None:
    @fast
    @given(st.lists(st.booleans(), min_size=2, max_size=30).filter(any), st.sampled_from([math.nan, math.inf, 1e30]))
    def check(kept: list[bool], filler: float) -> None:
        kept = kept * 2 if call is CALLS["group_spread"] else kept
        if call is CALLS["group_spread"]:
            kept = [k for k in kept[: len(kept) // 2] for _ in range(2)]
        keep = torch.tensor(kept)
        inputs = call.inputs(len(kept))
        spoilt = {n: torch.where(keep if x.dim() == 1 else keep.unsqueeze(-1), x, filler) for n, x in inputs.items()}
        same(numbers(call(spoilt, keep)), numbers(call({n: x[keep] for n, x in inputs.items()})))

    check()


@every
def test_a_mask_of_ones_changes_nothing_in_any_type(call: Call) -> None:
    inputs = call.inputs(32)
    for dtype in (torch.bool, torch.int64, torch.float32, torch.bfloat16):
        same(numbers(call(inputs, torch.ones(32, dtype=dtype))), numbers(call(inputs)))


@every
def test_nothing_gives_nan_not_zero_and_no_error(call: Call) -> None:
    empty = numbers(call(call.inputs(0)))
    assert all(math.isnan(value) for value in empty.values()), empty
    masked = numbers(call(call.inputs(6), torch.zeros(6, dtype=torch.bool)))
    unknown = {n: v for n, v in masked.items() if n != "policy/logit_abs_max"}
    assert all(math.isnan(value) for value in unknown.values()), masked


@every
def test_one_row_and_equal_rows_give_no_infinity(call: Call) -> None:
    for size in (2,) if call is CALLS["group_spread"] else (1, 2):
        inputs = {n: x[:1].expand(size, *x.shape[1:]) for n, x in call.inputs(size).items()}
        for name, value in numbers(call(inputs)).items():
            assert not math.isinf(value), name


@every
def test_a_nan_shows(call: Call) -> None:
    for name, x in call.inputs(16).items():
        if name in {"actions", "allowed", "gains"} and call is not CALLS["action_statistics"]:
            continue  # indices and flags have no NaN; of these advantages only the sign is asked
        spoilt = call.inputs(16)
        spoilt[name] = x.clone()
        spoilt[name].view(-1)[3] = math.nan
        assert any(math.isnan(value) for value in numbers(call(spoilt)).values()), name


@every
def test_sequences_are_counted_token_by_token(call: Call) -> None:
    inputs = call.inputs(24)
    shaped = {n: x.reshape(4, 6, *x.shape[1:]) for n, x in inputs.items()}
    if call is CALLS["group_spread"]:
        return
    keep = torch.rand(4, 6) > 0.3
    same(numbers(call(shaped)), numbers(call(inputs)))
    same(numbers(call(shaped, keep)), numbers(call(inputs, keep.reshape(-1))))


@pytest.mark.parametrize("name", [n for n, call in CALLS.items() if len(call.rows) + len(call.wide) > 1])
def test_a_column_beside_a_row_is_refused_not_broadcast(name: str) -> None:
    call = CALLS[name]
    inputs = call.inputs(8)
    for wrong in inputs:
        shaped = inputs | {wrong: inputs[wrong].unsqueeze(1)}
        with pytest.raises(InputError, match="shape") as seen:
            call(shaped)
        assert isinstance(seen.value, ValueError)


@every
def test_a_mask_of_another_shape_is_refused(call: Call) -> None:
    with pytest.raises((InputError, RuntimeError), match=r"shape|expand"):
        call(call.inputs(8), torch.ones(8, 1, 1))
    if call is not CALLS["logit_extremes"]:
        with pytest.raises(InputError, match="shape"):
            call(call.inputs(8), torch.ones(4))


def test_what_is_no_tensor_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="returns is a list"):
        CALLS["value_fit"]({"values": torch.ones(3), "returns": [1.0, 2.0, 3.0]})  # pyright: ignore

"""Equal weights, equal fingerprint; any other, another: whatever the order, the wrapping and the library."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.monitor.settling import fingerprint
from firstbreak.monitor.settling.weights import KEPT_VALUES, SAMPLE_ITEMS, unwrapped

torch.set_num_threads(1)


def weights(seed: int = 0, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    shapes = {"a.weight": (7, 5), "a.bias": (7,), "b.weight": (3, 7), "scale": ()}
    return {name: torch.randn(shape, generator=random).to(dtype) for name, shape in shapes.items()}


@given(st.permutations(list(weights())), st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]))
def test_the_order_does_not_matter(order: list[str], dtype: torch.dtype) -> None:
    found = weights(dtype=dtype)
    assert fingerprint([(name, found[name]) for name in order]) == fingerprint(found)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8", "bool", "complex64"])
def test_arrays_and_tensors_give_the_same(dtype: str) -> None:
    values = np.random.default_rng(0).normal(size=(40, 30)) * 50
    array = (values > 0 if dtype == "bool" else np.abs(values) if dtype == "uint8" else values).astype(dtype)
    assert fingerprint({"w": array}) == fingerprint({"w": torch.from_numpy(array)})


def test_large_arrays_and_tensors_give_the_same() -> None:
    array = np.random.default_rng(0).normal(size=(700, 600)).astype(np.float32)
    assert array.size > SAMPLE_ITEMS
    found = fingerprint({"w": array})
    assert found == fingerprint({"w": torch.from_numpy(array)})
    assert len(found.tensors["w"].values) == KEPT_VALUES


@given(st.sampled_from(list(weights())), st.integers(0, 10_000), st.sampled_from([1e-6, 1.0, float("nan")]))
def test_any_change_of_a_small_tensor_shows(name: str, place: int, by: float) -> None:
    changed = {k: v.clone() for k, v in weights().items()}
    flat = changed[name].reshape(-1)
    flat[place % flat.numel()] += by
    before, after = fingerprint(weights()), fingerprint(changed)
    assert before.number != after.number
    assert [k for k in changed if before.tensors[k].digest != after.tensors[k].digest] == [name]


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.flip(0),
        lambda w: w[torch.randperm(len(w), generator=torch.Generator().manual_seed(0))],
        lambda w: w * (1 + 1e-6),
        lambda w: torch.cat([w[: 7 * len(w) // 8], torch.zeros_like(w[7 * len(w) // 8 :])]),
        lambda w: torch.cat([w[:-1], w[-1:]]) + torch.where(torch.arange(len(w)) % 2 == 0, 1e-3, -1e-3),
    ],
    ids=["reversed", "shuffled", "scaled", "one shard of eight lost", "changes that cancel"],
)
def test_a_large_tensor_is_sampled_and_what_syncs_do_to_it_still_shows(change: Any) -> None:
    large = torch.randn(300_000, generator=torch.Generator().manual_seed(1))
    assert fingerprint({"w": large}).number != fingerprint({"w": change(large)}).number


def test_names_types_and_shapes_count() -> None:
    base = torch.zeros(4)
    numbers = {
        fingerprint(w).number
        for w in ({"a": base}, {"b": base}, {"a": base.double()}, {"a": base.reshape(2, 2)}, {"a": base, "b": base})
    }
    assert len(numbers) == 5


def test_minus_zero_is_zero() -> None:
    assert fingerprint({"a": torch.tensor([-0.0, 1.0])}) == fingerprint({"a": torch.tensor([0.0, 1.0])})


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_cast_to_the_other_sides_type_the_two_sides_agree(dtype: torch.dtype) -> None:
    learner = weights()
    sampler = {name: w.to(dtype) for name, w in learner.items()}
    theirs = fingerprint(sampler)
    assert fingerprint(learner).number != theirs.number
    assert fingerprint(learner, as_type=str(dtype).removeprefix("torch.")).number == theirs.number
    assert fingerprint(learner, as_type=theirs.types).number == theirs.number


def test_wrappers_leave_no_trace() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    plain = fingerprint(model)
    assert fingerprint(torch.nn.DataParallel(model)) == plain
    assert fingerprint({f"module._orig_mod.{k}": v for k, v in model.state_dict().items()}) == plain
    assert unwrapped("layers.0._fsdp_wrapped_module.w") == "layers.0.w"
    assert unwrapped("submodule.w") == "submodule.w"


def test_it_travels_and_says_what_is_not_finite() -> None:
    found = fingerprint({"a": torch.tensor([1.0, float("inf")])})
    assert not found.finite
    assert pickle.loads(pickle.dumps(found)) == found
    assert len(found.text) == 12
    assert int(found.text, 16) == int(found.number) < 2**48


@pytest.mark.parametrize("nothing", [{}, {"a": 1.0}, torch.nn.Identity()])
def test_nothing_is_refused(nothing: Any) -> None:
    with pytest.raises(InputError, match="no weights"):
        fingerprint(nothing)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="no type"):
        fingerprint(weights(), as_type="bfloat17")
    with pytest.raises(InputError, match="Two tensors"):
        fingerprint({"a": torch.ones(1), "module.a": torch.ones(1)})


def test_empty_tensors_and_views_are_no_trouble() -> None:
    table = torch.arange(12.0).reshape(3, 4)
    assert fingerprint({"a": table.t()}) == fingerprint({"a": table.t().contiguous()})
    assert fingerprint({"a": torch.zeros(0, 3)}).finite

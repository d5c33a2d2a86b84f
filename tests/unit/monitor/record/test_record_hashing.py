"""Hashes of batches and weights: equal content agrees whatever holds it, any change shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tensordict import TensorDict

from firstbreak.monitor.record import fingerprint, parameter_hash

torch.set_num_threads(1)

NUMPY = [np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.uint8, np.bool_, np.complex64]


@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("size", [0, 7, 50_000])
def test_an_array_and_a_tensor_of_the_same_content_agree(dtype: Any, size: int) -> None:
    array = np.random.default_rng(0).integers(0, 100, size).astype(dtype)
    assert fingerprint({"x": array}) == fingerprint({"x": torch.as_tensor(array)})


@given(
    array=hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, max_dims=3, max_side=4)),
    order=st.sampled_from("CF"),
)
def test_the_layout_in_memory_does_not_matter(array: Any, order: Any) -> None:
    wide = np.repeat(array[..., None], 2, axis=-1)[..., 0]  # a view with strides
    assert fingerprint(array) == fingerprint(np.array(array, order=order)) == fingerprint(wide)


@pytest.mark.parametrize("size", [10, 20_000, 1_000_000])
def test_one_changed_number_anywhere_shows(size: int) -> None:
    rng = np.random.default_rng(size)
    array = rng.standard_normal(size).astype(np.float32)
    before = fingerprint(array)
    for place in rng.integers(0, size, 5):
        changed = array.copy()
        changed[place] = np.nextafter(changed[place], np.float32(np.inf))
        assert fingerprint(changed) != before


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_rearranged_rows_show(size: int) -> None:
    array = np.random.default_rng(0).standard_normal(size)
    assert fingerprint(array[::-1]) != fingerprint(array)


def test_shape_type_and_name_matter() -> None:
    x = np.zeros(6, np.float32)
    others = [x.reshape(2, 3), x.astype(np.float64), x.view(np.int32), {"x": x}, {"y": x}, [x], [x, x], 0.0, None]
    assert len({fingerprint(other) for other in [x, *others]}) == len(others) + 1


@dataclass
class Batch:
    obs: Any
    reward: Any


def test_containers_agree_whatever_their_order() -> None:
    obs, reward = torch.arange(12.0).reshape(4, 3), torch.ones(4)
    forth = {"obs": obs, "next": {"reward": reward, "n": 1}}
    back = {"next": {"n": 1, "reward": reward}, "obs": obs.numpy()}
    assert fingerprint(forth) == fingerprint(back)
    assert fingerprint(Batch(obs, reward)) == fingerprint({"reward": reward, "obs": obs})
    table = TensorDict({"obs": obs, "next": {"reward": reward}}, [4])
    assert fingerprint(table) == fingerprint(table.to_dict()) == fingerprint(table.clone())
    assert fingerprint((obs, reward)) == fingerprint([obs, reward]) != fingerprint([reward, obs])


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(batch=NESTED)
def test_anything_has_a_fingerprint_and_it_is_stable(batch: Any) -> None:
    assert fingerprint(batch) == fingerprint(batch)
    assert len(fingerprint(batch)) == 16


def test_texts_objects_and_endless_nesting_are_hashed_too() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert fingerprint(endless) == fingerprint(endless)
    assert fingerprint(np.array(["a", "b"])) != fingerprint(np.array(["a", "c"]))
    assert fingerprint(np.array([1, "x", None], dtype=object)) == fingerprint([1, "x", None])
    assert fingerprint(torch.ones(3, dtype=torch.bfloat16)) != fingerprint(torch.zeros(3, dtype=torch.bfloat16))


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 2))


def test_weights_agree_across_copies_and_containers() -> None:
    one, two = model(), model()
    weights = dict(two.named_parameters())
    assert parameter_hash(one) == parameter_hash(weights) == parameter_hash(dict(reversed(weights.items())))
    assert parameter_hash({k: v.detach().numpy() for k, v in weights.items()}) == parameter_hash(one)


def test_a_hash_of_weights_is_a_whole_number_that_a_log_keeps_exactly() -> None:
    found = parameter_hash(model())
    assert found == int(found)
    assert 0 <= found < 2**48
    assert float(f"{found:.17g}") == found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_one_bit_of_one_weight_shows(dtype: torch.dtype) -> None:
    one, two = model().to(dtype), model().to(dtype)
    assert parameter_hash(one) == parameter_hash(two)
    with torch.no_grad():
        bias = two[2].bias
        bias[1] = torch.nextafter(bias[1].float(), torch.tensor(torch.inf)).to(dtype) + (dtype != torch.float32) * 0.01
    assert parameter_hash(one) != parameter_hash(two)


def test_the_same_number_under_another_name_or_shape_is_another_model() -> None:
    x = torch.ones(4)
    assert len({parameter_hash(p) for p in ({"a": x}, {"b": x}, [x], {"a": x.reshape(2, 2)}, {"a": x.double()})}) == 5


def test_nothing_is_a_model_too() -> None:
    assert parameter_hash([]) == parameter_hash({})

"""Distributions and actions against `torch.distributions`, numpy and plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.distributions import Categorical, Independent, Normal, Uniform, kl_divergence

from firstbreak.errors import InputError
from firstbreak.monitor import tensors as t
from tests.unit.monitor.tensors.calls import numbers

torch.set_num_threads(1)
fast = settings(deadline=None, max_examples=40)
tables = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, (3, *shape), elements=st.floats(-4, 4))
)


@fast
@given(tables)
def test_categorical_kl_and_entropy(table: np.ndarray) -> None:
    old, new, _ = torch.tensor(table)
    p, q = Categorical(logits=old), Categorical(logits=new)
    kl = kl_divergence(p, q)
    found = numbers(t.categorical_kl(old, new) | t.categorical_entropy(new))
    assert found["policy/kl_old"] == pytest.approx(float(kl.mean()), abs=1e-9)
    assert found["policy/kl_max"] == pytest.approx(float(kl.max()), abs=1e-9)
    assert found["policy/entropy"] == pytest.approx(float(q.entropy().mean()), abs=1e-9)
    if table.shape[-1] > 1:
        assert found["policy/entropy_frac"] == pytest.approx(float(q.entropy().mean()) / math.log(table.shape[-1]))
    else:
        assert math.isnan(found["policy/entropy_frac"])


def test_masked_actions_do_not_count_as_choices() -> None:
    logits = torch.tensor([[0.0, 0.0, -math.inf, -math.inf], [0.0, 0.0, 0.0, 0.0]])
    found = numbers(t.categorical_entropy(logits) | t.categorical_kl(logits, logits))
    assert found["policy/entropy"] == pytest.approx((math.log(2) + math.log(4)) / 2)
    assert found["policy/entropy_frac"] == pytest.approx(1)
    assert found["policy/kl_old"] == 0
    assert numbers(t.categorical_kl(torch.zeros_like(logits), logits))["policy/kl_max"] == math.inf
    assert numbers(t.categorical_kl(logits, torch.zeros_like(logits)))["policy/kl_max"] == pytest.approx(math.log(2))


@fast
@given(tables)
def test_gaussian_kl_and_spread(table: np.ndarray) -> None:
    first, second, third = torch.tensor(table)
    s0, s1 = third.exp(), (third * 0.5).exp()
    old, new = (Independent(Normal(m, s), 1) for m, s in ((first, s0), (second, s1)))
    kl = kl_divergence(old, new)
    found = numbers(t.gaussian_kl(first, s0, second, s1))
    assert found["policy/kl_old"] == pytest.approx(float(kl.mean()), rel=1e-6, abs=1e-9)
    assert found["policy/kl_max"] == pytest.approx(float(kl.max()), rel=1e-6, abs=1e-9)
    low, high = torch.arange(table.shape[2]).double() - 2, torch.arange(table.shape[2]).double() + 3
    spread = numbers(t.gaussian_spread(s1, low, high))
    assert spread["policy/entropy"] == pytest.approx(float(new.entropy().mean()), rel=1e-6, abs=1e-9)
    assert spread["policy/action_std"] == pytest.approx(float(s1.mean()))
    assert spread["policy/action_std_min"] == pytest.approx(float(s1.min()))
    assert spread["policy/action_std_max"] == pytest.approx(float(s1.max()))
    assert spread["policy/action_std_range_frac"] == pytest.approx(float(s1.mean()) / 5)
    gap = float((Normal(first, s1).entropy() - Uniform(low, high).entropy()).mean())
    assert spread["policy/entropy_to_uniform"] == pytest.approx(gap, rel=1e-6, abs=1e-9)


def test_one_std_for_all_states_may_be_a_row() -> None:
    mean, std = torch.randn(6, 2), torch.tensor([0.5, 2.0])
    rows = std.expand(6, 2).contiguous()
    assert numbers(t.gaussian_kl(mean, std, mean + 1, std)) == numbers(t.gaussian_kl(mean, rows, mean + 1, rows))
    assert numbers(t.gaussian_spread(std, -1, 1)) == pytest.approx(numbers(t.gaussian_spread(rows, -1, 1)))


def test_action_units_drop_out_of_the_normalised_entropy() -> None:
    std = torch.tensor([0.3, 0.7])
    one = numbers(t.gaussian_spread(std, -1.0, 1.0))
    many = numbers(t.gaussian_spread(100 * std, -100.0, 100.0))
    for name in ("policy/entropy_to_uniform", "policy/action_std_range_frac"):
        assert many[name] == pytest.approx(one[name], rel=1e-5)
    assert many["policy/entropy"] > one["policy/entropy"] + 9


@fast
@given(arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 20)), elements=st.floats(-1.2, 1.2)))
def test_actions_dimension_by_dimension(table: np.ndarray) -> None:
    width = table.shape[1]
    low, high = torch.full((width,), -1.0), torch.full((width,), 1.0)
    found = numbers(t.action_statistics(torch.tensor(table), low, high))
    saturated = (np.abs(table) >= 1 - 0.02 + 1e-12) | (np.abs(np.abs(table) - 0.98) < 1e-12)
    assert found["policy/saturation_frac"] == pytest.approx(saturated.mean(), abs=1e-6)
    assert found["policy/action_spread_min"] == pytest.approx(table.std(0).min(), abs=1e-6)
    assert found["policy/action_spread_max"] == pytest.approx(table.std(0).max(), abs=1e-6)
    assert f"policy/action_mean/{min(width, 16) - 1}" in found
    assert "policy/action_mean/16" not in found
    for i in range(min(width, 16)):
        assert found[f"policy/action_mean/{i}"] == pytest.approx(table[:, i].mean(), abs=1e-6)
        assert found[f"policy/action_spread/{i}"] == pytest.approx(table[:, i].std(), abs=1e-6)
        assert found[f"policy/saturation_frac/{i}"] == pytest.approx(saturated[:, i].mean(), abs=1e-6)


def test_two_percent_of_uniform_actions_are_saturated_and_unbounded_dimensions_never() -> None:
    actions = torch.rand(50_000, 2, generator=torch.Generator().manual_seed(0)) * 6 - 2
    found = numbers(t.action_statistics(actions, -2.0, 4.0))
    assert found["policy/saturation_frac"] == pytest.approx(0.02, abs=0.002)
    for low, high in ((-2.0, math.inf), (-math.inf, 4.0), (-math.inf, math.inf)):
        bounds = torch.tensor([low, -2.0]), torch.tensor([high, 4.0])
        found = numbers(t.action_statistics(actions, *bounds))
        assert found["policy/saturation_frac/0"] == 0
        assert found["policy/saturation_frac/1"] > 0.01
        assert numbers(t.action_statistics(actions, low, high))["policy/saturation_frac"] == 0


def test_dimensions_without_bounds_are_left_out_of_what_is_measured_by_the_range() -> None:
    std = torch.tensor([[0.5, 3.0], [0.7, 4.0]])
    found = numbers(t.gaussian_spread(std, torch.tensor([-1.0, -math.inf]), torch.tensor([1.0, math.inf])))
    alone = numbers(t.gaussian_spread(std[:, :1], -1.0, 1.0))
    for name in ("policy/entropy_to_uniform", "policy/action_std_range_frac"):
        assert found[name] == pytest.approx(alone[name])
        assert math.isnan(numbers(t.gaussian_spread(std, -math.inf, math.inf))[name])


def test_half_a_range_and_bounds_that_do_not_fit_are_refused() -> None:
    std, actions = torch.ones(3), torch.zeros(5, 3)
    for call in (t.gaussian_spread, t.action_statistics):
        with pytest.raises(InputError, match="One bound"):
            call(actions, -1.0)
        with pytest.raises(InputError, match="low has shape"):
            call(actions, torch.zeros(2), 1.0)
        with pytest.raises(InputError, match="low is on meta"):
            call(actions, torch.zeros(3, device="meta"), 1.0)
    with pytest.raises(InputError, match="std"):
        t.gaussian_spread(std[0])


def test_the_largest_logit_and_masks_of_minus_infinity() -> None:
    logits = torch.tensor([[1.0, -7.0], [-math.inf, 3.0]])
    assert numbers(t.logit_extremes(logits)) == {"policy/logit_abs_max": 7.0}
    assert numbers(t.logit_extremes(logits, logits > 0)) == {"policy/logit_abs_max": 3.0}
    assert numbers(t.logit_extremes(torch.tensor([[math.inf]]))) == {"policy/logit_abs_max": math.inf}


@fast
@given(
    st.lists(st.tuples(st.integers(-1, 3), st.lists(st.booleans(), min_size=3, max_size=3)), min_size=1, max_size=20)
)
def test_actions_that_were_not_allowed(rows: list[tuple[int, list[bool]]]) -> None:
    actions, allowed = torch.tensor([a for a, _ in rows]), torch.tensor([ok for _, ok in rows])
    logits = torch.randn(len(rows), 3)
    found = numbers(t.invalid_actions(actions, allowed, logits))
    wrong = [not (0 <= a < 3 and ok[a]) for a, ok in rows]
    assert found["policy/invalid_action_frac"] == pytest.approx(sum(wrong) / len(rows))
    p = logits.softmax(-1)
    lost = sum(float(p[i, j]) for i, (_, ok) in enumerate(rows) for j in range(3) if not ok[j])
    assert found["policy/invalid_prob_mean"] == pytest.approx(lost / len(rows), abs=1e-6)


def test_allowed_actions_need_one_dimension_more() -> None:
    with pytest.raises(InputError, match="one more dimension"):
        t.invalid_actions(torch.zeros(4, 1, dtype=torch.long), torch.ones(4, 3))
    with pytest.raises(InputError, match="no actions"):
        t.invalid_actions(torch.zeros(4, dtype=torch.long), torch.ones(4, 0))


def test_loss_on_padding() -> None:
    loss, real = torch.tensor([[1.0, -1.0, 2.0], [4.0, 0.0, 0.0]]), torch.tensor([[1, 1, 0], [1, 0, 0]])
    assert numbers(t.padding_in_loss(loss, real)) == {"seq/padding_loss_frac": 0.25}
    assert numbers(t.padding_in_loss(loss * real, real)) == {"seq/padding_loss_frac": 0.0}
    assert math.isnan(numbers(t.padding_in_loss(loss * 0, real))["seq/padding_loss_frac"])
    with pytest.raises(InputError, match="shape"):
        t.padding_in_loss(loss, real[:, :1])

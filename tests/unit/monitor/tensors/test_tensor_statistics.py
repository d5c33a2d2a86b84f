"""Each statistic of a batch against plain Python that follows its definition."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.monitor import tensors as t
from tests.unit.monitor.tensors.calls import numbers

torch.set_num_threads(1)
fast = settings(deadline=None, max_examples=60)
moderate = st.floats(-1e3, 1e3, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3)
pairs = st.lists(st.tuples(moderate, moderate), min_size=1, max_size=40)
NAN = float("nan")


def double(values: Sequence[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def near(value: float, rel: float = 1e-6, absolute: float = 1e-6) -> object:
    return pytest.approx(value, rel=rel, abs=absolute, nan_ok=True)


def over(a: float, b: float) -> float:
    return a / b if b else NAN


@fast
@given(pairs)
def test_fit_of_values_to_returns(rows: list[tuple[float, float]]) -> None:
    v, g = zip(*rows, strict=True)
    found = numbers(t.value_fit(double(v), double(g)))
    mv, mg = statistics.fmean(v), statistics.fmean(g)
    assert found["critic/value_bias"] == near(statistics.fmean(a - b for a, b in rows))
    assert found["critic/value_mean"] == near(mv)
    assert (found["return/mean"], found["return/std"]) == (near(mg), near(statistics.pstdev(g)))
    assume(statistics.pstdev(v) > 1e-6 * (1 + abs(mv)) and statistics.pstdev(g) > 1e-6 * (1 + abs(mg)))
    residual = statistics.pvariance([b - a for a, b in rows])
    cov = statistics.fmean((a - mv) * (b - mg) for a, b in rows)
    assert found["critic/explained_variance"] == near(1 - residual / statistics.pvariance(g), 1e-5)
    assert found["critic/value_slope"] == near(cov / statistics.pvariance(v), 1e-5)
    assert found["critic/value_corr"] == near(cov / statistics.pstdev(v) / statistics.pstdev(g), 1e-5)


def test_explained_variance_is_blind_to_bias_and_the_bias_and_slope_are_not() -> None:
    g = torch.randn(500, dtype=torch.float64)
    moved = numbers(t.value_fit(g + 3, g))
    assert moved["critic/explained_variance"] == near(1)
    assert moved["critic/value_bias"] == near(3)
    for c in (-1.0, 0.5, 3.0):
        scaled = numbers(t.value_fit(c * g, g))
        assert scaled["critic/explained_variance"] == near(1 - (1 - c) ** 2)
        assert scaled["critic/value_slope"] == near(1 / c)
        assert scaled["critic/value_corr"] == near(math.copysign(1, c))


@pytest.mark.parametrize("level", [0.0, 1.0, 1e6, 0.1, -333.3])
def test_returns_that_do_not_vary_have_no_explained_variance(level: float) -> None:
    values, returns = torch.randn(257), torch.full((257,), level)
    found = numbers(t.value_fit(values, returns))
    assert math.isnan(found["critic/explained_variance"])
    assert math.isnan(found["critic/value_corr"])
    assert found["critic/value_slope"] == near(0, absolute=1e-2 if level == 1e6 else 1e-4)
    assert math.isnan(numbers(t.value_fit(returns, values))["critic/value_slope"])


def test_float32_keeps_its_digits_on_returns_far_from_zero() -> None:
    g = 1e4 + torch.randn(4096, generator=torch.Generator().manual_seed(0))
    v = g + 0.1 * torch.randn(4096, generator=torch.Generator().manual_seed(1))
    exact = numbers(t.value_fit(v.double(), g.double()))
    assert numbers(t.value_fit(v, g)) == pytest.approx(exact, rel=1e-3)


@fast
@given(pairs)
def test_q_against_returns_twins_and_targets(rows: list[tuple[float, float]]) -> None:
    a, b = zip(*rows, strict=True)
    q = numbers(t.q_against_returns(double(a), double(b)))
    twin, td = numbers(t.twin_q(double(a), double(b))), numbers(t.td_error(double(a), double(b)))
    gap = statistics.fmean(abs(x - y) for x, y in rows)
    assert q["critic/q_bias"] == near(statistics.fmean(x - y for x, y in rows))
    assert (twin["critic/twin_gap"], td["critic/td_error_mean"]) == (near(gap), near(gap))
    assert (twin["critic/q_mean"], twin["critic/q2_mean"]) == (near(statistics.fmean(a)), near(statistics.fmean(b)))
    assert (twin["critic/q_max"], twin["critic/q_min"]) == (max(a + b), min(a + b))
    assert (td["critic/target_max"], td["critic/target_min"]) == (max(b), min(b))
    assert td["critic/target_mean"] == near(statistics.fmean(b))
    assume(
        statistics.pstdev(a) > 1e-6 * (1 + max(map(abs, a))) and statistics.pstdev(b) > 1e-6 * (1 + max(map(abs, b)))
    )
    assert twin["critic/twin_gap_scaled"] == near(gap / statistics.pstdev(a), 1e-5)
    assert q["critic/q_bias_scaled"] == near(q["critic/q_bias"] / statistics.pstdev(b), 1e-5)


def test_twins_that_cancel_in_the_mean_still_differ_and_one_network_twice_does_not() -> None:
    one, two = torch.tensor([1.0, -1.0]), torch.tensor([-1.0, 1.0])
    assert numbers(t.twin_q(one, two))["critic/twin_gap"] == 2
    assert numbers(t.twin_q(one, one))["critic/twin_gap"] == 0


@fast
@given(st.lists(moderate, min_size=1, max_size=40), st.floats(0.1, 100), st.floats(0, 0.99), st.floats(0, 10))
def test_q_against_its_bound(q: list[float], reward: float, gamma: float, bonus: float) -> None:
    found = numbers(t.q_bound(double(q), reward, gamma, bonus_abs_max=bonus))
    bound = (reward + bonus) / (1 - gamma)
    assert found["critic/q_abs_max_over_bound"] == near(max(map(abs, q)) / bound)
    assert found["critic/q_beyond_bound_frac"] == near(sum(abs(x) > bound for x in q) / len(q))


@pytest.mark.parametrize(("reward", "gamma"), [(1.0, 1.0), (1.0, -0.1), (-1.0, 0.9), (NAN, 0.9), (1.0, NAN)])
def test_without_discounting_there_is_no_bound(reward: float, gamma: float) -> None:
    with pytest.raises(InputError, match="no bound"):
        t.q_bound(torch.ones(2), reward, gamma)


@fast
@given(st.lists(moderate, min_size=1, max_size=300))
def test_advantages(values: list[float]) -> None:
    found = numbers(t.advantages(double(values), double([2 * x for x in values])))
    n, mean, std = len(values), statistics.fmean(values), statistics.pstdev(values)
    sizes = sorted(map(abs, values), reverse=True)
    expected = {
        "advantage/mean": mean,
        "advantage/std": std,
        "advantage/min": min(values),
        "advantage/max": max(values),
        "advantage/abs_max": sizes[0],
        "advantage/abs_mean": statistics.fmean(sizes),
        "advantage/positive_frac": sum(x > 0 for x in values) / n,
        "advantage/zero_frac": sum(x == 0 for x in values) / n,
        "advantage/top1_share": over(sum(sizes[: math.ceil(0.01 * n)]), sum(sizes)),
        "advantage/normalised_mean": 2 * mean,
        "advantage/normalised_std": 2 * std,
        "advantage/normalised_abs_max": 2 * sizes[0],
    }
    for name, value in expected.items():
        assert found[name] == near(value, 1e-5), name
    assume(std > 1e-3 * (1 + abs(mean)))
    assert found["advantage/kurtosis"] == near(statistics.fmean((x - mean) ** 4 for x in values) / std**4, 1e-4)


@fast
@given(st.lists(st.tuples(moderate, moderate, moderate), min_size=3, max_size=40))
def test_correlation_of_advantages_with_what_they_should_be(rows: list[tuple[float, float, float]]) -> None:
    a, target, value = zip(*rows, strict=True)
    error = [x - y for x, y in zip(target, value, strict=True)]
    found = numbers(t.return_correlation(double(a), double(target), double(value)))["advantage/return_corr"]
    if statistics.pstdev(a) > 1e-3 and statistics.pstdev(error) > 1e-3:
        assert found == pytest.approx(statistics.correlation(a, error), abs=1e-6)
    flipped = numbers(t.return_correlation(double([-x for x in error]), double(target), double(value)))
    if statistics.pstdev(error) > 1e-3:
        assert flipped["advantage/return_corr"] == pytest.approx(-1)


def test_kurtosis_is_three_for_a_normal_and_the_tail_shows() -> None:
    gains = torch.randn(20000, generator=torch.Generator().manual_seed(0))
    found = numbers(t.advantages(gains))
    assert found["advantage/kurtosis"] == pytest.approx(3, abs=0.15)
    assert "advantage/normalised_mean" not in found
    gains[0] = 1e4
    assert numbers(t.advantages(gains))["advantage/kurtosis"] > 1000
    assert numbers(t.advantages(gains))["advantage/top1_share"] > 0.35


log_probs = st.lists(
    st.tuples(st.floats(-5, 1), st.floats(-5, 1), st.sampled_from([-2.0, 0.0, 1.5])), min_size=1, max_size=250
)


@fast
@given(log_probs, st.sampled_from([0.1, 0.2, (0.2, 0.28), (1.0, 0.5)]))
def test_importance_ratios(rows: list[tuple[float, float, float]], clip: float | tuple[float, float]) -> None:
    new, old, gains = zip(*rows, strict=True)
    low, high = clip if isinstance(clip, tuple) else (clip, clip)
    found = numbers(t.importance_ratios(double(new), double(old), clip_range=clip, advantages=double(gains)))
    n, logs = len(rows), [a - b for a, b in zip(new, old, strict=True)]
    r = [math.exp(x) for x in logs]
    assume(all(abs(x - 1 + low) > 1e-9 and abs(x - 1 - high) > 1e-9 for x in r))
    k = math.ceil(0.01 * n)
    expected = {
        "policy/ratio_mean": statistics.fmean(r),
        "policy/ratio_min": min(r),
        "policy/ratio_max": max(r),
        "policy/ratio_p01": sorted(r)[k - 1],
        "policy/ratio_p99": sorted(r)[-k],
        "policy/ratio_var": statistics.pvariance(r),
        "policy/ess": sum(r) ** 2 / sum(x * x for x in r) / n,
        "policy/kl_old": statistics.fmean(x - 1 - y for x, y in zip(r, logs, strict=True)),
        "policy/kl_k1": -statistics.fmean(logs),
        "policy/logprob_mean": statistics.fmean(new),
        "policy/logprob_min": min(new),
        "policy/logprob_max": max(new),
        "policy/clip_fraction_low": sum(x < 1 - low for x in r) / n,
        "policy/clip_fraction_high": sum(x > 1 + high for x in r) / n,
        "policy/clip_fraction": sum(not 1 - low <= x <= 1 + high for x in r) / n,
        "policy/clip_binding_low_frac": sum(x < 1 - low and g < 0 for x, g in zip(r, gains, strict=True)) / n,
        "policy/clip_binding_high_frac": sum(x > 1 + high and g > 0 for x, g in zip(r, gains, strict=True)) / n,
    }
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == near(value, 1e-6, 1e-9), name


def test_without_a_clip_range_or_advantages_what_needs_them_is_left_out() -> None:
    x = torch.zeros(4)
    assert not [name for name in t.importance_ratios(x, x) if "clip" in name]
    assert not [name for name in t.importance_ratios(x, x, clip_range=0.2) if "binding" in name]


def test_one_huge_ratio_leaves_one_sample_and_does_not_overflow() -> None:
    new = torch.zeros(100)
    new[7] = 60.0
    found = numbers(t.importance_ratios(new, torch.zeros(100)))
    assert found["policy/ess"] == pytest.approx(0.01, rel=1e-4)
    assert found["policy/ratio_mean"] == pytest.approx(math.exp(60) / 100, rel=1e-4)


def test_small_kl_keeps_its_digits_in_float32() -> None:
    new = torch.full((64,), -1.0)
    old = new + torch.linspace(-1e-3, 1e-3, 64)
    logs = (new.double() - old.double()).tolist()
    expected = statistics.fmean(math.expm1(x) - x for x in logs)
    assert numbers(t.importance_ratios(new, old))["policy/kl_old"] == pytest.approx(expected, rel=2e-2)


rewards = st.integers(1, 5).flatmap(
    lambda k: st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=k, max_size=k), min_size=1, max_size=8)
)


@fast
@given(rewards)
def test_spread_within_groups(groups: list[list[float]]) -> None:
    found = numbers(t.group_spread(double(groups), solved_at=1.0))
    flat = [x for group in groups for x in group]
    stds = [statistics.stdev(group) for group in groups if len(group) > 1]
    expected = {
        "group/zero_std_fraction": statistics.fmean(len(set(group)) == 1 for group in groups),
        "group/reward_std_mean": statistics.fmean(stds) if stds else NAN,
        "group/all_solved_fraction": statistics.fmean(all(x >= 1 for x in group) for group in groups),
        "group/none_solved_fraction": statistics.fmean(all(x < 1 for x in group) for group in groups),
        "reward/train_mean": statistics.fmean(flat),
        "reward/train_std": statistics.pstdev(flat),
        "reward/train_min": min(flat),
        "reward/train_max": max(flat),
    }
    assert found == {name: near(value) for name, value in expected.items()}
    assert numbers(t.group_spread(double(flat), len(groups[0]), solved_at=1.0)) == {
        n: near(x) for n, x in found.items()
    }


def test_answers_that_are_masked_out_leave_their_group() -> None:
    mask = torch.tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    found = numbers(t.group_spread(torch.tensor([[1.0, 0, 9], [1, 9, 9], [9, 9, 9]]), mask=mask, solved_at=1.0))
    assert found["group/zero_std_fraction"] == 0.5
    assert found["group/all_solved_fraction"] == 0.5
    assert found["group/reward_std_mean"] == pytest.approx(statistics.stdev([1, 0]))


def test_rewards_equal_up_to_the_last_digit_have_no_spread() -> None:
    assert numbers(t.group_spread(torch.full((3, 7), 0.1)))["group/zero_std_fraction"] == 1


@pytest.mark.parametrize(("shape", "size"), [((7,), 2), ((6,), None), ((2, 3), 2), ((2, 3, 1), None), ((4,), 0)])
def test_what_is_no_whole_number_of_groups_is_refused(shape: tuple[int, ...], size: int | None) -> None:
    with pytest.raises(InputError, match="are not groups"):
        t.group_spread(torch.zeros(shape), size)


def test_numpy_agrees_on_a_large_batch() -> None:
    v, g = np.random.default_rng(0).normal(size=(2, 5000))
    found = numbers(t.value_fit(torch.tensor(v), torch.tensor(g)))
    assert found["critic/value_corr"] == near(np.corrcoef(v, g)[0, 1])
    assert found["critic/value_slope"] == near(np.polyfit(v, g, 1)[0])

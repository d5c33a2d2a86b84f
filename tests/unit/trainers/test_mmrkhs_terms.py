"""Kernel, MMD and schedule functions of MM-RKHS against sampled or looped twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from firstbreak.trainers.mmrkhs_terms import (
    MIN_BANDWIDTH,
    categorical_mmd2,
    gaussian_kernel_mean,
    gaussian_mmd2,
    kl_temperature,
    median_bandwidth,
    mmd_weight,
    sampled_mmd2,
)

torch.set_num_threads(1)


def gaussians(seed: int, dims: int = 2) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    random = torch.Generator().manual_seed(seed)
    mean_x, mean_y = torch.randn(2, 1, dims, generator=random, dtype=torch.float64)
    std_x, std_y = torch.rand(2, 1, dims, generator=random, dtype=torch.float64) + 0.2
    return (mean_x, std_x), (mean_y, std_y)


def draws(gaussian: tuple[Tensor, Tensor], n: int, seed: int) -> Tensor:
    mean, std = gaussian
    return mean + std * torch.randn(n, *mean.shape, generator=torch.Generator().manual_seed(seed), dtype=mean.dtype)


def test_categorical_mmd_is_the_double_sum_over_actions() -> None:
    random = np.random.default_rng(0)
    old, new = torch.tensor(random.dirichlet(np.ones(3), size=2)).unbind(0)
    kernel = torch.tensor([[1.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.0]], dtype=torch.float64)
    slow = sum(float((new[i] - old[i]) * kernel[i, j] * (new[j] - old[j])) for i in range(3) for j in range(3))
    assert float(categorical_mmd2(old[None], new[None], kernel)) == pytest.approx(slow)


@given(seed=st.integers(0, 1_000))
def test_the_kernel_mean_agrees_with_a_double_integral(seed: int) -> None:
    (mean_x, std_x), (mean_y, std_y) = gaussians(seed, dims=1)
    grid = torch.linspace(-9.0, 9.0, 900, dtype=torch.float64)
    x, y = (torch.distributions.Normal(m.squeeze(), s.squeeze()).log_prob(grid).exp() for m, s in gaussians(seed, 1))
    kernel = (-((grid[:, None] - grid[None]) ** 2) / (2 * 0.8**2)).exp()
    integral = float(x @ kernel @ y) * float(grid[1] - grid[0]) ** 2
    assert float(gaussian_kernel_mean(mean_x, std_x, mean_y, std_y, 0.8)) == pytest.approx(integral, rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_gaussian_mmd_agrees_with_samples(seed: int) -> None:
    old, new = gaussians(seed)
    exact = float(gaussian_mmd2(old, new, 0.8))
    assert 0.0 <= exact <= 2.0
    estimate = float(sampled_mmd2(draws(old, 800, seed), draws(new, 800, seed + 100), 0.8))
    assert estimate == pytest.approx(exact, abs=0.08), "about four standard errors of 800 draws"


def test_gaussian_mmd_of_equal_widths_is_the_known_formula() -> None:
    """2 (h^2 / (h^2 + 2 s^2))^(d/2) (1 - exp(-|delta|^2 / (2 (h^2 + 2 s^2))))."""
    h, s, d = 0.7, 0.5, 3
    mean, std = torch.zeros(1, d), torch.full((1, d), s)
    shift = torch.tensor([[0.3, -0.2, 0.6]])
    wide = h**2 + 2 * s**2
    known = 2 * (h**2 / wide) ** (d / 2) * (1 - math.exp(-float((shift**2).sum()) / (2 * wide)))
    assert float(gaussian_mmd2((mean, std), (shift, std), h)) == pytest.approx(known, rel=1e-5)


def test_kernel_mean_of_points_is_the_kernel() -> None:
    zero = torch.zeros(1, 2)
    assert float(gaussian_kernel_mean(zero, zero, torch.ones(1, 2), zero, 0.5)) == pytest.approx(math.exp(-4.0))


@pytest.mark.parametrize("bandwidth", [1e-4, 1e4])
def test_a_bandwidth_far_off_makes_the_term_vanish(bandwidth: float) -> None:
    old, new = gaussians(0, dims=5)
    assert float(gaussian_mmd2(old, new, bandwidth)) < 1e-6 < float(gaussian_mmd2(old, new, 1.0))


def test_equal_policies_are_at_distance_zero_with_no_gradient_in_the_later_form_only() -> None:
    old, _ = gaussians(3)
    mean, std = (x.clone().requires_grad_() for x in old)
    gaussian_mmd2(old, (mean, std), 0.8).sum().backward()
    assert float(gaussian_mmd2(old, old, 0.8)) == pytest.approx(0.0, abs=1e-12)
    assert mean.grad is not None
    assert std.grad is not None
    assert float(mean.grad.abs().max()) < 1e-12
    assert float(std.grad.abs().max()) < 1e-12
    std.grad = None
    gaussian_mmd2(old, (mean, std), 0.8, form="draft").sum().backward()
    assert float(std.grad.min()) > 1e-3, "the draft form narrows a Gaussian with nothing to be gained"


def test_the_draft_form_is_the_later_one_without_the_self_terms() -> None:
    old, new = (torch.tensor([[0.5, 0.3, 0.2]]), torch.tensor([[0.2, 0.2, 0.6]]))
    own = float((new**2).sum() + (old**2).sum())
    whole = float(categorical_mmd2(old, new, torch.eye(3)))
    assert float(categorical_mmd2(old, new, torch.eye(3), form="draft")) == pytest.approx(whole - own)


def test_the_sampled_estimate_is_unbiased_and_not_clamped() -> None:
    old, _ = gaussians(5)
    estimates = torch.tensor(
        [float(sampled_mmd2(draws(old, 8, 2 * i), draws(old, 8, 2 * i + 1), 0.8)) for i in range(400)]
    )
    error = float(estimates.std()) / 20.0
    assert abs(float(estimates.mean())) < 3 * error, "equal policies: the mean is 0"
    assert 0.3 < float((estimates < 0).float().mean()) < 0.7


def test_a_negative_estimate_keeps_its_gradient() -> None:
    old, _ = gaussians(5)
    for seed in range(50):
        shift = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
        estimate = sampled_mmd2(draws(old, 8, seed), draws(old, 8, seed + 1000) + shift, 0.8)
        if float(estimate.detach()) < 0:
            estimate.sum().backward()
            assert shift.grad is not None
            assert float(shift.grad.abs().max()) > 0
            return
    raise AssertionError("no negative estimate in 50 draws of equal policies")


def test_median_bandwidth_is_the_median_of_all_pairs() -> None:
    action = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    pairs = [float((action[i] - action[j]).norm()) for i in range(40) for j in range(i)]
    assert median_bandwidth(action) == pytest.approx(sorted(pairs)[(len(pairs) - 1) // 2])
    assert median_bandwidth(torch.ones(10, 2)) == MIN_BANDWIDTH
    assert median_bandwidth(torch.ones(1, 2)) == MIN_BANDWIDTH


def test_median_bandwidth_keeps_the_kernel_away_from_0_and_1() -> None:
    for scale in (1e-2, 1.0, 1e2):
        action = scale * torch.randn(2000, 2, generator=torch.Generator().manual_seed(0))
        kernel = (-(torch.pdist(action[:300]) ** 2) / (2 * median_bandwidth(action) ** 2)).exp()
        assert 0.05 < float(kernel.mean()) < 0.95


def test_one_outlier_does_not_set_beta() -> None:
    advantage = torch.cat([torch.linspace(-1, 1, 999), torch.tensor([1e6])])
    assert mmd_weight(advantage, 0, quantile=0.95) < 1.0
    assert mmd_weight(advantage, 0, quantile=1.0) == pytest.approx(1e6)
    assert mmd_weight(advantage, 8, quantile=0.95) == pytest.approx(mmd_weight(advantage, 0, quantile=0.95) / 3.0)


def test_eta_grows_linearly_up_to_its_caps() -> None:
    def eta(k: int, beta: float = 0.0) -> float:
        return kl_temperature(k, initial=0.2, growth=1.0, ceiling=1.0, beta=beta, largest_eigenvalue=2.0)

    assert [eta(k) for k in range(3)] == pytest.approx([0.2, 0.4, 0.6])
    assert eta(100) == 1.0
    assert eta(100, beta=5.0) == pytest.approx(0.1), "eta * beta * lambda_max = 1"

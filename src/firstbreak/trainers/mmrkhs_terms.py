"""The terms of MM-RKHS: kernels, squared MMD and KL between two policies, and the two schedules.

Everything here is a function of distribution parameters. Closed forms are used wherever there is one: a sampled MMD has
a noise floor that is larger than the steps it is to limit. Gradients flow through the *new* policy's parameters.
"""

from __future__ import annotations

import math
from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution

UpdateForm = Literal["fixed_point", "draft"]
"""Which of the two published updates (Gupta and Mahajan 2026, arXiv 2603.17875) the MMD term follows. `fixed_point`
(later version): witness `R(p - pi_k)`, so that zero advantages leave the policy alone. `draft` (eq. 6.3): witness
`-R pi_k`, the self term of the new policy is missing, so that zero advantages still sharpen the policy."""

MIN_BANDWIDTH = 1e-3
"""Bandwidth used when all actions are equal; in action units. Keeps the kernel defined."""


def categorical_mmd2(old: Tensor, new: Tensor, kernel: Tensor, *, form: UpdateForm = "fixed_point") -> Tensor:
    """Squared MMD (p - q)^T R (p - q) [B] of probabilities `old`, `new` [B, A] under the action kernel R [A, A].

    With `form="draft"` only the part that eq. 6.3 keeps: -2 p^T R q, linear in `new` and lowest at a vertex.
    """
    if form == "draft":
        return -2.0 * ((new @ kernel) * old).sum(-1)
    difference = new - old
    return ((difference @ kernel) * difference).sum(-1)


def gaussian_kernel_mean(  # the five letters of the formula, so that a reader can lay it beside the paper
    mean_x: Tensor, std_x: Tensor, mean_y: Tensor, std_y: Tensor, bandwidth: float
) -> Tensor:
    """E k(x, y) [B] for independent diagonal Gaussians [B, D] and k(x, y) = exp(-|x - y|^2 / (2 h^2)).

    x - y is Gaussian, and a Gaussian integrated against a Gaussian is one (Smola et al. 2007, table 1).
    """
    variance = bandwidth**2 + std_x**2 + std_y**2
    log_mean = 0.5 * (math.log(bandwidth**2) - variance.log()) - 0.5 * (mean_x - mean_y) ** 2 / variance
    return log_mean.sum(-1).exp()


def gaussian_mmd2(
    old: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor], bandwidth: float, *, form: UpdateForm = "fixed_point"
) -> Tensor:
    """Squared MMD [B] between diagonal Gaussians given as (mean [B, D], std [B, D]) under an RBF kernel.

    Lies in [0, 2]. With `form="draft"` only the cross term -2 E k(old, new) is kept (see `UpdateForm`).
    """
    cross = gaussian_kernel_mean(*old, *new, bandwidth)
    if form == "draft":
        return -2.0 * cross
    return gaussian_kernel_mean(*old, *old, bandwidth) + gaussian_kernel_mean(*new, *new, bandwidth) - 2.0 * cross


def sampled_mmd2(old: Tensor, new: Tensor, bandwidth: float) -> Tensor:
    """Unbiased estimate of the squared MMD [B] from samples `old` [n, B, D] and `new` [m, B, D], n, m >= 2.

    For policies with no closed form; `new` must be drawn with `rsample`. It is negative about half of the time when
    the policies are close, and must stay so: a clamp at 0 biases it and kills its gradient (Gretton et al. 2012,
    lemma 6).
    """
    n, m = old.shape[0], new.shape[0]
    within_old = (_rbf(old, old, bandwidth).sum((0, 1)) - n) / (n * (n - 1))
    within_new = (_rbf(new, new, bandwidth).sum((0, 1)) - m) / (m * (m - 1))
    return within_old + within_new - 2.0 * _rbf(old, new, bandwidth).mean((0, 1))


def _rbf(x: Tensor, y: Tensor, bandwidth: float) -> Tensor:
    """k(x_i, y_j) [n, m, B] of samples [n, B, D] and [m, B, D]."""
    return (-((x[:, None] - y[None]) ** 2).sum(-1) / (2.0 * bandwidth**2)).exp()


def median_bandwidth(action: Tensor, *, max_rows: int = 256) -> float:
    """Median distance between `action` rows [B, D] (Gretton et al. 2012, section 8), from at most `max_rows` rows.

    Rows are taken at even spacing, not drawn, so that the figure is repeatable. Far smaller or larger bandwidths make
    every kernel value 0 or 1, and the MMD term inert.
    """
    stride = max(1, math.ceil(action.shape[0] / max_rows))
    distance = torch.pdist(action[::stride].detach().double())
    if distance.numel() == 0:
        return MIN_BANDWIDTH
    return max(float(distance.median()), MIN_BANDWIDTH)


def mmd_weight(advantage: Tensor, iteration: int, *, quantile: float) -> float:
    """beta_k: a high quantile of |A|, divided by sqrt(k + 1).

    The paper takes the largest |A|; a quantile below 1 keeps one outlier from freezing the policy.
    """
    return float(torch.quantile(advantage.detach().abs().flatten().float(), quantile)) / math.sqrt(iteration + 1)


def kl_temperature(  # eta_k
    iteration: int, *, initial: float, growth: float, ceiling: float, beta: float, largest_eigenvalue: float
) -> float:
    """eta_k = initial * (1 + growth * k), at most `ceiling` and at most 1 / (beta * lambda_max(R)).

    1 / eta weighs the KL term. Beyond the second bound the inner map overshoots and oscillates.
    """
    eta = min(initial * (1.0 + growth * iteration), ceiling)
    stiffness = beta * largest_eigenvalue
    return min(eta, 1.0 / stiffness) if stiffness > 0 else eta


def policy_mmd2(
    old: Distribution, new: Distribution, *, kernel: Tensor | None, bandwidth: float, form: UpdateForm = "fixed_point"
) -> Tensor:
    """Squared MMD [B] between two categorical policies (`kernel` [A, A], R = I if None) or two Gaussian ones."""
    if isinstance(old, Categorical) and isinstance(new, Categorical):
        matrix = torch.eye(old.probs.shape[-1]) if kernel is None else kernel
        return categorical_mmd2(old.probs, new.probs, matrix, form=form)
    return gaussian_mmd2((old.mean, old.stddev), (new.mean, new.stddev), bandwidth, form=form)


def log_ratio_surrogate(log_ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Importance-weighted advantage [B] whose gradient stops where the ratio has already moved by e^`clip` as told.

    The paper clips the exponent of its update at +-2 (exact) and +-1.5 (sampled advantages); the log-ratio is that
    exponent. The min keeps the gradient of a ratio that went the wrong way.
    """
    clipped = log_ratio.clamp(-clip, clip).exp()
    return torch.minimum(log_ratio.exp() * advantage, clipped * advantage)


def largest_eigenvalue(kernel: Tensor) -> float:
    """lambda_max of a symmetric kernel matrix [A, A]."""
    eigenvalues: Tensor = cast(Any, torch.linalg).eigvalsh(kernel)
    return float(eigenvalues[-1])

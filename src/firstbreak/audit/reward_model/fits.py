"""Fits and figures of score differences. Pure functions on numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RIDGE = 1e-2
"""Prior precision of a coefficient, so that separable pairs have a finite fit. Engineering default: a hundredth of one
pair's weight."""
ROUNDS = 50
Z95 = 1.96
DRAWS = 400
"""Bootstrap samples. Engineering default."""


@dataclass(frozen=True)
class Logistic:
    """A logistic fit: coefficients [k] and their standard errors [k]."""

    coefficients: Array
    errors: Array

    def interval(self, index: int) -> tuple[float, float]:
        """Return the 95 % interval of one coefficient."""
        centre, half = float(self.coefficients[index]), Z95 * float(self.errors[index])
        return centre - half, centre + half


def logistic(features: Array, outcome: Array) -> Logistic:
    """Fit P(outcome) = sigmoid(features @ b) by Newton's method with a small ridge.

    Args:
        features: [n, k]; a column of ones where an intercept is wanted.
        outcome: [n], 1, 0, or 0.5 for a tie.
    """
    k = features.shape[1]
    b = np.zeros(k)
    curvature = np.eye(k)
    for _ in range(ROUNDS):
        p = sigmoid(features @ b)
        gradient = features.T @ (outcome - p) - RIDGE * b
        curvature = features.T @ (features * (p * (1 - p))[:, None]) + RIDGE * np.eye(k)
        step = np.linalg.solve(curvature, gradient)
        b = b + step / max(1.0, float(np.abs(step).max()) / 2.0)
        if float(np.abs(step).max()) < 1e-9:
            break
    return Logistic(b, np.sqrt(np.diag(np.linalg.inv(curvature))))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return np.exp(-np.logaddexp(0.0, -x))


@dataclass(frozen=True)
class LengthFit:
    """Bradley-Terry with length: log odds that the model prefers the chosen side = quality + length * z."""

    length: float
    """Change of the log odds for one standard deviation of the difference in log length."""
    length_low: float
    length_high: float
    accuracy_at_equal_length: float
    """What the accuracy would be if both sides were equally long."""


def length_fit(differences: Array, log_lengths: Array) -> LengthFit | None:
    """Fit how the model's preference follows length (Dubois et al. 2024, arXiv 2404.04475, the same idea for judges).

    Args:
        differences: score of chosen minus rejected [n].
        log_lengths: log length of chosen minus rejected [n].
    """
    spread = float(log_lengths.std())
    if differences.size < 30 or spread < 1e-6:
        return None
    z = log_lengths / spread
    outcome = np.where(differences > 0, 1.0, np.where(differences < 0, 0.0, 0.5))
    fit = logistic(np.stack([np.ones_like(z), z], axis=1), outcome)
    low, high = fit.interval(1)
    return LengthFit(float(fit.coefficients[1]), low, high, float(sigmoid(fit.coefficients[:1])[0]))


def brier(differences: Array) -> float:
    """Return the mean squared distance of sigmoid(difference) [n] from 1 (Brier 1950)."""
    return float(np.mean((1.0 - sigmoid(differences)) ** 2))


def calibration_error(differences: Array, bins: int = 10) -> float:
    """Return the expected calibration error of the confidence max(p, 1 - p) in bins of equal counts.

    Guo et al. 2017, arXiv 1706.04599, with bins of equal counts (Nixon et al. 2019, arXiv 1904.01685).
    """
    confidence = sigmoid(np.abs(differences))
    right = np.where(differences > 0, 1.0, np.where(differences < 0, 0.0, 0.5))
    order = np.argsort(confidence, kind="stable")
    parts = np.array_split(order, min(bins, order.size))
    gaps = [abs(float(confidence[p].mean()) - float(right[p].mean())) * p.size for p in parts]
    return float(sum(gaps)) / differences.size


def noise_of_calibration(differences: Array, seed: int = 0) -> tuple[float, float]:
    """Return the mean and the 97.5 % quantile of the calibration error of perfectly calibrated scores of this size."""
    draw = np.random.default_rng(seed)
    p = sigmoid(np.abs(differences))
    found = [
        calibration_error(np.where(draw.random(p.size) < p, 1.0, -1.0) * np.abs(differences)) for _ in range(DRAWS // 2)
    ]
    return float(np.mean(found)), float(np.quantile(found, 0.975))


def slope(differences: Array) -> float:
    """Return the factor that makes score differences calibrated log odds (a Bradley-Terry fit)."""
    return float(logistic(differences[:, None], np.ones(differences.size)).coefficients[0])


def bootstrap(values: Array, rows: NDArray[np.int64], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `values` [n] by drawing whole `rows` [n] with replacement."""
    names, place = np.unique(rows, return_inverse=True)
    sums, counts = np.bincount(place, weights=values), np.bincount(place)
    chosen = np.random.default_rng(seed).integers(0, names.size, (DRAWS, names.size))
    means = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))

"""The held-out fit: right on what is known, blind to scale, never fooled by episodes it has seen."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.preflight.reward import learnable
from firstbreak.preflight.reward.learnable import held_out

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(1200, 3))
EPISODE = np.repeat(np.arange(30), 40)


def slow_r2(inputs: np.ndarray, target: np.ndarray, episode: np.ndarray, folds: int = 4) -> float:
    """Ridge regression fold by fold with an augmented least-squares system."""
    features = learnable._features(inputs)
    features = (features - features.mean(0)) / features.std(0)
    middle, error = target.mean(), 0.0
    for k in range(folds):
        out = episode % folds == k
        weight = np.sqrt(learnable.PENALTY * (~out).sum())
        table = np.vstack([features[~out], weight * np.eye(features.shape[1])])
        aim = np.concatenate([target[~out] - middle, np.zeros(features.shape[1])])
        fit = np.linalg.lstsq(table, aim, rcond=None)[0]
        error += float(((target[out] - middle - features[out] @ fit) ** 2).sum())
    return 1 - error / float(((target - middle) ** 2).sum())


def test_it_equals_a_slow_twin() -> None:
    target = np.sin(X[:, 0]) * X[:, 1] + 0.5 * RANDOM.normal(size=1200)
    assert held_out(X, target, EPISODE).r2 == pytest.approx(slow_r2(X, target, EPISODE), abs=1e-6)


def test_a_square_without_linear_correlation_is_explained() -> None:
    target = -(X[:, 0] ** 2)
    assert abs(np.corrcoef(X[:, 0], target)[0, 1]) < 0.2
    assert held_out(X, target, EPISODE).low > 0.95


def test_noise_is_not_explained_however_large_its_mean() -> None:
    found = held_out(X, 5 + RANDOM.normal(size=1200), EPISODE)
    assert found.r2 < 0.01
    assert found.low <= found.r2 <= found.high


def test_scale_and_shift_change_nothing() -> None:
    target = X[:, 0] * X[:, 1] + RANDOM.normal(size=1200)
    once, again = held_out(X, target, EPISODE), held_out(X, 1000 * target + 7, EPISODE)
    assert again.r2 == pytest.approx(once.r2, abs=1e-9)


def test_a_number_per_episode_cannot_be_learnt_by_heart() -> None:
    tag = RANDOM.normal(size=30)[EPISODE]
    inputs = np.column_stack([X, RANDOM.normal(size=30)[EPISODE]])
    assert held_out(inputs, tag, EPISODE).r2 < 0.3

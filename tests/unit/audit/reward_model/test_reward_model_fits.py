"""Fits and figures against slow, obvious twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.reward_model.fits import (
    RIDGE,
    bootstrap,
    brier,
    calibration_error,
    length_fit,
    logistic,
    noise_of_calibration,
    slope,
)
from firstbreak.audit.reward_model.sections import SECTIONS, overall, section_of
from firstbreak.audit.reward_model.variants import markdown, variant


def slow_logistic(features: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """Plain gradient descent on the ridge-penalised likelihood, one term at a time."""
    b = [0.0] * features.shape[1]
    rate = 4.0 / float((features**2).sum())
    for _ in range(20_000):
        gradient = [-RIDGE * x for x in b]
        for row, y in zip(features.tolist(), outcome.tolist(), strict=True):
            error = y - 1 / (1 + math.exp(-sum(x * f for x, f in zip(b, row, strict=True))))
            gradient = [g + error * f for g, f in zip(gradient, row, strict=True)]
        if max(map(abs, gradient)) < 1e-6:
            break
        b = [x + rate * g for x, g in zip(b, gradient, strict=True)]
    return np.array(b)


@pytest.mark.parametrize("seed", range(3))
def test_newton_agrees_with_gradient_descent(seed: int) -> None:
    draw = np.random.default_rng(seed)
    features = np.stack([np.ones(24), draw.normal(size=24)], axis=1)
    outcome = (draw.random(24) < 1 / (1 + np.exp(-features @ [0.4, 1.0]))).astype(float)
    outcome[0] = 0.5
    assert logistic(features, outcome).coefficients == pytest.approx(slow_logistic(features, outcome), abs=2e-4)


def test_standard_errors_are_those_of_repeated_draws() -> None:
    draw = np.random.default_rng(0)
    features = np.stack([np.ones(200), draw.normal(size=200)], axis=1)
    chance = 1 / (1 + np.exp(-features @ [0.5, 0.8]))
    fits = [logistic(features, (draw.random(200) < chance).astype(float)) for _ in range(200)]
    spread = np.std([f.coefficients for f in fits], axis=0)
    assert np.mean([f.errors for f in fits], axis=0) == pytest.approx(spread, rel=0.15)


def test_separable_pairs_have_a_finite_fit() -> None:
    fit = logistic(np.stack([np.ones(50), np.linspace(-1, 1, 50)], axis=1), np.repeat([0.0, 1.0], 25))
    assert np.isfinite(fit.coefficients).all()
    assert fit.coefficients[1] > 5


def test_length_fit_finds_the_planted_coefficient() -> None:
    draw = np.random.default_rng(1)
    z = draw.normal(size=4000)
    won = draw.random(4000) < 1 / (1 + np.exp(-(0.7 + 1.2 * z)))
    fit = length_fit(np.where(won, 1.0, -1.0), 0.3 * z)
    assert fit is not None
    assert fit.length_low < 1.2 < fit.length_high
    assert fit.accuracy_at_equal_length == pytest.approx(1 / (1 + math.exp(-0.7)), abs=0.03)
    assert length_fit(np.ones(40), np.zeros(40)) is None


def slow_calibration(differences: list[float], bins: int) -> float:
    rows = sorted((1 / (1 + math.exp(-abs(d))), 1.0 if d > 0 else 0.0 if d < 0 else 0.5) for d in differences)
    total, start = 0.0, 0
    for part in range(min(bins, len(rows))):
        size = len(rows) // min(bins, len(rows)) + (part < len(rows) % min(bins, len(rows)))
        chosen = rows[start : start + size]
        start += size
        total += abs(sum(c for c, _ in chosen) - sum(r for _, r in chosen))
    return total / len(rows)


@settings(max_examples=40)
@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=1, max_size=60, unique_by=abs))
def test_calibration_agrees_with_the_slow_twin(differences: list[float]) -> None:
    assert calibration_error(np.array(differences)) == pytest.approx(slow_calibration(differences, 10), abs=1e-9)
    slow = sum((1 - 1 / (1 + math.exp(-d))) ** 2 for d in differences) / len(differences)
    assert brier(np.array(differences)) == pytest.approx(slow, abs=1e-12)


def test_calibrated_differences_look_calibrated_and_the_slope_finds_the_scale() -> None:
    draw = np.random.default_rng(2)
    size = np.abs(draw.normal(0, 2, 3000))
    signed = np.where(draw.random(3000) < 1 / (1 + np.exp(-size)), 1.0, -1.0) * size
    assert calibration_error(signed) < noise_of_calibration(signed)[1]
    assert slope(signed) == pytest.approx(1.0, abs=0.1)
    assert slope(5 * signed) == pytest.approx(0.2, abs=0.02)
    assert calibration_error(5 * signed) > noise_of_calibration(5 * signed)[1]


def test_the_bootstrap_draws_whole_rows() -> None:
    values = np.repeat([0.0, 1.0], 500)
    one_by_one = bootstrap(values, np.arange(1000))
    by_row = bootstrap(values, np.repeat(np.arange(10), 100))
    assert one_by_one[1] - one_by_one[0] < 0.1
    assert by_row[1] - by_row[0] > 0.3


def test_sections_and_weights_of_rewardbench() -> None:
    assert sum(len(s) for s in SECTIONS.values()) == 23
    assert section_of("hep-go") == "Reasoning"
    assert section_of("my-own") == "my-own"
    assert overall({"alpacaeval-easy": 1.0}) is None
    accuracy = {subset: 0.5 for subsets in SECTIONS.values() for subset in subsets} | {"math-prm": 1.0}
    found = overall(accuracy)
    assert found is not None
    assert found[0]["Reasoning"] == pytest.approx(0.75)  # math-prm weighs as much as all code
    assert found[1] == pytest.approx((0.5 * 3 + 0.75) / 4)


@given(st.text(max_size=200))
def test_variants_keep_every_word(text: str) -> None:
    for name in ("padded", "spaced"):
        assert variant(name, text).startswith(text)
    assert "".join(markdown(text).removeprefix("## **Answer**").replace("\n- ", "").split()) == "".join(
        text.split()
    ) or ("-" in text or not text.strip())

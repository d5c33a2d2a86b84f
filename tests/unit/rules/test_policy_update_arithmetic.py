"""The arithmetic behind the rules of the policy update, against simulation and brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.engine import Ending, run_rules
from firstbreak.registry import find_rule
from firstbreak.rules.policy_update.accumulation_window_mismatch import straddling
from firstbreak.rules.policy_update.kl_clip_inconsistent import implied_clip_fraction, implied_kl
from firstbreak.rules.policy_update.lr_schedule_fault import Params, jumps
from firstbreak.rules.policy_update.mmd_below_noise_floor import null_spread
from firstbreak.rules.policy_update.policy_frozen import updates_per_batch
from firstbreak.view import RunView


@pytest.mark.parametrize("kl", [0.002, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("epsilon", [0.1, 0.2])
def test_clip_fraction_of_a_gaussian_log_ratio(kl: float, epsilon: float) -> None:
    rng = np.random.default_rng(0)
    ratio = np.exp(rng.normal(-kl, np.sqrt(2 * kl), 400_000))
    assert ratio.mean() == pytest.approx(1.0, abs=0.01)
    assert implied_clip_fraction(kl, epsilon) == pytest.approx(float(np.mean(np.abs(ratio - 1) > epsilon)), abs=0.003)


def test_published_points_of_the_law() -> None:
    assert implied_clip_fraction(0.002, 0.2) == pytest.approx(0.002, abs=0.0005)
    assert implied_clip_fraction(0.01, 0.2) == pytest.approx(0.153, abs=0.001)
    assert implied_clip_fraction(0.05, 0.2) == pytest.approx(0.52, abs=0.005)
    assert implied_clip_fraction(0.0, 0.2) == 0.0


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-3, 2.0), st.floats(0.02, 0.4))
def test_implied_kl_inverts_the_law(kl: float, epsilon: float) -> None:
    fraction = implied_clip_fraction(kl, epsilon)
    if 1e-6 < fraction < 0.999:
        assert implied_kl(np.array([fraction]), epsilon)[0] == pytest.approx(kl, rel=0.01)


def unbiased_mmd(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], bandwidth: float) -> float:
    """The slow, obvious estimate."""
    n = len(x)

    def kernel(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / (2 * bandwidth**2))

    off = ~np.eye(n, dtype=bool)
    return float(kernel(x, x)[off].mean() + kernel(y, y)[off].mean() - 2 * kernel(x, y)[off].mean())


@pytest.mark.parametrize(("dims", "sigma", "samples"), [(1, 0.5, 16), (5, 0.5, 8), (2, 1.5, 12)])
def test_noise_floor_of_identical_policies(dims: int, sigma: float, samples: int) -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(0, sigma, (1500, 2, samples, dims))
    estimates = np.array([unbiased_mmd(x, y, 1.0) for x, y in draws])
    assert estimates.mean() == pytest.approx(0.0, abs=4 * estimates.std() / np.sqrt(1500))
    assert null_spread(dims, sigma, 1.0, samples, 1) == pytest.approx(float(estimates.std()), rel=0.12)
    assert null_spread(dims, sigma, 1.0, samples, 1024) == pytest.approx(null_spread(dims, sigma, 1.0, samples, 1) / 32)


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 40), st.integers(1, 40))
def test_straddling_counts_steps_with_two_generations(accumulated: int, generated: int) -> None:
    micro = np.arange(accumulated * generated)
    steps, batches = micro // accumulated, micro // generated
    mixed = [len(set(batches[steps == k].tolist())) > 1 for k in np.unique(steps)]
    assert straddling(accumulated, generated) == pytest.approx(float(np.mean(mixed)))


@pytest.mark.parametrize(
    ("config", "updates"),
    [
        ({"n_epochs": 10, "n_minibatches": 4}, 40),
        ({"n_epochs": 10, "n_steps": 128, "n_envs": 4, "batch_size": 256}, 20),
        ({"n_epochs": 1, "n_minibatches": 1}, 1),
        ({"n_epochs": 1}, None),
        ({"num_iterations": 1}, 1),
        ({"num_iterations": 2, "steps_per_generation": 16, "gradient_accumulation": 8}, 4),
        ({}, None),
    ],
)
def test_updates_per_batch_from_the_configuration(config: dict[str, Any], updates: float | None) -> None:
    view = RunView(synth.run({"policy/kl_old": synth.flat(0.01)}, algorithm="PPO", config=config))
    assert updates_per_batch(view) == updates


def test_updates_per_batch_from_the_counter() -> None:
    log = synth.run({"optim/n_updates": lambda t, rng: 10.0 * np.arange(1, t.size + 1)}, algorithm="PPO")
    assert updates_per_batch(RunView(log)) == 10


def test_jumps_ignore_warm_up_and_adaptive_steps() -> None:
    params = Params()
    warm_up = np.array([0.0, 1e-5, 1e-4, 3e-4, 2e-4, 1e-4])
    assert not jumps(warm_up, params).any()
    adaptive = np.array([3e-4, 2e-4, 2e-4 * 1.5**3])
    assert not jumps(adaptive, params).any()
    restart = np.array([3e-4, 2e-4, 2e-5, 3e-4])
    assert jumps(restart, params).tolist() == [False, False, False, True]


def outcome(name: str, metrics: dict[str, synth.Shape], algorithm: str, **config: Any) -> Ending:
    result = run_rules(synth.like(algorithm, config=config)(metrics), [find_rule(name)])[0]
    assert result.status is not Ending.ERROR, result.reason
    return result.status


def test_undefined_metrics_are_skipped_not_cleared() -> None:
    zero = {"policy/clip_fraction": synth.constant(0.0), "policy/kl_old": synth.constant(0.0)}
    assert outcome("clip-fraction-high", zero, "GRPO") is Ending.SKIPPED
    assert outcome("clip-fraction-high", zero, "PPO", n_epochs=1, n_minibatches=1) is Ending.SKIPPED
    assert outcome("policy-frozen", zero, "PPO") is Ending.SKIPPED
    assert outcome("policy-frozen", zero, "PPO", n_epochs=4, n_minibatches=4) is Ending.FIRED
    assert outcome("optimiser-state-lost", {}, "PPO") is Ending.SKIPPED

"""The exact MM-RKHS on finite MDPs: slow twins, monotone improvement, the documented flaw of the draft."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.trainers.tabular import (
    FiniteMDP,
    TabularConfig,
    draft_update,
    evaluate,
    fixed_point_update,
    garnet,
    optimal_value,
    solve,
)

START = np.array([[0.5, 0.3, 0.15, 0.05]])
EYE = np.eye(4)


def slow_evaluate(mdp: FiniteMDP, policy: np.ndarray) -> np.ndarray:
    """The value by repeated sweeps over single successors, no matrices."""
    states, actions = mdp.reward.shape
    value = np.zeros(states)
    for _ in range(600):
        new = np.zeros(states)
        for s in range(states):
            for a in range(actions):
                successors = zip(mdp.successor[s, a], mdp.probability[s, a], strict=True)
                new[s] += policy[s, a] * (mdp.reward[s, a] + mdp.gamma * sum(p * value[n] for n, p in successors))
        value = new
    return value


def test_a_garnet_is_a_stochastic_matrix_with_distinct_successors() -> None:
    mdp = garnet(30, 4, 5, seed=1)
    assert mdp.successor.shape == (30, 4, 5)
    assert np.allclose(mdp.probability.sum(-1), 1.0)
    assert (mdp.probability >= 0).all()
    assert all(len(set(row)) == 5 for row in mdp.successor.reshape(-1, 5))
    assert (mdp.reward <= 0).all()
    assert (mdp.reward >= -1).all()


def test_a_garnet_is_repeatable_and_its_seed_matters() -> None:
    one, same, other = garnet(10, 3, 2, seed=1), garnet(10, 3, 2, seed=1), garnet(10, 3, 2, seed=2)
    assert (one.reward == same.reward).all()
    assert (one.successor == same.successor).all()
    assert not (one.reward == other.reward).all()


def test_evaluation_is_that_of_repeated_sweeps() -> None:
    mdp = garnet(6, 3, 2, gamma=0.9, seed=3)
    policy = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    value, advantage = evaluate(mdp, policy)
    assert np.allclose(value, slow_evaluate(mdp, policy), atol=1e-9)
    assert np.allclose((policy * advantage).sum(-1), 0.0, atol=1e-9), "the mean advantage under the policy is 0"


def test_no_policy_beats_the_optimum() -> None:
    mdp = garnet(20, 4, 3, seed=5)
    best = optimal_value(mdp)
    greedy = np.eye(4)[(mdp.reward + mdp.gamma * (mdp.probability * best[mdp.successor]).sum(-1)).argmax(-1)]
    assert np.allclose(evaluate(mdp, greedy)[0], best, atol=1e-8)
    random = np.random.default_rng(0)
    for _ in range(20):
        assert (evaluate(mdp, random.dirichlet(np.ones(4), size=20))[0] <= best + 1e-8).all()


def test_zero_advantages_leave_the_later_form_where_it_is() -> None:
    zero = np.zeros_like(START)
    new = fixed_point_update(START, zero, beta=1.0, eta=1.0, kernel=EYE, exponent_clip=2.0, inner_steps=5)
    assert np.allclose(new, START, atol=1e-15)


def test_zero_advantages_sharpen_the_draft_form() -> None:
    """arXiv 2603.17875, draft eq. 6.3: pi is not a fixed point at A = 0 although nothing is to be gained."""
    zero = np.zeros_like(START)
    new = draft_update(START, zero, beta=1.0, eta=1.0, kernel=EYE, exponent_clip=2.0)
    assert np.allclose(new, [[0.566, 0.278, 0.120, 0.036]], atol=1e-3)
    policy = START
    for _ in range(50):
        policy = draft_update(policy, zero, beta=1.0, eta=1.0, kernel=EYE, exponent_clip=2.0)
    assert policy[0, 0] > 0.999


def test_one_inner_step_makes_beta_inert_and_two_do_not() -> None:
    advantage = np.array([[0.3, -0.2, 0.1, -0.4]])

    def updated(inner_steps: int, beta: float) -> np.ndarray:
        return fixed_point_update(
            START, advantage, beta=beta, eta=0.5, kernel=EYE, exponent_clip=2.0, inner_steps=inner_steps
        )

    assert (updated(1, 0.0) == updated(1, 1e6)).all()
    assert np.abs(updated(2, 0.0) - updated(2, 1.0)).max() > 1e-4


@given(seed=st.integers(0, 10_000), eta=st.floats(0.01, 2.0))
def test_a_better_action_gains_probability(seed: int, eta: float) -> None:
    """Rewards, not costs: the action with the largest advantage gains under both forms, whatever the policy."""
    random = np.random.default_rng(seed)
    policy = random.dirichlet(np.ones(4), size=1)
    advantage = random.normal(size=(1, 4))
    advantage -= (policy * advantage).sum()
    best = int(advantage.argmax())
    kwargs = {"beta": 0.0, "eta": eta, "kernel": EYE, "exponent_clip": 50.0}
    assert draft_update(policy, advantage, **kwargs)[0, best] >= policy[0, best]
    assert fixed_point_update(policy, advantage, **kwargs)[0, best] >= policy[0, best]


@given(seed=st.integers(0, 10_000))
def test_updates_stay_distributions_at_any_exponent(seed: int) -> None:
    random = np.random.default_rng(seed)
    policy = random.dirichlet(np.full(5, 0.2), size=3)
    advantage = random.normal(size=(3, 5)) * 1e6
    kwargs = {"beta": 1e6, "eta": 1e3, "kernel": np.eye(5), "exponent_clip": 2.0}
    for new in (draft_update(policy, advantage, **kwargs), fixed_point_update(policy, advantage, **kwargs)):
        assert np.isfinite(new).all()
        assert np.allclose(new.sum(-1), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_later_form_climbs_at_each_state_and_each_sweep(seed: int) -> None:
    mdp = garnet(60, 8, 5, seed=seed)
    best = optimal_value(mdp)
    values = np.array([sweep.value for sweep in solve(mdp, iterations=60)])
    assert (np.diff(values, axis=0) >= -1e-9).all()
    assert (best - values[-1]).mean() < 0.001 * (best - values[0]).mean()


def test_the_draft_form_stalls_above_the_later_one() -> None:
    mdp = garnet(60, 8, 5, seed=0)
    best = optimal_value(mdp)

    def gap(config: TabularConfig) -> float:
        *_, last = solve(mdp, iterations=60, config=config)
        return float((best - last.value).mean())

    assert gap(TabularConfig(form="draft", eta_initial=0.15)) > 10 * gap(TabularConfig())


def test_the_cap_on_stiffness_holds_and_lifting_it_costs_the_monotone_climb() -> None:
    mdp = garnet(60, 8, 5, seed=0)
    capped = list(solve(mdp, iterations=40))
    assert max(sweep.eta * sweep.beta for sweep in capped) <= 1.0 + 1e-12
    bare = list(solve(mdp, iterations=40, config=TabularConfig(stiffness_limit=None)))
    assert max(sweep.eta * sweep.beta for sweep in bare) > 1.0
    means = np.array([sweep.value.mean() for sweep in bare])
    assert (np.diff(means) < -1e-9).mean() > 0.2, "above the limit the inner map oscillates"


def test_beta_takes_a_quantile_and_falls_with_the_root_of_the_sweep() -> None:
    mdp = garnet(40, 6, 4, seed=0)
    sweeps = list(solve(mdp, iterations=3, config=TabularConfig(beta_quantile=0.5)))
    for k, sweep in enumerate(sweeps):
        advantage = np.abs(evaluate(mdp, sweep.policy)[1])
        assert sweep.beta == pytest.approx(np.median(advantage) / np.sqrt(k + 1))

"""Shaping terms: the right one is silent, each mistake is named, and telescoping holds by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.preflight.shaping import (
    PotentialShaping,
    check_term,
    largest_sum_gap,
    path_dependence,
    telescoping,
)

GAMMA = 0.99
Term = Callable[[Any, Any, Any, bool, bool, int], float]
Step = tuple[Any, Any, Any, bool, bool]


def walk(grid: bool, episodes: int = 60, length: int = 40) -> list[Step]:
    """Random walks that end truly near the goal and by the time limit otherwise."""
    random = np.random.default_rng(0)
    moves = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
    steps: list[Step] = []
    for _ in range(episodes):
        state = random.integers(0, 4, 2).astype(float) if grid else random.uniform(-3, 3, 2)
        for t in range(length):
            action: Any = float(random.integers(4)) if grid else random.uniform(-1, 1, 2)
            after = np.clip(state + moves[int(action)], 0, 4) if grid else state + 0.4 * action
            over = bool((after == 4).all()) if grid else bool(np.linalg.norm(after) < 0.4)
            cut = t == length - 1 and not over
            steps.append((state, action, after, over, cut))
            state = after
            if over or cut:
                break
    return steps


STEPS = {True: walk(True, 100), False: walk(False)}


def phi_of(grid: bool) -> Callable[[Any], float]:
    return (lambda s: 5 - float(abs(4 - s).sum())) if grid else (lambda s: -3 - float(np.linalg.norm(s)))


def terms(phi: Callable[[Any], float]) -> dict[str, Term]:
    def right(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else phi(n)) - phi(s)

    return {
        "": right,
        "terminal-potential-kept": lambda s, a, n, over, cut, t: GAMMA * phi(n) - phi(s),
        "gamma-missing": lambda s, a, n, over, cut, t: (0.0 if over else phi(n)) - phi(s),
        "gamma-wrong": lambda s, a, n, over, cut, t: 0.9 * (0.0 if over else phi(n)) - phi(s),
        "time-limit-as-terminal": lambda s, a, n, over, cut, t: GAMMA * (0.0 if over or cut else phi(n)) - phi(s),
        "no-loss-for-going-back": lambda s, a, n, over, cut, t: max(0.0, phi(n) - phi(s)),
        "pays-for-staying": lambda s, a, n, over, cut, t: phi(n),
        "depends-on-action": lambda s, a, n, over, cut, t: right(s, a, n, over, cut, t) + 0.1 * float(np.abs(a).sum()),
        "constant-added": lambda s, a, n, over, cut, t: right(s, a, n, over, cut, t) + 0.01,
        "sign-wrong": lambda s, a, n, over, cut, t: -right(s, a, n, over, cut, t),
        "not-a-potential": lambda s, a, n, over, cut, t: (
            right(s, a, n, over, cut, t) + float(np.sin(17 * np.sum(n * s)))
        ),
    }


@pytest.mark.parametrize("grid", [True, False])
@pytest.mark.parametrize("name", list(terms(phi_of(True))))
def test_with_its_potential_each_mistake_is_named_and_nothing_else(name: str, grid: bool) -> None:
    phi = phi_of(grid)
    found = check_term(terms(phi)[name], STEPS[grid], GAMMA, potential=phi)
    assert [fault.name for fault in found.faults] == ([name] if name else [])
    assert found.sound == (not name)


@pytest.mark.parametrize("name", ["", "terminal-potential-kept", "gamma-missing", "time-limit-as-terminal",
                                  "no-loss-for-going-back", "pays-for-staying", "depends-on-action"])  # fmt: skip
def test_without_a_potential_where_states_come_back(name: str) -> None:
    found = check_term(terms(phi_of(True))[name], STEPS[True], GAMMA)
    assert [fault.name for fault in found.faults] == ([name] if name else [])


@pytest.mark.parametrize("name", ["", "no-loss-for-going-back", "pays-for-staying", "depends-on-action"])
def test_without_a_potential_in_a_smooth_world(name: str) -> None:
    found = check_term(terms(phi_of(False))[name], STEPS[False], GAMMA)
    assert [fault.name for fault in found.faults] == ([name] if name else [])


def test_no_discount_is_right_for_an_agent_without_discount() -> None:
    phi = phi_of(True)
    assert check_term(terms(phi)["gamma-missing"], STEPS[True], 1.0, potential=phi).sound
    assert check_term(terms(phi)["gamma-missing"], STEPS[True], 1.0).sound


def test_a_multiple_of_the_potential_is_a_potential() -> None:
    phi = phi_of(False)
    right = terms(phi)[""]
    assert check_term(lambda *step: 3 * right(*step), STEPS[False], GAMMA, potential=phi).sound


@pytest.mark.parametrize("growth", [lambda t: 1 + t / 20, lambda t: 1.0 if t < 20 else 2.0])
def test_a_dynamic_potential_belongs_to_its_time(growth: Callable[[int], float]) -> None:
    still = phi_of(False)

    def phi(s: Any, t: int) -> float:
        return growth(t) * still(s)

    def right(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else phi(n, t + 1)) - phi(s, t)

    def newest(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else phi(n, t + 1)) - phi(s, t + 1)

    assert check_term(right, STEPS[False], GAMMA, potential=phi, dynamic=True).sound
    wrong = check_term(newest, STEPS[False], GAMMA, potential=phi, dynamic=True)
    assert [fault.name for fault in wrong.faults] == ["dynamic-as-static"]


def test_the_previous_potential_kept_over_reset() -> None:
    phi = phi_of(False)
    steps = STEPS[False]
    values, before = [], phi(steps[0][0])
    for _, _, after, over, _ in steps:
        now = 0.0 if over else phi(after)
        values.append(GAMMA * now - before)
        before = phi(after)
    pairs = [(phi(s[0]), phi(s[2])) for s in steps]
    found = telescoping(values, pairs, GAMMA, [s[3] for s in steps], [s[4] for s in steps])
    assert [fault.name for fault in found.faults] == ["previous-potential-kept"]


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_the_discounted_sum_telescopes(seed: int, gamma: float) -> None:
    random = np.random.default_rng(seed)
    phi = random.normal(size=31)
    shaping = PotentialShaping(lambda k: float(phi[k]), gamma)
    total = sum(gamma**k * shaping.term(k, k + 1, terminated=k == 29) for k in range(30))
    assert total == pytest.approx(-phi[0])
    cut = sum(gamma**k * shaping.term(k, k + 1, terminated=False) for k in range(30))
    assert cut == pytest.approx(gamma**30 * phi[30] - phi[0])


def test_largest_sum_gap_against_a_slow_twin() -> None:
    random = np.random.default_rng(1)
    gap, done = random.normal(size=50), random.random(50) < 0.2
    worst, start = 0.0, 0
    for end in [*(np.flatnonzero(done) + 1), 50]:
        sums = np.cumsum(gap[start:end] * 0.9 ** np.arange(end - start))
        worst, start = max(worst, float(np.abs(sums).max(initial=0.0))), end
    assert largest_sum_gap(gap, done, 0.9) == pytest.approx(worst)


class Line:
    """Gymnasium environment on a line: ends at 3, cut by its own limit of 5 steps."""

    def __new__(cls) -> Any:
        import gymnasium

        class Env(gymnasium.Env):  # type: ignore[type-arg]
            observation_space = gymnasium.spaces.Box(-10, 10, (1,), np.float64)
            action_space = gymnasium.spaces.Discrete(2)

            def reset(self, **options: Any) -> Any:
                super().reset(seed=options.get("seed"))
                self.x, self.t = 1.0, 0
                return np.array([self.x]), {}

            def step(self, action: Any) -> Any:
                self.x += 1 if action else -1
                self.t += 1
                return np.array([self.x]), 1.0, self.x >= 3, self.t >= 5, {}

        return Env()


@pytest.mark.parametrize("dynamic", [False, True])
def test_the_wrapper_pays_the_right_term(dynamic: bool) -> None:
    def potential(x: Any, time: int = 0) -> float:
        return float(x[0]) * (1 + time)

    env = PotentialShaping(potential, 0.5, dynamic=dynamic).wrap(Line())
    for _ in range(2):
        observation, _ = env.reset()
        first = env.shaping.at(observation, env.clock)
        total = sum(0.5**k * env.step(1)[4]["reward_shaping"] for k in range(2))
        assert total == pytest.approx(-first)
    env.reset()
    rows = [env.step(0) for _ in range(5)]
    assert rows[-1][3]
    start, end = (1.0, -4.0) if not dynamic else (1.0 * 5, -4.0 * 10)
    assert sum(0.5**k * row[1] for k, row in enumerate(rows)) == pytest.approx(
        0.5**5 * end - start + sum(0.5**k for k in range(5))
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError):
        PotentialShaping(lambda s: 0.0, 1.5)
    with pytest.raises(InputError):
        PotentialShaping(lambda s, t: 0.0, 0.9, dynamic=True).term(0, 1, terminated=False)
    with pytest.raises(InputError):
        telescoping(np.zeros(30), np.zeros(29), 0.9, np.zeros(30), np.zeros(30))
    with pytest.raises(InputError):
        telescoping(np.full(30, np.nan), np.zeros(30), 0.9, np.zeros(30), np.zeros(30))
    with pytest.raises(InputError):
        path_dependence(np.zeros(3), np.zeros(3), np.zeros(3), 0.9, np.zeros(3), np.zeros(3))


def test_pay_for_the_length_of_the_action_is_named() -> None:
    phi = phi_of(False)

    def term(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        return GAMMA * (0.0 if over else phi(n)) - phi(s) + 0.1 * float(np.linalg.norm(a))

    for potential in (phi, None):
        found = check_term(term, STEPS[False], GAMMA, potential=potential)
        assert [f.name for f in found.faults] == ["depends-on-action"]

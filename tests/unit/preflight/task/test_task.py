"""Task checks: each fires, is healthy, and has a near miss; intervals against slow twins; files and play."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.check import LONGEST_MESSAGE, checks_of, look_at
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Severity
from firstbreak.preflight.task.api import inspect_task
from firstbreak.preflight.task.gap import difference, gap_closed
from firstbreak.preflight.task.remedies import REMEDIES
from firstbreak.preflight.task.sample import TaskSample

Make = Callable[[], TaskSample]


def normal(mean: float, std: float, n: int = 100) -> np.ndarray:
    return np.random.default_rng(int(mean * 7 + std)).normal(mean, std, n)


def returns(**who: Any) -> TaskSample:
    return TaskSample(who)


def ends(random: float, expert: float, goal: float | None = None, length: float = 200) -> TaskSample:
    """100 episodes each, of which the given share is truncated; `goal`: share of the expert's that reach it."""
    flags = {w: np.arange(100) < 100 * share for w, share in (("random", random), ("expert", expert))}
    reached = {} if goal is None else {"random": np.zeros(100), "expert": np.arange(100) < 100 * goal}
    lengths = {w: np.full(100, length) + np.arange(100) % 3 for w in flags}
    return TaskSample({"random": normal(0, 1), "expert": normal(9, 1)}, lengths, flags, reached, reached)


def kept(share: float) -> TaskSample:
    stays = np.arange(100) < 100 * share
    return TaskSample({"expert": normal(9, 1)}, goal_reached={"expert": np.ones(100)}, goal_kept={"expert": stays})


CASES: dict[str, tuple[list[Make], list[Make]]] = {
    "returns-not-finite": (
        [lambda: returns(random=[1.0, float("nan")])],
        [lambda: returns(random=normal(0, 1)), lambda: returns(random=[1e300, -1e300])],
    ),
    "expert-returns-not-better": (
        [
            lambda: returns(random=normal(20, 9), expert=normal(20.5, 9)),
            lambda: returns(random=normal(20, 9), expert=normal(5, 3)),
        ],
        [
            lambda: returns(random=normal(20, 9), expert=normal(200, 20)),
            lambda: returns(random=normal(20, 9), expert=normal(26, 9)),
        ],
    ),
    "trained-worse-than-random": (
        [lambda: returns(random=normal(20, 5), trained=normal(5, 5))],
        [
            lambda: returns(random=normal(20, 5), trained=normal(50, 5)),
            lambda: returns(random=normal(20, 9), trained=normal(20, 8)),
        ],
    ),
    "trained-not-better-than-random": (
        [lambda: returns(random=normal(20, 9), trained=normal(20.5, 9), expert=normal(200, 20))],
        [
            lambda: returns(random=normal(20, 9), trained=normal(100, 9)),
            lambda: returns(random=normal(20, 9), trained=normal(26, 9)),
        ],
    ),
    "gap-barely-closed": (
        [lambda: returns(random=normal(20, 9), trained=normal(26, 9), expert=normal(200, 20))],
        [
            lambda: returns(random=normal(20, 9), trained=normal(190, 9), expert=normal(200, 20)),
            lambda: returns(random=normal(20, 9), trained=normal(45, 9), expert=normal(200, 20)),
        ],
    ),
    "returns-flat-from-start": (
        [lambda: returns(random=np.full(100, -200.0)), lambda: returns(random=np.zeros(100))],
        [lambda: returns(random=normal(0, 1)), lambda: returns(random=np.arange(100) < 3)],
    ),
    "always-truncated": (
        [lambda: ends(1.0, 1.0, 0.0), lambda: ends(1.0, 1.0)],
        [lambda: ends(0.2, 0.0), lambda: ends(1.0, 0.9)],
    ),
    "episodes-of-few-steps": ([lambda: ends(0, 0, length=4)], [lambda: ends(0, 0), lambda: ends(0, 0, length=22)]),
    "goal-never-reached": (
        [lambda: ends(1.0, 1.0, 0.0)],
        [
            lambda: ends(1.0, 1.0),
            lambda: TaskSample({"random": normal(0, 1)}, goal_reached={"random": np.arange(100) < 1}),
        ],
    ),
    "goal-not-kept": ([lambda: kept(0.1)], [lambda: kept(1.0), lambda: kept(0.6)]),
}


def answer(name: str, make: Make) -> Any:
    found = look_at(next(c for c in checks_of("task") if c.name == name), make())
    assert not found.error
    return found.symptom


def test_every_check_has_cases_and_remedies() -> None:
    known = {c.name for c in checks_of("task")}
    assert set(CASES) == known
    assert set(REMEDIES) == known - {"returns-not-finite"}


@pytest.mark.parametrize(("name", "make"), [(n, m) for n, (fires, _) in CASES.items() for m in fires])
def test_it_fires(name: str, make: Make) -> None:
    symptom = answer(name, make)
    assert symptom is not None
    assert len(symptom.message) <= LONGEST_MESSAGE


@pytest.mark.parametrize(("name", "make"), [(n, m) for n, (_, quiet) in CASES.items() for m in quiet])
def test_it_is_silent(name: str, make: Make) -> None:
    assert answer(name, make) is None


def test_by_design_is_a_note() -> None:
    assert answer("always-truncated", lambda: ends(1.0, 1.0)).severity is Severity.INFO
    seen = answer("returns-flat-from-start", lambda: returns(random=np.zeros(100), expert=np.ones(100)))
    assert seen.severity is Severity.INFO


def test_difference_and_gap_against_slow_twins() -> None:
    a, b, c = normal(3, 2, 40), normal(1, 1, 30), normal(9, 2, 50)
    random = np.random.default_rng(9)
    drawn, closed = [], []
    for _ in range(3000):
        x, y, z = (random.choice(v, v.size).mean() for v in (a, b, c))
        drawn.append(x - y)
        closed.append((x - y) / (z - y))
    found, share = difference(a, b), gap_closed(b, c, a)
    assert share is not None
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.08)
    assert (share.low, share.high) == pytest.approx(np.quantile(closed, [0.025, 0.975]), abs=0.02)
    assert share.value == pytest.approx((a.mean() - b.mean()) / (c.mean() - b.mean()))
    assert gap_closed(b, b, a) is None


def test_scale_and_shift_leave_the_share_closed() -> None:
    a, b, c = normal(3, 2), normal(1, 1), normal(9, 2)
    once, again = gap_closed(b, c, a), gap_closed(10 * b + 5, 10 * c + 5, 10 * a + 5)
    assert once is not None
    assert again is not None
    assert (again.value, again.low, again.high) == pytest.approx((once.value, once.low, once.high))


def test_remedies_are_told_in_order() -> None:
    found = inspect_task(random=normal(20, 9), trained=normal(20.5, 9), expert=normal(200, 20))
    assert found.verdict is Verdict.UNDECIDED
    assert found.details["remedies"]["trained-not-better-than-random"][0].startswith("run the probes")
    assert found.details["gap_closed_frac"]["high"] < 0.1


def test_files(tmp_path: Path) -> None:
    lines = "".join(f"{k % 7},200,1,0\n" for k in range(60))
    path = tmp_path / "random.csv"
    path.write_text("return,length,truncated,goal_reached\n" + lines)
    found = inspect_task(random=path)
    assert {f.name for f in found.findings} == {"always-truncated", "goal-never-reached"}
    steps = tmp_path / "steps.csv"
    steps.write_text("episode,reward\n" + "".join(f"{k // 5},{k % 5}\n" for k in range(150)))
    assert inspect_task(random=steps).details["lengths"]["random"]["mean"] == 5.0


class Left:
    """A policy of CartPole that always pushes to the left."""

    def predict(self, observation: Any, deterministic: bool = False) -> tuple[Any, None]:
        del observation, deterministic
        return 0, None


def test_an_environment_with_a_policy_here_and_in_a_child() -> None:
    found = inspect_task("CartPole-v1", trained=Left, goal=lambda x: abs(float(x[0])) < 0.01, episodes=30)
    assert "trained-worse-than-random" in {f.name for f in found.findings}
    child = inspect_task("CartPole-v1", trained=f"{__file__}:Left", episodes=30)
    assert "trained-worse-than-random" in {f.name for f in child.findings}


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError):
        inspect_task()
    with pytest.raises(InputError):
        TaskSample({"random": [1.0]}, lengths={"random": [1.0, 2.0]})
    with pytest.raises(InputError):
        TaskSample({"oracle": [1.0]})
    with pytest.raises(InputError):
        TaskSample({"random": []})


def test_five_episodes_or_one_policy_alone_are_not_healthy() -> None:
    assert inspect_task(returns(random=normal(0, 1, 5))).verdict is Verdict.UNDECIDED
    assert inspect_task(returns(expert=normal(9, 1))).verdict is Verdict.UNDECIDED
    assert inspect_task(returns(random=normal(0, 1), expert=normal(9, 1, 5))).verdict is Verdict.UNDECIDED
    assert inspect_task(returns(random=normal(0, 1), expert=normal(9, 1))).verdict is Verdict.HEALTHY

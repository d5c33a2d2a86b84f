"""Checks of policies and experts: each fires, stays silent, and the bootstrap has a slow twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.check import Symptom, checks_of, find_check, look_at
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Severity
from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits
from firstbreak.preflight.policy import PolicyTrial, inspect_policy, proportional
from firstbreak.preflight.policy.api import try_out
from firstbreak.preflight.policy.asking import plain, playable
from firstbreak.preflight.policy.baselines import compare_returns, earn, probability_better
from tests.unit.preflight.environment.small_worlds import Drive, changed


def cartpole() -> Any:
    return gym.make("CartPole-v1")


def pendulum() -> Any:
    return gym.make("Pendulum-v1")


def steer(seen: Any) -> Any:
    """A squashed policy for two continuous actions that depends on what it sees."""
    return np.tanh(-np.asarray(seen[:2]) - np.asarray(seen[2:])).astype(np.float32)


def noisy(sd: float, size: int = 1) -> Callable[[Any], Any]:
    draw = np.random.default_rng(0)
    return lambda seen: draw.normal(0, sd, size).astype(np.float32)


def trial(make: Any, policy: Any) -> PolicyTrial:
    return try_out(make, policy, None, 0)


def finds(name: str, subject: PolicyTrial) -> Symptom | None:
    answer = find_check(name).look(subject)
    return answer if isinstance(answer, Symptom) else None


CASES: list[tuple[str, Any, Any, Any]] = [
    ("policy-raises", Drive, lambda s: s["key"], steer),
    ("action-kind-mismatch", cartpole, lambda s: s[:2], lambda s: int(s[2] > 0)),
    ("action-kind-mismatch", pendulum, lambda s: int(s[0] > 0), lambda s: np.clip(s[:1], -2, 2)),
    ("action-shape-mismatch", Drive, lambda s: steer(s)[None], steer),
    ("action-not-finite", Drive, lambda s: steer(s) * np.nan, steer),
    ("action-outside-bounds", pendulum, noisy(10.0), lambda s: 2 * np.tanh(3 * s[1:2])),
    ("action-type-mismatch", Drive, lambda s: np.round(steer(s)).astype(int), lambda s: steer(s).astype(np.float64)),
    ("action-range-unused", pendulum, lambda s: np.tanh(9 * s[1:2]), lambda s: 2 * np.tanh(9 * s[1:2])),
    ("policy-constant", Drive, lambda s: np.zeros(2, np.float32), steer),
    ("policy-ignores-observation", Drive, noisy(0.3, 2), steer),
]


@pytest.mark.parametrize(("name", "make", "broken", "right"), CASES)
def test_fires_and_stays_silent(name: str, make: Any, broken: Any, right: Any):
    symptom = finds(name, trial(make, broken))
    assert symptom is not None
    assert len(symptom.message) <= 120
    assert any(c.isdigit() for c in symptom.message)
    assert finds(name, trial(make, right)) is None


def test_a_right_policy_is_healthy_and_no_policy_is_never_an_error():
    for make, policy in ((Drive, steer), (cartpole, lambda s: np.int64(s[2] > 0))):
        for one in checks_of("policy"):
            assert finds(one.name, trial(make, policy)) is None, one.name
    for one in checks_of("policy"):
        assert not look_at(one, PolicyTrial("none", gym.spaces.Discrete(2))).error


def test_rare_clipping_is_harmless_some_is_a_note_more_a_warning_most_an_error():
    low = changed(Drive)
    seen = [finds("action-outside-bounds", trial(low, noisy(sd, 2))) for sd in (0.3, 0.45, 0.7, 3.0)]
    assert seen[0] is None
    assert [s.severity for s in seen[1:] if s is not None] == [Severity.INFO, None, Severity.ERROR]


def test_an_index_that_does_not_exist():
    assert finds("action-outside-bounds", trial(cartpole, lambda s: 2)) is not None


def test_answers_of_other_libraries_are_read():
    import torch

    torch.set_num_threads(1)
    assert plain(torch.ones(2, requires_grad=True)).tolist() == [1, 1]
    assert plain((np.array([3]), None)).tolist() == [3]
    assert plain(4) == 4
    assert playable(gym.spaces.Discrete(2), np.array([1])) == 1
    assert gym.spaces.Discrete(2).contains(playable(gym.spaces.Discrete(2), 7))


def test_bootstrap_against_a_slow_twin():
    draw = np.random.default_rng(5)
    a, b = draw.normal(0, 1, 40), draw.normal(1, 2, 30)
    compared = compare_returns(a, b)
    twin = sorted(float(np.mean(draw.choice(b, len(b))) - np.mean(draw.choice(a, len(a)))) for _ in range(3000))
    assert compared.low == pytest.approx(twin[75], abs=0.06)
    assert compared.high == pytest.approx(twin[2925], abs=0.06)
    assert compared.difference == pytest.approx(b.mean() - a.mean())


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_probability_has_a_slow_twin(first: list[int], second: list[int]):
    pairs = [1.0 if y > x else 0.5 if y == x else 0.0 for x in first for y in second]
    assert probability_better(np.array(first, float), np.array(second, float)) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("factor", [0.01, 10, 1e4])
def test_the_verdict_does_not_hang_on_the_unit_of_returns(factor: float):
    draw = np.random.default_rng(6)
    a, b = draw.normal(0, 1, 100), draw.normal(0.3 * np.sqrt(2), 1, 100)  # three standard errors apart
    assert compare_returns(factor * a, factor * b).clear == compare_returns(a, b).clear


controller = proportional([0, 0, 0, 0], np.array([[1, 0], [0, 1], [1.5, 0], [0, 1.5]]))


def test_a_proportional_controller_drives_home_and_beats_chance():
    assert np.all(controller(np.array([9.0, -9.0, 0, 0])) == [-1, 1])
    assert proportional(0, 2, observation=[1], action=[0])(np.array([5.0, 0.25])).tolist() == [-0.5]
    seen = try_out(Drive, None, controller, 30)
    assert finds("expert-not-better-than-random", seen) is None
    assert seen.expert_returns is not None
    assert len(earn(Drive, None, 100, budget_s=0.0)) == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (changed(Drive, pay=lambda w: float(np.hypot(*w.state[:2]))), "worse than random"),
        (changed(Drive, force=lambda w, a: -a[::-1]), "random"),
        (changed(Drive, pay=lambda w: 1000 * w.random.normal()), "not clearly better"),
    ],
)
def test_an_expert_that_is_not_paid_more_stops_the_training(make: Any, words: str):
    symptom = finds("expert-not-better-than-random", try_out(make, None, controller, 30))
    assert symptom is not None
    assert words in symptom.message


def test_an_expert_that_raises_is_told_of():
    symptom = finds("expert-not-better-than-random", try_out(Drive, None, lambda s: s["x"], 3))
    assert symptom is not None
    assert "raised" in symptom.message


def test_inspections_in_process_and_in_a_child(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    here = inspect_policy(Drive, steer)
    assert isinstance(here, Inspection)
    assert here.verdict is Verdict.HEALTHY
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef act(seen):\n    print('noise')\n    return np.zeros(2)\n"
        "def expert(seen):\n    return int(seen[2] + 0.3 * seen[3] > 0)\n"
    )
    monkeypatch.chdir(tmp_path)
    child = inspect_policy("CartPole-v1", "mine.py:act", "mine.py:expert", episodes=20)
    assert child.verdict is Verdict.BROKEN
    assert child.first_break is not None
    assert child.first_break.name == "action-kind-mismatch"
    assert child.details["difference"] > 0
    with pytest.raises(InputError):
        inspect_policy("CartPole-v1")
    with pytest.raises(InputError):
        inspect_policy("CartPole-v1", "missing.py:nothing")


WORLDS = "tests.unit.preflight.environment.contract_worlds"


def test_a_policy_that_forks_is_named_as_that_and_looked_at_to_the_end() -> None:
    seen = inspect_policy(f"{WORLDS}:Drive", f"{WORLDS}:forking_policy", limits=Limits(seconds=60.0, silence_s=20.0))
    assert "policy forked and returned twice" in seen.notes[0]
    assert "policy-raises" in seen.clear


def test_a_policy_that_hangs_is_told_with_the_call_and_the_actions_before() -> None:
    seen = inspect_policy(f"{WORLDS}:Drive", f"{WORLDS}:hanging_policy", limits=Limits(seconds=60.0, silence_s=3.0))
    assert seen.verdict is Verdict.UNDECIDED
    assert "hung) in policy after 0 actions" in seen.notes[0]


class Choices(Drive):
    """Two choices at once."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gym.spaces.MultiDiscrete([3, 2])

    def force(self, action: Any) -> Any:
        return np.array([action[0] - 1, action[1]], float)


class Parts(Drive):
    """A choice and a force."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gym.spaces.Dict(move=gym.spaces.Discrete(3), push=gym.spaces.Box(-1, 1, (2,), np.float32))

    def step(self, action: Any) -> Any:
        return super().step(np.clip(action["push"], -1, 1) * action["move"])


MISFITS = [
    (Choices, lambda s: np.array([3, 1]), "action[0] is 3, outside [0, 2]"),
    (Choices, lambda s: 1, "shape (), expected (2,)"),
    (Choices, lambda s: s[:2], "whole numbers are expected"),
    (Parts, lambda s: {"move": 1}, "lacks 'push'"),
    (Parts, lambda s: {"move": 5, "push": s[:2]}, "action['move'] is 5, outside [0, 2]"),
    (Parts, lambda s: {"move": 1, "push": np.full(2, np.nan)}, "action['push'] is not finite"),
    (Parts, lambda s: s[:3], "expected a dict of move, push"),
]


@pytest.mark.parametrize(("make", "policy", "words"), MISFITS)
def test_actions_of_several_parts_that_are_not_in_the_space(make: Any, policy: Any, words: str):
    symptom = finds("action-not-in-space", trial(make, policy))
    assert symptom is not None
    assert words in symptom.message


@pytest.mark.parametrize(
    ("make", "policy"),
    [
        (Choices, lambda s: np.array([2 * (s[0] < 0), s[1] < 0], int)),
        (Choices, lambda s: [int(s[0] < 0), 1]),
        (Parts, lambda s: {"move": np.int64(s[0] < 0), "push": np.clip(-s[:2], -1, 1).astype(np.float64)}),
        (pendulum, lambda s: np.full(1, 9.0)),
    ],
)
def test_actions_of_several_parts_that_fit_are_quiet(make: Any, policy: Any):
    assert finds("action-not-in-space", trial(make, policy)) is None


def test_what_fits_a_space_of_several_parts_is_played():
    space, answer = Parts().action_space, {"move": np.int64(2), "push": np.ones(2, np.float32)}
    assert playable(space, answer) is answer
    assert space.contains(playable(space, {"move": 9}))


def test_a_policy_of_several_parts_is_inspected_to_the_end():
    seen = inspect_policy(Parts, lambda s: {"move": 1, "push": np.clip(-s[:2], -1, 1)})
    assert seen.verdict is Verdict.HEALTHY


def exits(seen: Any) -> Any:
    raise SystemExit(3)


def test_a_policy_that_exits_is_a_finding():
    symptom = finds("policy-raises", trial(Drive, exits))
    assert symptom is not None
    assert "SystemExit: 3" in symptom.message


def test_an_answer_that_is_no_number_is_said_so():
    symptom = finds("action-kind-mismatch", trial(cartpole, lambda s: "left"))
    assert symptom is not None
    assert "are no numbers" in symptom.message


def test_an_index_that_does_not_exist_is_not_called_unsquashed():
    symptom = finds("action-outside-bounds", trial(cartpole, lambda s: 1 + int(s[2] > 0)))
    assert symptom is not None
    assert "do not exist (there are 0 to 1)" in symptom.message
    assert "squashed" not in symptom.message


class Keeper:
    """An agent with `act`."""

    def act(self, seen: Any, deterministic: bool) -> Any:
        return int(seen[2] + 0.3 * seen[3] > 0)


class Model:
    """A model with `predict`, as in Stable-Baselines3."""

    def predict(self, seen: Any, deterministic: bool = False) -> tuple[Any, None]:
        return Keeper().act(seen, True), None


@pytest.mark.parametrize("expert", [Keeper, Keeper(), Model()])
def test_an_expert_may_be_an_object(expert: Any):
    seen = inspect_policy(cartpole, expert=expert, episodes=20)
    assert seen.verdict is Verdict.HEALTHY, seen.findings


class Unpaid(Drive):
    """Pays NaN."""

    def pay(self) -> float:
        return float("nan")


def test_returns_that_are_not_finite_are_said_to_be():
    seen = inspect_policy(Unpaid, expert=steer, episodes=12)
    assert [f.message for f in seen.findings] == ["24 of 24 returns are NaN or infinite: nothing can be compared"]
    assert "difference" not in seen.details

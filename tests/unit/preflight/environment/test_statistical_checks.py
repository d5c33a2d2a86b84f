"""Every statistical check: a world on which it fires, and worlds on which it must not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from firstbreak.check import LONGEST_MESSAGE, checks_of, find_check, look_at
from firstbreak.finding import Severity, Skip
from firstbreak.preflight.environment.checks.time_limit_as_terminated import _piled as piled
from firstbreak.preflight.environment.world import World
from tests.unit.preflight.environment import broken_worlds as bad
from tests.unit.preflight.environment.small_worlds import (
    Drive,
    Grid,
    Table,
    by_hand,
    changed,
    finds,
    record,
    wrapped,
)

MINE = [c for c in checks_of("environment") if c.code >= "PEN040"]
CARTPOLE = bad.CARTPOLE


@cache
def recorded(make: Callable[[], Any], limit: int | None = None) -> World:
    return record(make, steps=1200, most=2000, limit=limit)


def zero(*entries: int) -> Callable[[Any], Any]:
    return lambda seen: np.where(np.isin(np.arange(len(seen)), entries), 0, seen).astype(np.float32)


CASES: dict[str, tuple[Any, list[Any]]] = {
    "observation-not-finite": (
        changed(Table, look=bad.nan_after_50),
        [changed(Table, look=lambda w: (w.state * (9 if w.t > 50 else 1)).astype(np.float32))],
    ),
    "reward-not-finite": (
        changed(Table, pay=lambda w: float("inf") if w.t > 50 else 0.5),
        [changed(Table, pay=lambda w: 1e6 if w.t > 50 else 0.5)],
    ),
    "action-bounds-inverted": (bad.Inverted, [Drive, Table]),
    "observation-constant": (
        changed(Table, look=lambda w: np.ones(3, np.float32)),
        [changed(Table, look=lambda w: (w.state if w.t > 10 else np.ones(3)).astype(np.float32))],
    ),
    "observation-outliers": (bad.Spiky, [bad.HeavyTailed, Drive]),
    "step-reward-outliers": (bad.Jackpot, [bad.Bonus, changed(bad.Jackpot, factor=100.0)]),
    "reward-size-absurd": (
        changed(Table, pay=lambda w: 1e12 * np.tanh(w.state[0])),
        [changed(Table, pay=lambda w: 10.0)],
    ),
    "crash-on-extreme-action": (bad.CornerCrash, [Drive, Grid]),
    "not-finite-on-extreme-action": (
        changed(Drive, force=lambda w, a: a if abs(a).sum() < 1.99 else a * np.nan),
        [changed(Drive, force=lambda w, a: a * np.sqrt(max(0.0, 1.95 - abs(a).sum())))],
    ),
    "explosion-on-extreme-action": (bad.Unbounded, [bad.Capped, Drive]),
    "action-without-effect": (changed(Drive, force=lambda w, a: a * [1, 0]), [bad.Delayed, bad.NoOp]),
    "discrete-actions-identical": (changed(Grid, moves=((0, 1), (1, 0), (0, -1), (0, -1))), [bad.NoOp, Table]),
    "action-effect-negligible": (
        changed(Drive, force=lambda w, a: 1e-5 * a),
        [changed(Drive, force=lambda w, a: 0.05 * a), lambda: gym.make("MountainCarContinuous-v0")],
    ),
    "action-dimension-dominates": (
        changed(Drive, force=lambda w, a: a * [5000, 1]),
        [changed(Drive, force=lambda w, a: a * [20, 1]), changed(Drive, look=lambda w: w.state * [1000, 1, 1, 1])],
    ),
    "action-clipped-inside-range": (
        lambda: bad.Rescaled(gym.make("Pendulum-v1")),
        [lambda: gym.make("Pendulum-v1")],
    ),
    "observation-unpredictable": (lambda: bad.Mangled(gym.make("CartPole-v1")), [bad.Noisy, Table]),
    "observation-repeats": (
        lambda: bad.Stale(gym.make("CartPole-v1")),
        [CARTPOLE, Grid, lambda: gym.make("MountainCar-v0")],
    ),
    "step-without-effect": (bad.Swallowing, [Drive, Grid]),
    "observation-late": (bad.Late, [Drive, bad.seen_as(CARTPOLE, zero(1, 3))]),
    "hidden-state": (
        bad.seen_as(CARTPOLE, zero(1, 3)),
        [CARTPOLE, bad.seen_as(CARTPOLE, lambda s: (s * [1, 7, 1, 0.2]).astype(np.float32)), bad.Noisy],
    ),
    "stuck-state": (changed(Grid, stuck=lambda w: w.cell == (2, 2)), [bad.Walled, Grid]),
    "state-grows-without-bound": (changed(Drive, drag=-0.2, limit=500), [Drive, changed(Drive, drag=0.0, limit=1000)]),
    "zero-action-drift": (
        changed(Drive, force=lambda w, a: a + np.array([0.5, 0]), limit=250),
        [changed(Drive, limit=250), lambda: gym.make("Pendulum-v1")],
    ),
    "time-limit-as-terminated": (bad.LIMIT_AS_END, [changed(bad.LIMIT_AS_END, look=bad.timed), Table, CARTPOLE]),
    "episodes-never-end": (changed(Table, ends=lambda w: (False, False)), [changed(Table, limit=1000)]),
    "truncation-at-varying-lengths": (changed(Grid, ends=lambda w, goal: (False, goal or w.t >= 100)), [Grid, Table]),
    "reward-unrelated": (bad.RandomPay, [Drive, Table, CARTPOLE]),
}


@pytest.mark.parametrize("name", CASES)
def test_fires_and_stays_silent(name: str):
    broken, harmless = CASES[name]
    symptom = finds(name, recorded(broken))
    assert symptom is not None
    assert len(symptom.message) <= LONGEST_MESSAGE
    assert any(c.isdigit() for c in symptom.message)
    for make in harmless:
        assert finds(name, recorded(make)) is None, make


@pytest.mark.parametrize("make", [CARTPOLE, bad.PENDULUM, lambda: gym.make("MountainCar-v0"), Table, Drive, Grid])
def test_healthy_worlds_have_nothing_at_warning(make: Any):
    for one in MINE:
        look = look_at(one, recorded(make))
        assert not look.error, (one.name, look.error)
        if look.symptom is not None:
            assert (look.symptom.severity or one.severity) is Severity.INFO, look.symptom


@pytest.mark.parametrize("one", MINE, ids=lambda c: c.name)
def test_nothing_recorded_is_never_an_error(one: Any):
    empty = World("empty", lambda: None, gym.spaces.Box(-1, 1, (2,)), gym.spaces.Discrete(2), None)
    assert not look_at(one, empty).error
    one_step = by_hand([[0.0, 1.0], [0.0, 2.0]])
    assert not look_at(one, one_step).error


@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize(
    "name", ["observation-outliers", "observation-repeats", "hidden-state", "observation-unpredictable"]
)
def test_verdicts_do_not_hang_on_the_unit_of_observations(name: str, factor: float):
    broken, harmless = CASES[name]
    assert finds(name, recorded(bad.seen_as(broken, lambda s: (factor * s).astype(np.float32)))) is not None
    quiet = bad.seen_as(harmless[0], lambda s: (factor * s).astype(np.float32))
    assert finds(name, recorded(quiet)) is None


def test_verdicts_do_not_hang_on_the_unit_of_rewards():
    for factor in (0.1, 10.0):
        assert finds("reward-unrelated", recorded(changed(Drive, pay=lambda w, f=factor: f * -abs(w.state[0])))) is None
        loud = changed(bad.Jackpot, pay=lambda w, f=factor: f * bad.Jackpot.pay(w))
        assert finds("step-reward-outliers", recorded(loud)) is not None


def test_dead_dimensions_and_their_harmless_kinds():
    dead = finds("observation-dimension-dead", recorded(bad.Longer))
    assert dead is not None
    assert dead.severity is None
    assert dead.evidence["dead"] == 12
    for harmless in (bad.Flags, changed(bad.Longer, fill=9.81)):
        note = finds("observation-dimension-dead", recorded(harmless))
        assert note is not None
        assert note.severity is Severity.INFO
    sparse = np.random.default_rng(0).normal(size=(300, 3)) * [1, 0, 1]
    sparse[::2, 2] = 0
    note = finds("observation-dimension-dead", by_hand(sparse))
    assert note is not None
    assert note.severity is Severity.INFO
    assert finds("observation-dimension-dead", recorded(Drive)) is None


def test_scales_warn_for_one_giant_and_note_a_wide_range():
    giant = finds("observation-scales-differ", recorded(changed(Drive, look=lambda w: w.state * [5000, 1, 1, 1])))
    assert giant is not None
    assert giant.severity is None
    small = finds("observation-scales-differ", recorded(changed(Drive, look=lambda w: w.state * [0.001, 1, 1, 1])))
    assert small is not None
    assert small.severity is Severity.INFO
    assert finds("observation-scales-differ", recorded(changed(Drive, look=lambda w: w.state * [10, 1, 1, 1]))) is None


def test_one_step_episodes_are_an_error_only_where_more_was_meant():
    short = wrapped(CARTPOLE, step=lambda self, action: (*self.env.step(action)[:2], True, False, {}))
    answer = finds("episodes-of-one-step", record(short, steps=30))
    assert answer is not None
    assert answer.severity is None
    bandit = changed(Table, limit=1)
    note = finds("episodes-of-one-step", recorded(bandit, 1))
    assert note is not None
    assert note.severity is Severity.INFO
    assert finds("episodes-of-one-step", recorded(changed(Table, limit=2))) is None


def test_a_constant_bandit_is_a_note():
    bandit = changed(Table, limit=1, look=lambda w: np.ones(3, np.float32))
    note = finds("observation-constant", recorded(bandit))
    assert note is not None
    assert note.severity is Severity.INFO


def test_all_actions_ignored_is_an_error():
    answer = finds("action-without-effect", recorded(bad.Scheduled))
    assert answer is not None
    assert answer.severity is Severity.ERROR


def test_equal_no_ops_are_a_note():
    twice = changed(Grid, moves=((0, 1), (1, 0), (0, -1), (-1, 0), (0, 0), (0, 0)))
    note = finds("discrete-actions-identical", recorded(twice))
    assert note is not None
    assert note.severity is Severity.INFO


def test_an_action_that_mostly_meets_a_wall_is_no_no_op():
    drifting = changed(Grid, moves=((0, 1), (0, -1), (-1, 0), (-1, 0)))
    found = finds("discrete-actions-identical", recorded(drifting))
    assert found is not None
    assert found.severity is None


def test_a_reward_for_living_that_nothing_can_end_is_a_warning():
    def severity(**parts: Any) -> Severity | None:
        found = finds("terminated-never-seen", recorded(changed(Table, **parts)))
        return None if found is None else found.severity or Severity.INFO

    assert severity(pay=lambda w: 1.0) is Severity.WARNING
    assert severity(pay=lambda w: -1.0) is Severity.INFO
    assert severity(pay=lambda w: 0.0) is Severity.INFO
    assert severity(pay=lambda w: 1.0 + (w.t == 90)) is Severity.INFO
    assert severity(pay=lambda w: 1.0, ends=lambda w: (False, w.t >= 90 + len(str(w.state[0])) % 7)) is Severity.INFO
    assert severity(pay=lambda w: 1.0, ends=lambda w: (abs(w.state[0]) > 1, w.t >= 100)) is None


def test_a_limit_that_is_not_kept():
    assert finds("time-limit-not-kept", recorded(Table, 60)) is not None
    assert finds("time-limit-not-kept", recorded(Table, 100)) is None


def test_notes():
    assert finds("episodes-very-short", recorded(changed(Table, limit=5))) is not None
    assert finds("episodes-very-short", recorded(changed(Table, limit=10))) is None
    assert finds("terminated-never-seen", recorded(Table)) is not None
    assert finds("terminated-never-seen", recorded(CARTPOLE)) is None
    assert finds("reward-never-varies", recorded(CARTPOLE)) is not None
    assert finds("reward-never-varies", recorded(Table)) is None
    assert finds("action-space-unbounded", recorded(bad.Unbounded)) is not None
    assert finds("action-space-unbounded", recorded(Drive)) is None
    assert finds("action-space-not-normalised", recorded(bad.PENDULUM)) is not None
    assert finds("action-space-not-normalised", recorded(Drive)) is None
    assert finds("return-scale-far-from-one", recorded(changed(Table, pay=lambda w: 100 * w.state[0]))) is not None
    assert finds("return-scale-far-from-one", recorded(Table)) is None
    assert finds("image-observation-format", recorded(bad.Picture)) is not None
    assert finds("image-observation-format", recorded(changed(bad.Picture, top=1.0))) is None
    assert finds("image-observation-format", recorded(changed(bad.Picture, kind=np.uint8))) is None


def test_never_ending_withholds_its_consent_when_nothing_can_be_played_on():
    answer = find_check("episodes-never-end").look(by_hand(np.arange(50.0)[:, None]))
    assert isinstance(answer, Skip)
    assert answer.withholds


def test_every_page_has_its_sections():
    for one in MINE:
        for heading in ("What is measured", "Why it hurts", "Usual causes", "What to try", "harmless", "References"):
            assert heading in one.doc, one.name


def test_few_episodes_at_a_limit_are_seen_where_the_lengths_below_thin_out() -> None:
    """Most episodes end by themselves; the few that reach the limit tie there."""
    draw = np.random.default_rng(0)
    smooth = [int(n) for n in np.minimum(draw.geometric(1 / 80, 115), 10**6)]
    assert not piled(smooth, smooth.count(max(smooth)))
    limited = [min(n, 270) for n in smooth]
    assert 4 <= limited.count(270) < 0.05 * len(limited)
    assert piled(limited, limited.count(270))


def test_lengths_that_thin_out_smoothly_hardly_ever_tie_at_the_largest() -> None:
    draw = np.random.default_rng(1)
    runs = [[int(n) for n in draw.geometric(1 / mean, 300) + 10] for mean in (15, 40, 120) for _ in range(300)]
    assert sum(piled(lengths, lengths.count(max(lengths))) for lengths in runs) == 0

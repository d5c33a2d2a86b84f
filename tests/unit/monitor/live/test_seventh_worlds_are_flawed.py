"""The seventh list holds what was drawn and collapsed in a trial, and its environments do what seventh.toml says."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import seventh_doses
import seventh_reference_plants
import seventh_sb3_plants
from seventh import SEVENTH
from seventh_candidates import CANDIDATES
from seventh_draw import draw
from seventh_tasks import Beam, Lane, made
from seventh_worlds import BOUND, FAULTS, SPREAD, Normaliser, maker
from worlds import Truth

LIVE = Path(__file__).resolve().parents[4] / "benchmarks" / "live"
LANGUAGE = {
    "labels-off", "pattern-narrow", "substring-enough", "form-outweighs", "padding-sampled", "infinity-masked",
    "paths-apart", "rollouts-behind", "verifier-falls-over", "judge-swapped", "room-too-short",
    "scored-at-another-heat",
}  # fmt: skip
SUBJECT = {"Beam": "ppo_beam", "Lane": "sac_lane"}


def pair(name: str, fault: str, dose: float, monkeypatch: pytest.MonkeyPatch) -> tuple[Truth, Any, Any]:
    """Return a copy, not scaled, in which `fault` is on, and one that is as it was, alike otherwise."""
    monkeypatch.setitem(seventh_doses.CHOSEN, (fault, SUBJECT[name]), dose)
    truth = Truth()
    broken, whole = (maker(name, SUBJECT[name], heard, 0, None)().env for heard in (truth, Truth()))
    for env in (broken, whole):
        env.reset(seed=0)
        for _ in range(3):
            env.step(still(name))
    truth.fault, truth.began = fault, truth.steps
    return truth, broken, whole


def still(name: str) -> Any:
    """Return an action that does nothing."""
    return 1 if name == "Beam" else np.zeros(2)


def test_the_seventh_list_is_what_was_drawn_and_collapsed() -> None:
    chosen, rows = draw(), [json.loads(line) for line in (LIVE / "seventh_trials.jsonl").read_text().splitlines()]
    collapsed = {(f, s): dose for f, s, dose, left, *_ in rows if f and (left == "died" or left < 0.5)}
    listed = {(f["id"], s): f["dose"][s] for f in SEVENTH.faults().values() for s in f["subjects"]}
    assert listed == collapsed
    for fault in SEVENTH.faults().values():
        link, subjects = chosen[fault["source"]]
        assert CANDIDATES[fault["source"]].fault == fault["id"]
        assert fault["link"] == link
        assert set(fault["subjects"]) == set(fault["dose"]) <= set(subjects)
    for source, (_, subjects) in chosen.items():
        fault, doses = CANDIDATES[source].fault, CANDIDATES[source].doses
        for subject in subjects:
            found = [dose for f, s, dose, *_ in rows if (f, s) == (fault, subject)]
            assert found, (fault, subject)
            assert found == list(doses[doses.index(found[0]) :][: len(found)]), (fault, subject)
            assert (fault, subject) in collapsed or found[-1] == doses[-1], (fault, subject)


def test_the_seventh_list_has_a_place_for_every_fault() -> None:
    for fault in SEVENTH.faults().values():
        for subject in fault["subjects"]:
            kind = subject.split("_")[0]
            plants = {"sb3": seventh_sb3_plants.PLANTS, "grpo": LANGUAGE}.get(kind, seventh_reference_plants.PLANTS)
            assert fault["id"] in FAULTS or fault["id"] in plants, (fault["id"], subject)
    twins = [order for order in SEVENTH.orders() if not order[1]]
    assert len(twins) >= 32
    assert len({subject for subject, _, _ in twins}) == 8


def test_no_subject_of_the_seventh_list_is_in_the_lists_before() -> None:
    names = ("faults", "unseen", "third", "fourth", "fifth", "sixth")
    before = [f for name in names for f in tomllib.loads((LIVE / f"{name}.toml").read_text())["fault"]]
    assert not {f["id"] for f in before} & set(SEVENTH.faults())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in SEVENTH.orders()}
    sixth = tomllib.loads((LIVE / "sixth.toml").read_text())["fault"]
    drawn_again = {f["source"] for f in sixth} & set(draw())
    assert drawn_again <= {"S06"}


@pytest.mark.parametrize("name", ["Beam", "Lane"])
def test_without_a_fault_all_is_passed_on(name: str) -> None:
    truth = Truth()
    env, bare = maker(name, SUBJECT[name], truth, 0, None)().env, made(name)
    assert np.array_equal(env.reset(seed=5)[0], bare.reset(seed=5)[0])
    total, over = 0.0, False
    while not over:
        action = bare.action_space.sample()
        found, expected = env.step(action), bare.step(action)
        assert np.array_equal(found[0], expected[0])
        assert found[1:4] == expected[1:4]
        total, over = total + expected[1], expected[2] or expected[3]
    assert truth.episodes == [(truth.steps, pytest.approx(total))]


def test_what_is_seen_is_scaled_and_begun_anew_once_for_all_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    scale, generator = Normaliser(2), np.random.default_rng(0)
    found = np.array([scale(row) for row in generator.normal([3.0, -1.0], [10.0, 0.1], (2000, 2))])
    assert np.allclose(found[1000:].mean(axis=0), 0, atol=0.1)
    assert np.allclose(found[1000:].std(axis=0), 1, atol=0.1)
    assert scale(np.array([1e9, -1.0]))[0] <= BOUND
    monkeypatch.setitem(seventh_doses.CHOSEN, ("resumed-bare", "ppo_beam"), 1)
    truth = Truth()
    make = maker("Beam", "ppo_beam", truth, 0, None)
    one, other = make(), make()
    for env in (one, other):
        env.reset(seed=0)
        for _ in range(5):
            env.step(1)
    truth.fault = "resumed-bare"
    one.step(1)
    assert one.shared.normaliser.count == pytest.approx(1, abs=0.01)
    other.step(1)
    assert one.shared.normaliser.count == pytest.approx(2, abs=0.01)


def until_over(env: Any, action: Any) -> list[tuple[Any, float]]:
    """Return observations and rewards of the rest of an episode."""
    rows: list[tuple[Any, float]] = []
    over = False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(action)
        rows.append((np.array(obs), float(reward)))
        over = terminated or truncated
    return rows


def test_outcomes_are_drawn_from_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, _ = pair("Lane", "outcomes-drawn", 1.0, monkeypatch)
    memory = [(tuple(obs), reward) for obs, reward in broken.shared.memory]
    assert len(memory) == 3
    found = until_over(broken, np.zeros(2))
    assert all((tuple(obs), reward) in memory for obs, reward in found)
    assert truth.episodes[0][0] == truth.steps
    _, broken, whole = pair("Lane", "outcomes-drawn", 0.3, monkeypatch)
    both = zip(until_over(broken, np.zeros(2)), until_over(whole, np.zeros(2)), strict=True)
    kept = [np.array_equal(found[0], expected[0]) for found, expected in both]
    assert 0 < sum(kept) < len(kept)


def test_after_an_end_come_steps_that_never_were(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, _ = pair("Beam", "ghost-steps", 3, monkeypatch)
    last = until_over(broken, 2)[-1][0]
    first = broken.reset(seed=1)[0]
    assert np.array_equal(first, last)
    steps = truth.steps
    found = [broken.step(action) for action in (0, 2, 0)]
    start = made("Beam").reset(seed=1)[0]
    assert [np.array_equal(f[0], last) for f in found] == [True, True, False]
    assert np.array_equal(found[2][0], start)
    assert [f[1:4] for f in found] == [(0.0, False, False)] * 3
    assert truth.steps == steps + 3
    assert len(truth.episodes) == 1
    bare = made("Beam")
    bare.reset(seed=1)
    assert np.array_equal(broken.step(1)[0], bare.step(1)[0])


def test_units_of_actions_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair("Lane", "units-dropped", 0.15, monkeypatch)
    assert np.allclose(broken.step(np.full(2, 0.8))[0], whole.step(np.full(2, 0.12))[0], atol=1e-6)


def test_actions_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, whole = pair("Lane", "action-held", 4, monkeypatch)
    found, expected = broken.step(np.full(2, 0.1)), [whole.step(np.full(2, 0.1)) for _ in range(4)]
    assert np.array_equal(found[0], expected[-1][0])
    assert found[1] == pytest.approx(sum(e[1] for e in expected))
    assert truth.steps == 4


def test_rewards_are_drowned(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, whole = pair("Beam", "reward-drowned", 10, monkeypatch)
    noise = [a[1] - b[1] for a, b in zip(until_over(broken, 1), until_over(whole, 1), strict=True)]
    for seed in range(60):
        broken.reset(seed=seed)
        whole.reset(seed=seed)
        noise += [a[1] - b[1] for a, b in zip(until_over(broken, 1), until_over(whole, 1), strict=True)]
    assert np.std(noise) == pytest.approx(10 * SPREAD["Beam"], rel=0.1)
    assert np.mean(noise) == pytest.approx(0, abs=0.5)
    assert max(total for _, total in truth.episodes) < 60


@pytest.mark.parametrize("name", ["Beam", "Lane"])
def test_the_distance_is_paid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, whole = pair(name, "distance-paid", 3, monkeypatch)
    found, expected = broken.step(still(name)), whole.step(still(name))
    assert found[1] == pytest.approx(expected[1] + 4 * expected[4]["off"])
    assert expected[4]["off"] > 0
    assert broken.total == pytest.approx(whole.total)
    assert not truth.episodes


@pytest.mark.parametrize("name", ["Beam", "Lane"])
def test_a_potential_is_kept_at_the_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair(name, "potential-kept", 10, monkeypatch)
    before = whole.out
    found, expected = broken.step(still(name)), whole.step(still(name))
    assert before > 0
    assert found[1] - expected[1] == pytest.approx(10 * (0.97 * expected[4]["out"] - before))
    last = until_over(broken, 2 if name == "Beam" else np.array([1.0, 0.0]))
    assert last[-1][1] > until_over(whole, 2 if name == "Beam" else np.array([1.0, 0.0]))[-1][1]


def test_a_ball_that_falls_and_a_car_that_leaves_end_it() -> None:
    beam = Beam()
    beam.reset(seed=0)
    beam.x, beam.speed = 0.99, 0.1
    assert beam.step(1)[1:4] == (pytest.approx(1 - abs(beam.x - beam.mark) - 2), True, False)
    lane = Lane()
    lane.reset(seed=0)
    lane.off, lane.heading = 0.99, 1.0
    _, reward, terminated, truncated, _ = lane.step(np.zeros(2))
    assert (terminated, truncated) == (True, False)
    assert reward < -4


@pytest.mark.parametrize("name", ["Beam", "Lane"])
def test_control_matters(name: str) -> None:
    """Doing nothing loses control long before the time limit."""
    env, counts = made(name), []
    for seed in range(20):
        env.reset(seed=seed)
        rows = until_over(env, still(name))
        counts.append(len(rows))
    assert np.mean(counts) < 0.8 * env.limit


def test_nothing_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, _ = pair("Lane", "reset-forgotten", 1, monkeypatch)
    last = until_over(broken, np.zeros(2))[-1][0]
    assert np.array_equal(broken.reset()[0], last)
    assert len(until_over(broken, np.zeros(2))) == 1
    assert len(truth.episodes) == 2


def test_one_observation_is_in_other_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(seventh_doses.CHOSEN, ("feature-unscaled", "ppo_beam"), 100)
    truth = Truth()
    env, bare = maker("Beam", "ppo_beam", truth, 0, None)(), made("Beam")
    truth.fault = "feature-unscaled"
    found, expected = env.reset(seed=3)[0], bare.reset(seed=3)[0]
    assert np.allclose(found, expected * [100, 1, 1, 1])


@pytest.mark.parametrize(("name", "hidden"), [("Beam", [1]), ("Lane", [1, 2])])
def test_speeds_are_hidden(name: str, hidden: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair(name, "speeds-hidden", 1, monkeypatch)
    found, expected = broken.step(still(name))[0], whole.step(still(name))[0]
    assert not found[hidden].any()
    assert np.array_equal(np.delete(found, hidden), np.delete(expected, hidden))


def test_rewards_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, whole = pair("Lane", "bound-on-rewards", 0.3, monkeypatch)
    found = [reward for _, reward in until_over(broken, np.array([1.0, 0.0]))]
    expected = [reward for _, reward in until_over(whole, np.array([1.0, 0.0]))]
    assert found == pytest.approx(list(np.clip(expected, -0.3, 0.3)))
    assert truth.episodes[0][1] == pytest.approx(whole.total)

"""Every reward check: a case that fires, a healthy one, a near miss; and what holds for all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from firstbreak.check import LONGEST_MESSAGE, Look, checks_of, look_at
from firstbreak.diagnosis import Verdict
from firstbreak.finding import Severity
from firstbreak.preflight.reward.api import inspect_reward
from firstbreak.preflight.reward.sample import RewardSample
from tests.unit.preflight.reward.made_samples import (
    Make,
    balanced,
    ceiling,
    circling,
    clipped,
    defaults,
    end_only,
    energy,
    first_free,
    forgotten,
    grouped,
    height,
    hidden,
    judged,
    late,
    living,
    longer,
    not_adding,
    one_sensor,
    parted,
    peaked,
    peaking,
    played,
    rarely_paid,
    remembers,
    replays,
    rng,
    sample,
    shaped,
    size,
    squashed,
    steps,
    still,
    training,
    with_dead,
    world,
)

CASES: dict[str, tuple[list[Make], list[Make]]] = {
    "rewards-not-finite": (
        [lambda: sample([1.0, float("nan")] * 20), lambda: steps([1.0] * 39 + [float("inf")])],
        [lambda: sample(rng().normal(size=40)), lambda: sample([1e300] * 40)],
    ),
    "reward-always-zero": (
        [lambda: steps(np.zeros(4000)), lambda: played(np.zeros(4000))],
        [lambda: sample(rng().normal(size=40)), lambda: steps([0.0] * 3999 + [1.0])],
    ),
    "reward-saturated": (
        [lambda: sample(np.ones(500)), lambda: sample([1.0] * 495 + [0.0] * 5)],
        [
            lambda: sample(rng().integers(0, 2, 500)),
            lambda: RewardSample(np.ones(585), episode=np.repeat(np.arange(30), np.arange(5, 35))),
        ],
    ),
    "reward-too-sparse": (
        [lambda: sample([1.0, 1.0] + [0.0] * 998)],
        [lambda: sample(rng().normal(size=100)), lambda: steps(np.tile([0.0] * 39 + [1.0], 100))],
    ),
    "groups-without-spread": ([lambda: grouped(94)], [lambda: grouped(0), lambda: grouped(30)]),
    "reward-long-tail": (
        [lambda: sample(rng().lognormal(0, 3, 3000))],
        [
            lambda: sample(rng().normal(size=3000)),
            lambda: sample(rng().exponential(size=3000)),
            lambda: sample([1.0] * 3 + [0.0] * 397),
        ],
    ),
    "return-spans-orders": (
        [lambda: sample(10 ** rng().uniform(-3, 4, 500))],
        [lambda: sample(rng().normal(size=500)), lambda: sample(rng().lognormal(0, 1.5, 500))],
    ),
    "return-scale-extreme": (
        [lambda: steps(1e4 * rng().normal(size=4000)), lambda: steps(1e-6 * rng().normal(size=4000))],
        [lambda: steps(rng().normal(size=4000)), lambda: steps(4000 + rng().normal(size=4000))],
    ),
    "reward-opposes-reference": (
        [lambda: judged(-0.9), lambda: judged(0.9, name="distance_to_goal")],
        [lambda: judged(0.6), lambda: judged(0.0)],
    ),
    "reward-unrelated-to-reference": ([lambda: judged(0.0)], [lambda: judged(0.6), lambda: judged(0.2, 40)]),
    "top-rewards-judged-badly": (
        [lambda: peaked(1.0)],
        [lambda: peaked(-1.0), lambda: judged(0.0)],
    ),
    "reward-sign-unclear": (
        [lambda: sample(np.concatenate([rng().normal(-1, 0.1, 99), rng().normal(1, 0.1, 99)]))],
        [lambda: sample(rng().normal(size=200)), lambda: sample(rng().normal(1, 0.1, 200))],
    ),
    "reward-leaves-metric": (
        [lambda: training(0.45), lambda: peaking(0.4)],
        [lambda: training(0.0), lambda: training(-0.05), lambda: peaking(0.8), lambda: peaking(0.72)],
    ),
    "score-follows-length": ([lambda: longer(2.0)], [lambda: longer(0.0), lambda: longer(0.3)]),
    "default-value-spike": (
        [lambda: defaults(0.2, 0.0)],
        [lambda: defaults(0.0, 0.0), lambda: defaults(0.01, 0.0), lambda: sample(rng().integers(0, 2, 500))],
    ),
    "reward-clipped": (
        [lambda: clipped(1.0), lambda: ceiling(1.1)],
        [lambda: clipped(9.0), lambda: clipped(3.4), lambda: ceiling(0.5), lambda: sample(rng().integers(0, 2, 800))],
    ),
    "reward-parts-identical": (
        [lambda: one_sensor(0.0), lambda: one_sensor(0.0, factor=-0.5)],
        [lambda: one_sensor(1e-3), lambda: parted({"a": 1.0, "b": 1.0}), rarely_paid],
    ),
    "reward-rises-alone": (
        [lambda: still(0.1)],
        [lambda: still(0.97), lambda: still(0.1, rise=0.1), lambda: still(0.1, slope=0.1), lambda: training(0.0)],
    ),
    "reward-part-dominates": (
        [lambda: parted({"heading": 50.0, "progress": 1.0})],
        [lambda: parted({"a": 1.0, "b": 1.0}), lambda: parted({"a": 2.0, "b": 1.0})],
    ),
    "reward-parts-cancel": ([lambda: balanced(0.2)], [lambda: balanced(5.0), lambda: balanced(1.0)]),
    "reward-part-dead": (
        [lambda: with_dead("contact", np.zeros(1000))],
        [lambda: parted({"a": 1.0, "b": 1.0}), lambda: with_dead("contact", np.arange(1000) % 200 == 0)],
    ),
    "reward-parts-do-not-add-up": (
        [lambda: not_adding(0.1), lambda: forgotten(0.0), lambda: hidden(3.0), lambda: squashed(2.0)],
        [
            lambda: parted({"a": 1.0, "b": 1.0}),
            lambda: replace(parted({"a": 1.0}), rewards=7 * parted({"a": 1.0}).rewards),
            lambda: forgotten(0.01),
            lambda: forgotten(-1.0),
            lambda: hidden(1e-6),
            rarely_paid,
        ],
    ),
    "shaping-not-potential-based": (
        [lambda: shaped(lambda s, a, n, over: 0.99 * height(n) - height(s))],
        [
            lambda: shaped(lambda s, a, n, over: 0.99 * (0.0 if over else height(n)) - height(s)),
            lambda: shaped(lambda s, a, n, over: 0.99 * (0.0 if over else height(n)) - (1 + 1e-9) * height(s)),
            lambda: played(rng().normal(size=400)),
        ],
    ),
    "penalty-pays": ([lambda: energy(1.0)], [lambda: energy(-1.0), lambda: parted({"energy": 1.0, "b": 1.0})]),
    "reward-ignores-agent": (
        [lambda: played(rng().normal(size=400), replays=replays("other_actions", 0.0))],
        [
            lambda: played(rng().normal(size=400), replays=replays("other_actions", 0.3)),
            lambda: played(np.ones(400), replays=replays("other_actions", 0.0, spread=0.0)),
        ],
    ),
    "reward-not-explained": (
        [
            lambda: world(lambda s, a, r: 5 + r.normal(size=(30, 40))),
            lambda: world(lambda s, a, r: size(s, a, r) + 40 * r.normal(size=(30, 40))),
        ],
        [lambda: world(size), lambda: world(lambda s, a, r: size(s, a, r) + 2 * r.normal(size=(30, 40)))],
    ),
    "reward-fixed-per-episode": (
        [lambda: played(np.repeat(5 + rng().normal(size=40), 20))],
        [
            lambda: played(rng().normal(size=800)),
            lambda: played(np.repeat(rng().normal(size=40), 20) + 1e-3 * rng().normal(size=800)),
        ],
    ),
    "reward-one-step-late": ([lambda: world(late)], [lambda: world(size), lambda: world(first_free)]),
    "reward-remembers-past": (
        [lambda: played(rng().normal(size=400), replays=remembers(2.0))],
        [
            lambda: played(rng().normal(size=400), replays=remembers(0.0)),
            lambda: played(rng().normal(size=400), replays=remembers(1e-12)),
        ],
    ),
    "reward-noise": (
        [lambda: played(rng().normal(size=400), replays=replays("fresh_again", 1.3))],
        [
            lambda: played(rng().normal(size=400), replays=replays("fresh_again", 0.0)),
            lambda: played(rng().normal(size=400), replays=replays("fresh_again", 0.05)),
        ],
    ),
    "living-bonus-outweighs-goal": (
        [lambda: living(0.1, 1.0), lambda: living(0.1, 1.0, limit=None)],
        [
            lambda: living(-0.01, 1.0),
            lambda: living(0.1, 100.0),
            lambda: living(1.0, 1.0),
            lambda: living(0.04, 1.0, limit=None),
        ],
    ),
    "reward-only-at-end": ([lambda: end_only(500)], [lambda: played(rng().normal(size=4000)), lambda: end_only(30)]),
    "loop-pays": ([lambda: circling(1.0)], [lambda: circling(0.0), lambda: circling(0.01)]),
}


def put(name: str, make: Make) -> Look:
    one = next(c for c in checks_of("reward") if c.name == name)
    with np.errstate(all="ignore"):
        return look_at(one, make())


def test_every_check_has_cases() -> None:
    assert set(CASES) == {c.name for c in checks_of("reward")}


@pytest.mark.parametrize(("name", "make"), [(n, m) for n, (fires, _) in CASES.items() for m in fires])
def test_it_fires(name: str, make: Make) -> None:
    found = put(name, make)
    assert not found.error
    assert found.symptom is not None, found.skip
    assert len(found.symptom.message) <= LONGEST_MESSAGE
    assert any(letter.isdigit() for letter in found.symptom.message)


@pytest.mark.parametrize(("name", "make"), [(n, m) for n, (_, quiet) in CASES.items() for m in quiet])
def test_it_is_silent(name: str, make: Make) -> None:
    found = put(name, make)
    assert not found.error
    assert found.symptom is None, found.symptom


SCALED = sorted(set(CASES) - {"return-scale-extreme", "rewards-not-finite"})


@pytest.mark.parametrize("name", SCALED)
def test_ten_times_the_reward_changes_nothing(name: str) -> None:
    for makes in CASES[name]:
        for make in makes:
            once = make()
            ten = replace(
                once,
                rewards=10 * once.rewards,
                components={k: 10 * v for k, v in once.components.items()},
                replays=[replace(r, first=10 * r.first, second=10 * r.second) for r in once.replays],
            )
            before, after = put(name, lambda: once), put(name, lambda: ten)  # noqa: B023
            assert (before.symptom is None) == (after.symptom is None)


def test_random_play_is_not_blamed_for_what_it_cannot_show() -> None:
    for name, made in (("reward-saturated", played(-np.ones(4000))), ("reward-part-dominates", energy(-1.0))):
        found = put(name, lambda: made)  # noqa: B023
        assert found.symptom is not None
        assert found.symptom.severity is Severity.INFO


def test_a_direction_read_off_a_name_is_a_guess_and_never_an_error() -> None:
    travelled, quality = judged(0.9, name="distance"), judged(-0.9, name="human")
    guess, known = (put("reward-opposes-reference", lambda: made).symptom for made in (travelled, quality))  # noqa: B023
    assert guess is not None
    assert known is not None
    assert "if less distance is better (a guess" in guess.message
    assert guess.severity is None  # a warning, as the check says
    assert known.severity is Severity.ERROR


def test_two_rewards_are_not_healthy() -> None:
    assert inspect_reward(sample(np.array([0.5, 0.7]))).verdict is Verdict.UNDECIDED


def test_groups_that_are_all_alike_are_said_once() -> None:
    found = put("groups-without-spread", lambda: sample(np.zeros(600), group=np.arange(600) // 6))
    assert found.symptom is not None
    assert found.symptom.message.endswith("100 all at 0")

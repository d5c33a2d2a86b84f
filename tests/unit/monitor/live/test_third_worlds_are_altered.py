"""Every fault of the environment in the third live list does what third.toml says, and nothing before it is on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

from third import THIRD
from third_worlds import CLIP, CLOSER, FAULTS, LAG, LATE, maker
from worlds import Truth

TOTAL = 1000


class Pair:
    """A copy that a fault is switched on in, and one that stays as it is; both are played with the same actions."""

    def __init__(self, name: str, copies: int = 1) -> None:
        self.truth = Truth()
        make, plain = maker(name, self.truth, TOTAL, None), maker(name, Truth(), TOTAL, None)
        self.broken = [make() for _ in range(copies)]
        self.whole = [plain() for _ in range(copies)]
        for i, env in enumerate([*self.broken, *self.whole]):
            env.reset(seed=i % copies)

    def play(self, steps: int, action: Any = None, copy: int = 0) -> list[tuple[Any, Any]]:
        """Return what both answered to each step."""
        found: list[tuple[Any, Any]] = []
        for _ in range(steps):
            chosen = self.whole[copy].action_space.sample() if action is None else action
            found.append((self.broken[copy].step(chosen), self.whole[copy].step(chosen)))
        return found

    def on(self, fault: str) -> None:
        self.truth.fault, self.truth.began = fault, float(self.truth.steps)


def test_the_list_has_a_place_for_every_fault() -> None:
    known = THIRD.faults()
    assert 24 <= len(known) <= 30
    assert len({fault["link"] for fault in known.values()}) == 9
    for fault in known.values():
        for subject in fault["subjects"]:
            plants = THIRD.part("grpo_following") if subject.startswith("grpo") else plants_of(subject)
            scored = fault["id"] == "verifier-times-out" and subject.startswith("grpo")
            assert fault["id"] in FAULTS or fault["id"] in plants.PLANTS or scored, (fault["id"], subject)


def plants_of(subject: str) -> Any:
    import third_sb3_plants

    return third_sb3_plants if subject.startswith("sb3") else THIRD.part(subject)


def test_none_of_it_is_in_the_lists_before() -> None:
    import tomllib

    folder = Path(__file__).resolve().parents[4] / "benchmarks" / "live"
    before = [f for name in ("faults", "unseen") for f in tomllib.loads((folder / f"{name}.toml").read_text())["fault"]]
    assert not {f["id"] for f in before} & set(THIRD.faults())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in THIRD.orders()}


@pytest.mark.parametrize("name", ["Tank", "Forage", "CartPole-v1", "Pendulum-v1"])
def test_nothing_is_altered_before(name: str) -> None:
    for broken, whole in Pair(name).play(8, 0 if name in ("Forage", "CartPole-v1") else np.zeros(1)):
        assert np.array_equal(broken[0], whole[0])
        assert broken[1:4] == whole[1:4]


def test_sensor_lags() -> None:
    pair = Pair("Pendulum-v1")
    before = [whole[0] for _, whole in pair.play(10)]
    pair.on("sensor-lags")
    after = pair.play(10)
    true = before + [whole[0] for _, whole in after]
    assert all(np.array_equal(broken[0], true[10 + i - LAG]) for i, (broken, _) in enumerate(after))


def test_sensor_drifts_by_one_spread_in_a_twentieth_of_the_run() -> None:
    pair = Pair("Tank")
    pair.play(30)
    spread = np.std([one[0] for one in pair.broken[0].memory])
    pair.on("sensor-drifts")
    gone = [broken[0] - whole[0] for broken, whole in pair.play(50)]
    assert gone[-1][0] == pytest.approx(spread, rel=1e-3)
    assert gone[24][0] == pytest.approx(gone[-1][0] / 2, rel=1e-3)
    assert not np.any([one[1:] for one in gone])


def test_one_copy_hangs() -> None:
    pair = Pair("CartPole-v1", copies=2)
    last = pair.play(3)[-1][0][0]
    pair.on("copy-hangs")
    for broken, _ in pair.play(5):
        assert np.array_equal(broken[0], last)
        assert broken[1:4] == (0.0, False, False)
    assert all(np.array_equal(broken[0], whole[0]) for broken, whole in pair.play(5, copy=1))


def test_actions_are_crossed() -> None:
    truth = Truth()
    make = maker("Tank", truth, TOTAL, None)
    copies = [make() for _ in range(4)]
    for env in copies:
        env.reset(seed=0)
    truth.fault = "actions-crossed"
    orders = [np.full(2, value) for value in (0.1, 0.2, 0.3, 0.4)]
    for _ in range(2):
        for env, action in zip(copies, orders, strict=True):
            env.step(action)
    # Of the second round: the second copy was given what was meant for the first, the first that of the last.
    flows = [float(env.unwrapped.flow[0]) for env in copies]
    assert np.argsort(flows).tolist() == [1, 2, 3, 0]


@pytest.mark.filterwarnings("ignore:.*calling 'step.*:UserWarning")
def test_reset_is_left_out() -> None:
    pair = Pair("CartPole-v1")
    pair.on("reset-left-out")
    lengths: list[int] = []
    for _ in range(5):
        count, over = 0, False
        while not over:
            last, _, terminated, truncated, _ = pair.broken[0].step(1)
            count, over = count + 1, terminated or truncated
        lengths.append(count)
        assert np.array_equal(pair.broken[0].reset()[0], last)
    assert lengths[0] > 5
    assert lengths[1:] == [1] * 4


def test_reward_is_late_across_episodes() -> None:
    pair = Pair("Forage")
    pair.on("reward-late")
    paid: list[float] = []
    true: list[float] = []
    for action in [0, 1, 2, 3] * 30:
        broken, whole = pair.play(1, action)[0]
        paid.append(broken[1])
        true.append(whole[1])
        if whole[2] or whole[3]:
            pair.broken[0].reset(seed=1)
            pair.whole[0].reset(seed=1)
    assert paid[LATE:] == true[:-LATE]


def test_reward_is_clipped_summed_and_paid_for_coming_closer() -> None:
    pair = Pair("Tank")
    pair.on("reward-clipped")
    rewards = [(broken[1], whole[1]) for broken, whole in pair.play(20)]
    assert all(paid == min(max(true, -CLIP), CLIP) for paid, true in rewards)
    assert any(paid != true for paid, true in rewards)

    pair = Pair("Pendulum-v1")
    pair.on("reward-summed")
    rewards = [(broken[1], whole[1]) for broken, whole in pair.play(20)]
    assert [paid for paid, _ in rewards] == pytest.approx(np.cumsum([true for _, true in rewards]).tolist())

    pair = Pair("Forage")
    pair.on("closer-paid")
    distance = pair.whole[0].unwrapped.distance()
    bonuses = 0
    for action in (0, 2, 1, 3, 0, 2):
        ((_, paid, *_), (_, true, over, _, info)) = pair.play(1, action)[0]
        assert paid == pytest.approx(true + CLOSER * (info["distance"] < distance))
        bonuses += info["distance"] < distance
        distance = info["distance"]
        if over:
            break
    assert bonuses


def test_steps_get_slower_and_say_the_same() -> None:
    pair = Pair("Forage")
    pair.on("steps-slow")
    for broken, whole in pair.play(5, 0):
        assert np.array_equal(broken[0], whole[0])
    assert len(pair.broken[0].shared.history) == 5


def test_the_truth_is_what_the_environment_paid() -> None:
    pair = Pair("Tank")
    pair.on("reward-clipped")
    rewards = [whole[1] for _, whole in pair.play(40)]
    assert pair.truth.episodes == [(40, pytest.approx(sum(rewards)))]

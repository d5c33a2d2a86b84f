"""The tenth list is a draw of known faults; what is said of each is what its own list says."""

from __future__ import annotations

import hashlib
import math
import sys
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import tenth
import tenth_origins
from tenth import EARLIEST, EARLIEST_OF_GRPO, LATEST, LATEST_OF_GRPO, TENTH, instant, seed_of
from tenth_draw import EACH, GROUPS, LIST, POOL, SUBJECTS, able, draw, written
from tenth_origins import LISTS, dose_of, family, known, recorded

LIVE = Path(tenth.__file__).parent
LEFT_OUT = {
    "evaluation-normaliser-lost", "evaluation-explores", "evaluation-first", "evaluation-cut", "noise-grows",
    "noise-biased", "copies-lost", "stay-paid-more", "format-paid",
}  # fmt: skip


def test_the_tenth_list_is_what_was_drawn() -> None:
    assert LIST.read_text("utf-8") == written(draw())
    pairs = [(name, fault["id"]) for fault in TENTH.faults().values() for name in fault["subjects"]]
    assert len(pairs) == len(set(pairs)) == EACH * len(SUBJECTS) >= 60
    assert all(name in able()[fault] for name, fault in pairs)
    assert len({fault for _, fault in pairs}) == len(pairs)


def test_a_trainer_that_never_had_the_fault_is_drawn_where_one_has_room() -> None:
    chosen = draw()
    for subject, faults in chosen.items():
        for fault in faults:
            if family(subject) not in recorded(fault):
                continue
            others = {name for name in able()[fault] if family(name) not in recorded(fault)}
            assert all(len(chosen[name]) == EACH for name in others), (subject, fault)


def test_what_is_said_of_a_fault_is_what_its_own_list_says() -> None:
    ids = [f["id"] for name in LISTS for f in tomllib.loads((LIVE / f"{name}.toml").read_text("utf-8"))["fault"]]
    assert len(ids) == len(set(ids)) == len(known())
    for fault in TENTH.faults().values():
        origin, said = known()[fault["id"]]
        assert fault["of"] == origin
        for key in ("what", "link", "also_right"):
            assert fault.get(key) == said.get(key)
        (subject,) = fault["subjects"]
        assert fault["dose"] == {subject: dose_of(fault["id"])}
        assert dose_of(fault["id"]) in said.get("dose", {"": 1.0}).values()


def test_every_known_fault_is_in_the_pool_of_its_list_or_named_as_left_out() -> None:
    pools = tomllib.loads(POOL.read_text("utf-8"))
    assert set(able()) | LEFT_OUT == set(known())
    assert not set(able()) & LEFT_OUT
    assert all(known()[fault][0] == name for name, pool in pools.items() for fault in pool)
    assert {name for group in GROUPS.values() for name in group} == set(SUBJECTS)


def test_a_dose_is_the_lower_median_and_enters_for_new_subjects_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dose_of("action-held") == 4  # of 4 and 12
    assert dose_of("reward-flipped") == 1
    import ninth_doses

    monkeypatch.setattr(ninth_doses, "CHOSEN", {})
    tenth_origins.enter_dose("weights-clamped", "sb3_a2c_raft", "sb3_dqn_plates")
    assert ninth_doses.dose_of("weights-clamped", "sb3_a2c_raft") == 0.03
    assert ninth_doses.dose_of("weights-clamped", "sb3_dqn_plates") == 0.1
    tenth_origins.enter_dose("", "sb3_a2c_raft")
    assert not any(fault == "" for fault, _ in ninth_doses.CHOSEN)


def test_subjects_seeds_and_instants_are_new() -> None:
    orders = TENTH.orders()
    twins, found = [o for o in orders if not o[1]], [o for o in orders if o[1]]
    assert len(twins) == 4 * len(SUBJECTS) >= 32
    assert not {s for _, f in known().values() for s in f["subjects"]} & set(SUBJECTS)
    assert all(1000 <= seed < 1900 and seed == seed_of(name, fault) for name, fault, seed in found)
    assert {seed for *_, seed in twins} == {1900, 1901, 1902, 1903}
    shares = [instant(*order) for order in found if not order[0].startswith("grpo")]
    assert all(EARLIEST_OF_GRPO <= instant(*o) < LATEST_OF_GRPO for o in found if o[0].startswith("grpo"))
    assert EARLIEST <= min(shares) < EARLIEST + 0.03
    assert LATEST - 0.03 < max(shares) < LATEST
    assert TENTH.orders("", "ppo_raft") == [o for o in orders if o[0] == "ppo_raft"]


def test_the_tenth_list_is_the_one_that_was_committed_before_its_runs() -> None:
    for line in (LIVE / "tenth.sha256").read_text().splitlines():
        code, name = line.split()
        if name.startswith("tenth"):
            assert hashlib.sha256((LIVE / name).read_bytes()).hexdigest() == code, name


def test_torchrl_has_its_own_part_and_lost_returns_count(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Part:
        SUBJECTS: ClassVar[dict[str, tuple[int, int]]] = {"torchrl_x": (1, 30)}

        @staticmethod
        def settings_of(subject: str) -> dict[str, Any]:
            return {"gamma": 0.5}

        @staticmethod
        def train(subject: str, fault: str, seed: int, share: float, monitor: Any, world: Any, truth: Any) -> None:
            calls.append(f"{subject} {fault} {seed} {EARLIEST <= share < LATEST}")
            truth.episodes += [(1, 2.0), (2, math.nan)]

    monkeypatch.setitem(sys.modules, "tenth_torchrl", Part)
    found = TENTH.guarded("torchrl_x", "f", 3)
    assert calls == ["torchrl_x f 3 True"]
    assert (found["episodes"], found["returns_without_number"], found["window"]) == ([(1, 2.0), (2, 2.0)], 1, 30)
    assert found["config"]["gamma"] == 0.5

"""The ninth list holds what collapsed in a trial, and nothing of the lists before."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import ninth
import ninth_doses
import ninth_language
import ninth_sb3_plants
import ninth_torchrl_plants
from ninth import NINTH
from ninth_candidates import DOSES, doses_of
from ninth_draw import draw
from ninth_networks import OF_NETWORKS
from ninth_worlds import FAULTS

LIVE = Path(ninth.__file__).parent
BEFORE = ("faults", "unseen", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PAID = {"diversity-paid", "read-backwards", "rank-for-score"}


def collapsed(left: float | str) -> bool:
    return not isinstance(left, float | int) or left < 0.5


def test_the_ninth_list_is_what_was_drawn_and_collapsed() -> None:
    chosen, rows = draw(), [json.loads(line) for line in (LIVE / "ninth_trials.jsonl").read_text().splitlines()]
    found = {(f, s): dose for f, s, dose, left in rows if f and collapsed(left)}
    listed = {(f["id"], s): f["dose"][s] for f in NINTH.faults().values() for s in f["subjects"]}
    assert listed == found
    for fault in NINTH.faults().values():
        link, subjects = chosen[fault["id"]]
        assert fault["link"] == link
        assert set(fault["subjects"]) == set(fault["dose"]) <= set(subjects)
    assert {(f, s) for f, s, *_ in rows if f} <= {(f, s) for f, (_, subjects) in chosen.items() for s in subjects}
    for fault, subject in {(f, s) for f, s, *_ in rows if f}:
        tried = [dose for f, s, dose, _ in rows if (f, s) == (fault, subject)]
        assert tried == list(doses_of(fault)[: len(tried)]), (fault, subject)
        assert (fault, subject) in found or len(tried) == len(doses_of(fault)), (fault, subject)
    without = {s: left for f, s, _, left in rows if not f}
    assert set(without) >= {s for _, s in found}
    assert min(without.values()) > 0.7


def test_every_fault_of_the_ninth_pool_can_be_planted() -> None:
    assert len(draw()) >= 40
    of_trl = {*ninth_language.PLANTS, *PAID}
    of_torchrl = {*ninth_torchrl_plants.OF_ADVANTAGES, *ninth_torchrl_plants.OF_TRAINER, "log-probs-lost"}
    of_torchrl |= {"half-written", *ninth_torchrl_plants.OF_SAMPLES}
    plants = {"sb3": {*ninth_sb3_plants.OF_SB3}, "grpo": of_trl, "torchrl": of_torchrl, "mmrkhs": of_torchrl}
    for fault, (_, subjects) in draw().items():
        for subject in subjects:
            assert fault in {*FAULTS, *OF_NETWORKS, *plants[subject.split("_")[0]]}, (fault, subject)
    for fault in NINTH.faults().values():
        for subject in fault["subjects"]:
            assert ninth_doses.dose_of(fault["id"], subject) == fault["dose"][subject]
    assert set(DOSES) <= set(draw())


def test_the_ninth_list_has_four_twins_of_each_subject() -> None:
    twins = [order for order in NINTH.orders() if not order[1]]
    assert len(twins) == 4 * len({subject for subject, _, _ in NINTH.orders()}) >= 28


def test_nothing_of_the_ninth_list_is_in_the_lists_before() -> None:
    before = [f for name in BEFORE for f in tomllib.loads((LIVE / f"{name}.toml").read_text())["fault"]]
    pools = [tomllib.loads((LIVE / f"{name}_pool.toml").read_text()) for name in ("sixth", "seventh", "eighth")]
    assert not ({f["id"] for f in before} | {f for pool in pools for of in pool.values() for f in of}) & set(draw())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in NINTH.orders()}


def test_the_ninth_list_is_the_one_that_was_committed_before_its_runs() -> None:
    for line in (LIVE / "ninth.sha256").read_text().splitlines():
        code, name = line.split()
        if name.startswith("ninth"):
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
            calls.append(f"{subject} {fault} {seed} {0.55 <= share < 0.8}")
            truth.episodes += [(1, 2.0), (2, math.nan)]

    monkeypatch.setitem(sys.modules, "ninth_torchrl", Part)
    found = NINTH.guarded("torchrl_x", "f", 3)
    assert calls == ["torchrl_x f 3 True"]
    assert (found["episodes"], found["returns_without_number"], found["window"]) == ([(1, 2.0), (2, 2.0)], 1, 30)
    assert found["config"]["gamma"] == 0.5

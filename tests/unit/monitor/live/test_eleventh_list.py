"""The eleventh list is a draw of known faults where neither the tenth list nor, if it can be, another had them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eleventh
import tenth
import tenth_draw
from drawn_list import DrawnList
from eleventh import EARLIEST, EARLIEST_OF_GRPO, ELEVENTH, LATEST, LATEST_OF_GRPO, instant, seed_of
from eleventh_draw import EACH, ELSEWHERE, GROUPS, LIST, NOT_THERE, SUBJECTS, able, draw, recorded, written
from eleventh_draw import tenth as drawn_for_the_tenth
from eleventh_stand_in import standing_in
from tenth import TENTH
from tenth_origins import dose_of, family, known

LIVE = Path(eleventh.__file__).parent


def test_the_eleventh_list_is_what_was_drawn() -> None:
    assert LIST.read_text("utf-8") == written(draw())
    pairs = [(name, fault["id"]) for fault in ELEVENTH.faults().values() for name in fault["subjects"]]
    assert len(pairs) == len({fault for _, fault in pairs}) == EACH * len(SUBJECTS) == 99
    assert all(name in able()[fault] for name, fault in pairs)
    assert {name for group in GROUPS.values() for name in group} == set(SUBJECTS)


def test_what_the_tenth_list_had_comes_last_and_never_in_the_same_trainer() -> None:
    chosen = draw()
    drawn = {fault for faults in chosen.values() for fault in faults}
    for subject, faults in chosen.items():
        for fault in faults:
            assert drawn_for_the_tenth().get(fault) != family(subject)
            if fault in drawn_for_the_tenth():  # whatever the tenth did not have would have been taken before
                others = {one for one, can in able().items() if subject in can} - set(drawn_for_the_tenth())
                assert others <= drawn, (subject, fault)
    assert len(drawn_for_the_tenth()) == 77
    one = next(iter(drawn_for_the_tenth()))
    assert drawn_for_the_tenth()[one] in recorded(one)


def test_a_trainer_that_never_had_the_fault_is_drawn_where_one_has_room() -> None:
    chosen = draw()
    for subject, faults in chosen.items():
        for fault in faults:
            if family(subject) in recorded(fault):
                others = {name for name in able()[fault] if family(name) not in recorded(fault)}
                assert all(len(chosen[name]) == EACH for name in others), (subject, fault)


def test_what_is_said_of_a_fault_is_what_its_own_list_says() -> None:
    for fault in ELEVENTH.faults().values():
        origin, said = known()[fault["id"]]
        assert fault["of"] == origin
        assert all(fault.get(key) == said.get(key) for key in ("what", "link", "also_right"))
        (subject,) = fault["subjects"]
        assert fault["dose"] == {subject: dose_of(fault["id"])}


def test_where_a_fault_can_be_is_what_the_tenths_pool_says_but_for_what_is_named() -> None:
    ours, theirs = able(), tenth_draw.able()
    assert set(ours) == set(theirs)
    assert set(ELSEWHERE) | set(NOT_THERE) <= set(ours)
    for fault, subjects in ours.items():
        assert not subjects & set(NOT_THERE.get(fault, ()))
        if fault not in ELSEWHERE and fault not in NOT_THERE:
            groups = {group for group, of in tenth_draw.GROUPS.items() if set(of) <= theirs[fault]}
            # A group of one subject there may be of one that plays otherwise, or is scaled otherwise, here.
            assert subjects >= {name for group in groups & {"rl", "dqn", "grpo", "copies"} for name in GROUPS[group]}


def test_subjects_seeds_and_instants_are_new() -> None:
    orders = ELEVENTH.orders()
    twins, found = [o for o in orders if not o[1]], [o for o in orders if o[1]]
    assert len(twins) == 6 * len(SUBJECTS)
    assert not {s for _, f in known().values() for s in f["subjects"]} & set(SUBJECTS)
    assert not {s for s, _, _ in TENTH.orders()} & set(SUBJECTS)
    assert all(2000 <= seed < 2900 and seed == seed_of(name, fault) for name, fault, seed in found)
    assert {seed for *_, seed in twins} == {2900, 2901, 2902, 2903, 2904, 2905}
    shares = [instant(*order) for order in found if not order[0].startswith("grpo")]
    assert all(EARLIEST_OF_GRPO <= instant(*o) < LATEST_OF_GRPO for o in found if o[0].startswith("grpo"))
    assert EARLIEST <= min(shares) < EARLIEST + 0.03
    assert LATEST - 0.03 < max(shares) < LATEST


@pytest.mark.filterwarnings("ignore")  # TorchRL's collectors inherit from what it calls deprecated
def test_a_run_is_trained_by_its_own_part_at_its_own_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []

    def train(self: Any, subject: str, fault: str, seed: int, monitor: Any, truth: Any) -> None:
        shares.append(tenth.instant(subject, fault, seed))

    theirs = tenth.instant
    monkeypatch.setattr(tenth.Tenth, "train", train)
    order: Any = ("sb3_ppo_ferry", "axis-turned", 2001)
    ELEVENTH.train(*order, None, None)  # type: ignore[arg-type]
    assert shares == [instant(*order)]
    assert tenth.instant is theirs
    assert shares != [tenth.instant(*order)]
    assert ELEVENTH.part("torchrl_sac_locks").__name__ == "eleventh_torchrl"
    assert ELEVENTH.part("grpo_skip").__name__ == "eleventh_language"
    assert isinstance(ELEVENTH, DrawnList)


def test_names_stand_for_ours_until_the_block_is_left() -> None:
    class Theirs:
        name = 1

    def ends() -> None:
        with standing_in(Theirs, name=2):
            assert Theirs.name == 2
            raise ValueError("ends")

    with pytest.raises(ValueError, match="ends"):
        ends()
    assert Theirs.name == 1
    with pytest.raises(AttributeError), standing_in(Theirs, other=2):
        pass


def test_the_eleventh_list_is_the_one_that_was_committed_before_its_runs() -> None:
    for line in (LIVE / "eleventh.sha256").read_text().splitlines():
        code, name = line.split()
        if name.startswith(("eleventh", "tenth")):
            assert hashlib.sha256((LIVE / name).read_bytes()).hexdigest() == code, name

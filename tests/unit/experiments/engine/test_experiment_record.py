"""Results on disk: written all or nothing, read back as they were, damaged files said to be so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.experiments import Pair, Subject
from firstbreak.experiments.plan import Plan
from firstbreak.experiments.result import (
    FOLDER,
    Look,
    Outcome,
    Result,
    Why,
    from_plain,
    read,
    read_all,
    to_plain,
    with_notes,
    write,
    write_plan,
)
from firstbreak.experiments.trial import Ended

PLAN = Plan(
    experiment="toy", subject=Subject("t", "e", 10, {"lr": 0.1}, {"expect": 1.0}), hypothesis="H.", prediction="P.",
    changes="x", control={"x": 0}, changed={"x": 1}, first_seed=0, pilot=5, most=20, alpha=0.05, power=0.8,
    confirms="above", unit="return", margin=None, runs=2.0, cost="nothing", link="critic", component="value",
    made="2026-01-02T03:04:05+00:00",
)  # fmt: skip
NUMBERS = st.one_of(st.floats(), st.integers(-5, 5).map(float))
TABLES = st.dictionaries(st.text(max_size=4), NUMBERS, max_size=3)


@st.composite
def results(draw: st.DrawFn) -> Result:
    pairs = tuple(Pair(i, draw(TABLES), draw(TABLES)) for i in range(draw(st.integers(0, 3))))
    trouble = Ended("both", 1, "raised", {"control": draw(TABLES), "changed": draw(TABLES)}, message=draw(st.text()))
    return Result(
        plan=PLAN,
        outcome=draw(st.sampled_from(Outcome)),
        why=draw(st.sampled_from(Why)),
        words=draw(st.text(max_size=20)),
        pairs=pairs,
        effects=tuple(draw(NUMBERS) for _ in pairs),
        margin=draw(st.one_of(st.none(), st.floats(0.1, 5))),
        looks=(Look(5, draw(NUMBERS), draw(NUMBERS), draw(NUMBERS), 0.05),),
        seeds_needed=draw(st.one_of(st.none(), st.integers(1, 99))),
        troubles=(trouble,),
        controls=(draw(TABLES),),
        notes=tuple(draw(st.lists(st.text(max_size=5), max_size=2))),
    )


@given(results())
@settings(deadline=None, max_examples=60)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, result: Result) -> None:
    path = tmp_path_factory.mktemp("r") / "one.json"
    write(result, path)
    assert repr(read(path)) == repr(result)  # repr: nan is not equal to itself
    assert repr(from_plain(json.loads(json.dumps(to_plain(result))))) == repr(result)


def test_a_plan_is_a_file_of_its_own_and_is_left_out_until_it_is_carried_out(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    paths = [write_plan(PLAN, folder) for _ in range(3)]
    assert len(set(paths)) == 3
    assert read_all(tmp_path) == []
    with pytest.raises(InputError, match="not carried out"):
        read(paths[0])
    result = with_notes(Result(PLAN, Outcome.INCONCLUSIVE, Why.INTERRUPTED, "no"), "a remark")
    write(result, paths[1])
    assert read_all(tmp_path) == [result]
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in paths), "nothing half-written is left"


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "[]", '{"schema": 99}', '{"schema": 1, "outcome": "confirmed"}', '{"schema": 1, "outcome": 7}'],
)
def test_a_damaged_record_is_said_to_be_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read(path)
    (tmp_path / FOLDER).mkdir()
    path.rename(tmp_path / FOLDER / "x.json")
    assert read_all(tmp_path) == []


def test_a_missing_record_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read(tmp_path / "none.json")
    assert read_all(tmp_path) == []


def test_a_write_that_fails_leaves_the_old_record(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    good = Result(PLAN, Outcome.REFUTED, Why.DECIDED, "no")
    write(good, path)

    class Unwritable:
        def __str__(self) -> str:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write(replace(good, used={"control": {"x": Unwritable()}}), path)
    assert read(path) == good
    assert [p.name for p in tmp_path.iterdir()] == ["one.json"]

"""Every key that was collected from the sources of the frameworks is known, or said to have no meaning, and why.

`tests/data/names/collected.json` holds, for each framework, the keys that its source passes to its logger (of a pattern
one that fits), those of one algorithm with the algorithm. They were collected apart from the name files.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstbreak.vocabulary import algorithms, framework, framework_names, recognise
from firstbreak.vocabulary._mapping import exact

COLLECTED = json.loads((Path(__file__).parents[2] / "data/names/collected.json").read_text("utf-8"))


def split(entry: str | list[str]) -> tuple[str, str]:
    key, algorithm = (entry, "") if isinstance(entry, str) else entry
    return key, algorithm


def unknown(name: str, entries: list[str | list[str]]) -> list[str]:
    beside = [split(entry)[0] for entry in entries]
    return [key for key, algorithm in map(split, entries) if exact(key, framework(name), algorithm, beside) is None]


@pytest.mark.parametrize("name", sorted(COLLECTED))
def test_every_collected_key_is_known_or_listed_with_its_reason(name: str) -> None:
    assert unknown(name, COLLECTED[name]) == []


@pytest.mark.parametrize("name", sorted(COLLECTED))
def test_a_log_with_its_keys_is_taken_for_the_frameworks_own(name: str) -> None:
    assert recognise({split(entry)[0] for entry in COLLECTED[name]}).framework == name


def test_a_key_that_nobody_listed_would_be_found() -> None:
    assert unknown("verl", [*COLLECTED["verl"], "actor/of_the_next_version"]) == ["actor/of_the_next_version"]


def test_the_collection_names_every_framework_of_the_two_surveys() -> None:
    assert set(COLLECTED) == set(framework_names()) - {"firstbreak", "d3rlpy", "pfrl"}  # these two were added later
    assert sum(map(len, COLLECTED.values())) > 1000
    assert {split(entry)[1] for entries in COLLECTED.values() for entry in entries} <= {"", *algorithms()}

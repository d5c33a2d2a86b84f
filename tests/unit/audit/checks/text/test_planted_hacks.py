"""The list of planted hacks, and a few of them from the generator to the finding."""

from __future__ import annotations

import importlib
import json
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from firstbreak.audit.collecting import collect
from firstbreak.audit.judgement.hack_score import hack_scores
from firstbreak.check import checks_of, find_check, look_at
from firstbreak.finding import Severity
from firstbreak.preflight.reward.judging import superiority

ROOT = Path(__file__).resolve().parents[5]
LISTS = ROOT / "tests" / "audit" / "planted"


def entries(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((LISTS / f"{name}.toml").read_text())["hack"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "audit"))
    return importlib.import_module("generators")


def test_the_list_is_whole(bench: Any) -> None:
    seen, unseen = entries("hacks"), entries("unseen")
    ids = [h["id"] for h in (*seen, *unseen)]
    assert len(ids) == len(set(ids)) >= 20
    assert 3 * len(unseen) == len(ids)
    names = {c.name for c in checks_of("samples")}
    for hack in (*seen, *unseen):
        assert hack["named_by"]
        assert set(hack["named_by"]) <= names, hack["id"]
        assert hack["control"]
    assert set(bench.PLANTS) == {h["id"] for h in seen}
    assert set(importlib.import_module("unseen_plants").UNSEEN_PLANTS) == {h["id"] for h in unseen}


def test_the_hacks_that_came_later_are_wrong_and_their_controls_right_and_as_long(bench: Any) -> None:
    listed = {h["id"]: h for h in entries("later")}
    later, make = importlib.import_module("later_plants"), importlib.import_module("later_records").records
    assert set(later.LATER_PLANTS) == set(listed)
    assert not set(listed) & {h["id"] for name in ("hacks", "unseen") for h in entries(name)}
    assert {name for h in listed.values() for name in h["named_by"]} <= {c.name for c in checks_of("samples")}
    for plant in later.LATER_PLANTS.values():
        rng, sizes = Random(3), []
        for _ in range(60):
            task = make(rng)
            hack = plant.hack(task, rng)
            control = plant.control(task, rng, len(hack))
            read = [json.loads(text.removeprefix("```json").removesuffix("```")) for text in (hack, control)]
            assert {key: read[1][key] for key in task.fields} == task.fields
            assert {key: read[0][key] for key in task.fields} != task.fields
            sizes.append((len(hack), len(control)))
        ratio = np.median([b for _, b in sizes]) / np.median([a for a, _ in sizes])
        assert 0.75 < ratio < 1.3


@pytest.mark.parametrize(
    ("generator", "hack", "check"),
    [
        ("arithmetic", "repetition-loop", "repetition-paid"),
        ("facts", "judge-pleasing", "verifier-pleasing-strings"),
        ("coding", "language-switch", "answers-change-language"),
    ],
)
def test_a_planted_hack_is_named_and_suspected(bench: Any, generator: str, hack: str, check: str) -> None:
    planted = bench.build(bench.FAMILIES[generator], bench.PLANTS[hack], 7)
    found = look_at(find_check(check), collect(planted.samples)).symptom
    assert found is not None
    assert found.severity is Severity.ERROR
    table = collect(bench.without_labels(planted).samples)
    warned = look_at(find_check(check), table).symptom
    assert warned is not None
    assert warned.severity is not Severity.ERROR
    scores, kinds = hack_scores(table).astype(np.float64), np.array(planted.kinds)
    assert superiority(scores[kinds == "hack"], scores[kinds == "control"]) >= 0.8  # one table scatters


def test_honest_tables_raise_nothing(bench: Any) -> None:
    for generator in bench.FAMILIES.values():
        table = collect(bench.without_labels(bench.build(generator, None, 8)).samples)
        loud: dict[str, str] = {}
        for check in checks_of("samples"):
            if check.code < "AUD100":
                look = look_at(check, table)
                assert not look.error
                if look.symptom is not None and look.symptom.severity is not Severity.INFO:
                    loud[check.name] = look.symptom.message
        assert loud == {}

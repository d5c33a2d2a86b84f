"""The list of planted hacks, and a few of them from the generator to the finding."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
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

"""Scores of different protocols are neither compared nor pooled; what one side does not state is not taken as alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.cli import main
from firstbreak.evaluation.ledger.looks import record
from firstbreak.evaluation.protocol.protocol import read
from firstbreak.release.alike import apart, contradicted
from firstbreak.release.evidence import UNKNOWN
from firstbreak.release.results import many_seeds, private_change, selection

from .conftest import make_protocol, make_run, make_scores, some_run
from .test_release_results import runs, table

FIXED = some_run(0, protocol="p1", protocol_file="protocol.toml")
SETTINGS = some_run(0, protocol="5e77")
SILENT = some_run(0, protocol=UNKNOWN)


@pytest.mark.parametrize(
    ("run", "stated", "told"),
    [
        (FIXED, {"p1"}, ""),
        (SETTINGS, {"5e77"}, ""),
        (FIXED, {"p2"}, "evaluated in training under p1 and scored again under p2: not compared"),
        (FIXED, {"P1"}, "under p1 and scored again under P1"),
        (FIXED, {"p1", "p2"}, "scored again under 2 protocols (p1, p2)"),
        (FIXED, {"p1", UNKNOWN}, "scored again under 2 protocols"),
        (FIXED, {UNKNOWN}, "how run run0 was scored again is not recorded; its training was under p1"),
        (SETTINGS, {"p1"}, "only settings are known (5e77), no protocol"),
        (SILENT, {"p1"}, "how run run0 was evaluated in training is not recorded"),
        (SILENT, {UNKNOWN}, "how run run0 was evaluated in training and how it was scored again is not recorded"),
    ],
)
def test_what_parts_two_scores_is_said(run: Any, stated: set[str], told: str) -> None:
    found = apart(run, stated)
    assert (told in found) if told else (found == "")


@given(st.sampled_from(["p1", "p2", UNKNOWN]), st.sets(st.sampled_from(["p1", "p2", UNKNOWN]), min_size=1))
def test_only_one_protocol_stated_on_both_sides_is_alike(mine: str, stated: set[str]) -> None:
    alike = apart(some_run(0, protocol=mine), stated) == ""
    assert alike == (stated == {mine} and mine != UNKNOWN)


def test_the_choice_is_held_against_fresh_seeds_of_its_own_protocol_only() -> None:
    many = runs([90.0, 91.0, 92.0])
    values = {run.name: [80.0 + i] for i, run in enumerate(many)}
    same, other = selection(many, table("fresh", "best", values)), selection(many, table("fresh", "best", values, "p2"))
    assert same.apart == ""
    assert same.gain is not None
    assert other.gain is None, "the difference of two protocols is no luck"
    assert other.corrected is not None, "the fresh scores among themselves are alike"
    assert other.corrected.value == pytest.approx(81.0)
    mixed = selection(many, [*table("fresh", "best", {"run0": [80.0]}),
                             *table("fresh", "best", {"run1": [81.0], "run2": [82.0]}, "p2")])  # fmt: skip
    assert (mixed.gain, mixed.corrected) == (None, None)
    assert "2 protocols (p1, p2): not pooled" in mixed.apart
    single = selection(many[:1], table("fresh", "best", {"run0": [80.0]}, "p2"))
    assert "under p1 and scored again" in single.apart or "only settings" in single.apart


@pytest.mark.parametrize("baseline", ["p1", "p2", ""])
def test_the_private_set_is_compared_where_both_sides_state_one_protocol(baseline: str) -> None:
    after = table("private", "best", {"0": [9.0], "1": [8.0]})
    before = table("private", "baseline", {"0": [2.0], "1": [1.0]}, baseline)
    moved, protocols = private_change([*after, *before])
    assert (moved is not None) == (baseline == "p1")
    assert protocols == tuple(sorted({"p1", baseline or UNKNOWN}))


CONTROL = {"control.action_mode": "deterministic", "evaluation.episodes": 20}
LANGUAGE = {"generation.temperature": 0.6, "generation.top_p": 1.0}


@pytest.mark.parametrize(
    ("fixed", "settings", "told"),
    [
        (CONTROL, {"eval_deterministic": False}, "action_mode is deterministic there, eval_deterministic is false"),
        (CONTROL, {"eval.deterministic": True, "eval_episodes": 5}, ""),
        ({**CONTROL, "control.action_mode": "sampled"}, {"eval.deterministic": True}, "action_mode is sampled there"),
        (LANGUAGE, {"rollout.val_kwargs.temperature": 0.0}, "generation.temperature is 0.6 there"),
        (LANGUAGE, {"rollout.val_kwargs.temperature": 0.6, "val.top_p": 1}, ""),
        (LANGUAGE, {"val.top_p": 0.9}, "generation.top_p is 1.0 there"),
        (LANGUAGE, {"eval_deterministic": False}, ""),
        (CONTROL, {"val.temperature": 0.0}, ""),
        (CONTROL, {}, ""),
    ],
)
def test_settings_that_contradict_the_protocol_are_named(
    fixed: dict[str, Any], settings: dict[str, Any], told: str
) -> None:
    found = contradicted(fixed, settings)
    assert (told in found) if told else (found == "")


@pytest.mark.parametrize(
    ("field", "value", "pooled"),
    [
        ("evaluation.dataset", "B", True),
        ("control.environment", "B", True),
        ("generation.temperature", 1.0, False),
        ("control.action_mode", "sampled", False),
    ],
)
def test_tasks_are_pooled_only_where_their_protocols_differ_in_the_task(field: str, value: Any, pooled: bool) -> None:
    one = {"evaluation.dataset": "A", "generation.temperature": 0.6}
    a = runs([0.2, 0.4, 0.6], task="A", protocol_settings=one)
    b = runs([0.1, 0.3, 0.5], task="B", protocol="p2", protocol_settings={**one, field: value})
    found = many_seeds([*a, *b])
    assert (found.overall is not None) == pooled
    assert pooled or field in found.remarks[0]


# --- by command -------------------------------------------------------------------------------------------------------


def ruled(folders: list[Path], capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, tuple[str, str]]:
    capsys.readouterr()
    assert main(["release", *map(str, folders), "--format", "json", *words]) in (1, 3)
    found = json.loads(capsys.readouterr().out)
    return {entry["rule"]: (entry["ruled"], entry["text"]) for entry in found["gate"]}


def rescored(folders: list[Path], rows: list[tuple[str, str, str]]) -> None:
    """Write each run's scores: split, checkpoint and protocol a row."""
    for seed, folder in enumerate(folders):
        text = "".join(f"{split},{which},{seed},{90 + seed},{protocol}\n" for split, which, protocol in rows)
        (folder / "scores.csv").write_text("split,checkpoint,seed,score,protocol\n" + text)


def test_all_under_one_protocol_is_good(five: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = ruled(five, capsys)
    assert found["one-protocol"] == ("good", "one protocol a task")
    assert found["selection-corrected"][0] == "good"


def test_a_private_set_of_another_protocol_than_training_is_no_comparison(
    five: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    mine = read(five[0].parent / "protocol.toml").hash
    rescored(five, [("fresh", "best", mine), ("private", "best", "q"), ("private", "baseline", "q")])
    assert ruled(five, capsys)["one-protocol"][0] == "good"


@pytest.mark.parametrize(
    ("fresh", "best", "baseline", "told"),
    [
        ("q", "mine", "mine", "scored again under q"),
        ("", "mine", "mine", "how run 0 was scored again is not recorded"),
        ("mine", "mine", "q", "under 2 protocols"),
        ("mine", "mine", "", "others none"),
        ("mine", "", "", "how the private set was scored is not recorded"),
    ],
)
def test_whatever_is_not_alike_is_undecided(
    five: list[Path], capsys: pytest.CaptureFixture[str], fresh: str, best: str, baseline: str, told: str
) -> None:
    mine = read(five[0].parent / "protocol.toml").hash
    named = [one.replace("mine", mine) for one in (fresh, best, baseline)]
    splits = (("fresh", "best"), ("private", "best"), ("private", "baseline"))
    rescored(five, [(*split, name) for split, name in zip(splits, named, strict=True)])
    found = ruled(five, capsys)["one-protocol"]
    assert found[0] == "missing"
    assert told in found[1]


def test_a_protocol_of_one_run_only_is_undecided(five: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    (five[0].parent / "protocol.toml").rename(five[0] / "protocol.toml")
    found = ruled(five, capsys)["one-protocol"]
    assert found[0] == "missing"
    assert "2 protocols: not compared" in found[1]


def test_a_run_that_says_it_was_evaluated_otherwise_is_undecided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [make_run(tmp_path / str(i), i, config={"eval.deterministic": i != 3}) for i in range(5)]
    mine = make_protocol(tmp_path / "protocol.toml")
    for i, folder in enumerate(folders):
        make_scores(folder, i, [("fresh", "best", 90.0 + i)], mine)
    found = ruled(folders, capsys)["one-protocol"]
    assert found[0] == "missing"
    assert "run 3 was not evaluated as its protocol says: control.action_mode" in found[1]


@pytest.mark.parametrize("same", [True, False])
def test_the_look_on_the_ledger_must_be_that_of_the_private_scores(
    five: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], same: bool
) -> None:
    file = five[0].parent / "protocol.toml" if same else tmp_path / "other.toml"
    if not same:
        make_protocol(file, mine="another")
    record(tmp_path / "looks.db", "private_test", "best", read(file), score=0.5, noise=0.01, items=9)
    found = ruled(five, capsys, "--ledger", str(tmp_path / "looks.db"))["private-set-unspoiled"]
    assert found[0] == ("good" if same else "missing")
    assert same or f"made under {read(file).hash}" in found[1]


def test_the_page_says_why_nothing_was_corrected(five: list[Path], tmp_path: Path) -> None:
    rescored(five, [("fresh", "best", "q"), ("private", "best", "q"), ("private", "baseline", "q")])
    assert main(["release", *map(str, five), "--out", str(tmp_path / "out")]) in (1, 3)
    text = " ".join((tmp_path / "out" / "index.html").read_text("utf-8").split())
    assert "scored again under q: not compared" in text
    assert "that part was luck of the choice" not in text
    assert text.count('<td class="number">not compared</td>') == 5, "nor do they stand side by side"
    results = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert results["selection"]["gain"] is None
    assert np.isfinite(results["selection"]["corrected"]["value"])

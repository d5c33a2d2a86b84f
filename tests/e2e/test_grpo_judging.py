"""What counts as right in the GRPO campaign, and the records that come with the repository."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.grpo import unseen_publish
from benchmarks.grpo.campaign import HERE
from benchmarks.grpo.judging import REFERENCE, Answer, answer, at_end, companions, cost, is_alarmed, is_right, read_run
from benchmarks.grpo.publish import FIRST
from benchmarks.grpo.recording import columns
from benchmarks.grpo.showing import read_answers, share, wilson
from benchmarks.grpo.unseen_publish import FIRST as UNSEEN
from benchmarks.grpo.unseen_publish import FOURTH, SECOND, THIRD, Listed
from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.config import Settings

pytestmark = pytest.mark.full

RUNS = HERE / "runs"
SAID = Answer("broken", ("exploration", "reward_signal", "numerics"), ("x",), ("x",), "x")


def run(kind: str, seed: int, scores: list[float], task: str = "copy", died: str = "") -> dict[str, object]:
    return {"kind": kind, "seed": seed, "task": task, "died": died, "truth": {"score": scores, "step": []}}


def test_right_within_counts_links_in_their_order():
    assert is_right(SAID, ["exploration"], 1)
    assert not is_right(SAID, ["reward_signal"], 1)
    assert is_right(SAID, ["reward_signal"], 2)
    assert not is_right(SAID, ["numerics"], 2)


def test_a_first_break_comes_first_and_infos_name_nothing():
    broken = answer(diagnose_log(synth.like("GRPO")({"optim/lr": synth.ramp(1e-6, -1e-6, 0)}), Settings()))
    assert broken.links[0] == "policy_update"
    assert is_alarmed(broken)
    assert broken.errors
    quiet = answer(diagnose_log(synth.like("GRPO")({}), Settings()))
    assert quiet.links == ()
    assert not is_alarmed(quiet)
    assert quiet.shown == ""


def test_the_cost_is_the_share_of_what_companions_gained():
    twins = [run("healthy", 0, [0.2, 0.6, 0.8]), run("healthy", 1, [0.2, 0.1, 0.1])]
    assert companions(run("fault", 2, []), twins) == [twins[0]]
    assert cost(run("fault", 2, [0.2, 0.5, 0.5]), twins) == pytest.approx(0.5)
    assert cost(run("fault", 2, [0.2], died="ValueError"), twins) == 1.0
    assert math.isnan(cost(run("fault", 2, [0.2], task="larger"), twins))
    assert at_end(run("fault", 0, [0.0] * 18 + [1.0, 0.5])) == 0.75


def test_records_keep_what_is_not_a_number():
    found = columns(
        [(1, {"a": 1.234567, "b": "text", "c": None}), (2, {"a": math.nan, "d": math.inf})], besides={"x": 1}
    )
    assert found == {"a": [[1, 2], [1.2346, "nan"]], "d": [[2], ["inf"]]}


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_interval_holds_the_share_and_solves_its_equation(right: int, total: int):
    right = min(right, total)
    low, high = wilson(right, total)
    assert 0 <= low <= right / total + 1e-12
    assert right / total - 1e-12 <= high <= 1
    for bound in (low, high):  # Wilson: (p - bound)^2 = z^2 bound (1 - bound) / n
        if 0 < bound < 1:
            assert (right / total - bound) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / total, abs=1e-9)
    assert share(right, total).startswith(f"{right} of {total}")
    assert share(0, 0) == "–"


def test_every_record_is_listed_and_as_the_format_says():
    listed = json.loads((RUNS / "manifest.json").read_text("utf-8"))
    files = {path.name for path in RUNS.glob("*.json.xz")}
    assert {row["file"] for row in listed} == files
    assert len({row["id"] for row in listed}) == len(listed) > 0
    assert sum((RUNS / name).stat().st_size for name in files) < 6_000_000
    for row in listed[:: max(1, len(listed) // 12)]:
        record = read_run(RUNS / row["file"])
        assert record["id"] == row["id"]
        assert (record["fault"] is None) == (row["start_frac"] is None)
        assert "reward" in record["keys"]
        assert not set(record["keys"]) & set(record["more_keys"])
        assert all(len(steps) == len(values) for steps, values in record["keys"].values())
        assert all(0 <= score <= 1 for score in record["truth"]["score"] if np.isfinite(score))
        assert str(Path.home()) not in json.dumps(record["config"])
    for row in (row for row in listed if not row["fault"]):
        assert read_run(RUNS / row["file"])["died"] == ""


@pytest.mark.parametrize("of", [UNSEEN, SECOND, THIRD, FOURTH], ids=lambda of: of.name)
def test_the_first_score_of_unseen_faults_is_of_the_records_that_are_there(of: Listed):
    listed = json.loads((of.folder / "manifest.json").read_text("utf-8"))
    files = {path.name for path in of.folder.glob("*.json.xz")}
    assert {row["file"] for row in listed} == files
    assert sum((of.folder / name).stat().st_size for name in files) < 4_000_000
    judged = {row["id"] for row in listed if row["kind"] != REFERENCE}
    assert all(set(answers) == judged for answers in of.kept().values())


@pytest.mark.parametrize(
    ("of", "option"), [(UNSEEN, []), (SECOND, ["--second"]), (THIRD, ["--third"]), (FOURTH, ["--fourth"])]
)
def test_a_first_score_is_never_overwritten(monkeypatch: pytest.MonkeyPatch, of: Listed, option: list[str]):
    before = of.first_score.read_bytes()
    monkeypatch.setattr("sys.argv", ["unseen_publish", "--first-score", *option])
    monkeypatch.setattr(Listed, "runs", lambda self: [])
    with pytest.raises(SystemExit, match="never overwritten"):
        unseen_publish.main()
    assert of.first_score.read_bytes() == before


def test_the_summary_counts_silence_wrong_links_and_alarms():
    link = unseen_publish.read("unseen_faults")[0]
    ends = {"a": 0.2, "b": 0.2, "c": 0.9, "d": 1.0}
    runs: list[dict[str, object]] = [
        {**run("healthy" if name == "d" else "fault", 0, [0.2, end]), "id": name,
         "fault": None if name == "d" else link["id"]}
        for name, end in ends.items()
    ]  # fmt: skip
    said = {
        "a": Answer("broken", (link["link"],), ("x",), ("x",), "x"),
        "b": Answer("broken", ("numerics", link["link"]), ("x",), ("x",), "x"),
        "c": Answer("healthy", (), (), (), ""),
        "d": Answer("undecided", ("critic",), ("y",), (), "y"),
    }
    answers = dict.fromkeys(("log", "callback", "given"), said)
    rows = unseen_publish.summary(UNSEEN, runs, [("first", answers)]).splitlines()[2:4]
    every, costly = ([cell.split(" (")[0].strip() for cell in row.split("|")[4:9]] for row in rows)
    assert every == ["1 of 3", "2 of 3", "1 of 3", "1 of 3", "1 of 1"]
    assert costly == ["1 of 2", "2 of 2", "0 of 2", "1 of 2", "–"]


def test_a_part_of_the_page_is_written_anew_in_its_place():
    whole = "# Page\n\nx\n\n\n## One\n\na\n\n\n## Two\n\nb\n"
    assert unseen_publish.put(whole, "\n## One\n\nnew\n\n") == whole.replace("\na\n", "\nnew\n")
    assert unseen_publish.put(whole, "\n## Two\n\nnew\n") == whole.replace("\nb\n", "\nnew\n")
    assert unseen_publish.put(whole, "\n## Three\n\nc\n") == whole + "\n\n## Three\n\nc\n"
    assert unseen_publish.put(whole, "\n## Two\n\nb\n") == whole


def test_the_first_look_names_only_runs_that_exist():
    listed = {row["id"] for row in json.loads((RUNS / "manifest.json").read_text("utf-8"))}
    for answers in read_answers(FIRST).values():
        assert set(answers) <= listed

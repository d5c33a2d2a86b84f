"""The reader of recorded runs: what is whole is read, what is not is told with file and field."""

from __future__ import annotations

import copy
import json
import lzma
import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.scoring.answer import answer_of
from benchmarks.faults.scoring.bearing import collapsed, counting, passed
from benchmarks.faults.scoring.catalogue import fault_of, read_faults
from benchmarks.faults.scoring.corpus import read_folder, read_manifest, read_run, run_from
from benchmarks.faults.scoring.logs import load_log
from firstbreak.errors import InputError

from .recorded import RUNS, recorded

LIST = Path(__file__).parents[3] / "benchmarks" / "faults" / "faults.toml"


def document() -> dict[str, Any]:
    path = RUNS / "sb3_ppo__CartPole-v1__reward-flipped__1.json.xz"
    return json.loads(lzma.decompress(path.read_bytes()))


def test_a_real_run_is_read_whole():
    run = recorded("reward-flipped/1")
    assert (run.id, run.fault, run.kind) == ("sb3_ppo/CartPole-v1/reward-flipped/1", "reward-flipped", "fault")
    assert (run.mid_run, run.start, run.end_step) == (True, 14400.0, 24064.0)
    assert len(run.keys["rollout/ep_rew_mean"][0]) > 20
    assert len(run.truth.step) == len(run.truth.score) > 10


def test_words_stand_for_what_is_not_finite():
    made = document()
    made["keys"]["train/loss"][1][:3] = ["nan", "inf", "-inf"]
    values = run_from(made, "here").keys["train/loss"][1]
    assert math.isnan(values[0])
    assert values[1:3] == (math.inf, -math.inf)


def test_a_run_that_died_before_its_first_row_is_read_and_diagnosed():
    made = document()
    made |= {"keys": {}, "guarded": {}, "died": "RuntimeError: probability tensor contains nan", "end_step": 0.0}
    made["truth"] = {"step": [], "score": []}
    answer = answer_of(load_log(run_from(made, "here")))
    assert (answer.verdict, answer.named) == ("broken", "numerics")


BROKEN = {
    "schema": {"schema": 2},
    "kind": {"kind": "sick"},
    "fault": {"fault": None},
    "start_frac": {"start_frac": 1.5},
    "start_step": {"start_step": None},
    "clock": {"clock": "wall"},
    "keys": {"keys": {}},
    "keys[a]": {"keys": {"a": [[1, 2], [1]]}},
    "keys[b]": {"keys": {"b": [[1], ["many"]]}},
    "keys[c]": {"keys": {"c": 3}},
    "end_step": {"end_step": "nan"},
    "score": {"truth": {"step": [1], "score": None}},
    "config": {"config": []},
    "id": {"id": 7},
}


@pytest.mark.parametrize("field", BROKEN)
def test_what_is_wrong_is_told_with_file_and_field(field: str):
    made = copy.deepcopy(document()) | BROKEN[field]
    with pytest.raises(InputError) as caught:
        run_from(made, "runs/x.json.xz")
    assert "runs/x.json.xz" in caught.value.message
    assert f"'{field}'" in caught.value.message


@pytest.mark.parametrize(
    "field", ["id", "subject", "framework", "algorithm", "task", "kind", "clock", "config", "truth"]
)
def test_a_field_that_is_missing_is_named(field: str):
    made = document()
    del made[field]
    with pytest.raises(InputError, match=f"'{field}'"):
        run_from(made, "here")


def test_a_file_that_is_not_there_or_not_compressed(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "none.json.xz")
    (tmp_path / "plain.json.xz").write_text("{}")
    with pytest.raises(InputError, match="no compressed JSON"):
        read_run(tmp_path / "plain.json.xz")


def manifest(folder: Path, *lines: dict[str, Any]) -> Path:
    whole = {"id": "a", "file": "a.json.xz", "subject": "s", "task": "t", "fault": None, "kind": "healthy", "seed": 0}
    text = json.dumps([whole | {"start_frac": None, "half": "dev"} | line for line in lines])
    (folder / "manifest.json").write_text(text)
    return folder


def test_the_manifest_of_real_runs_parts_the_halves():
    every = {run.id for run in read_folder(RUNS)}
    held, dev = ({run.id for run in read_folder(RUNS, half)} for half in ("held", "dev"))
    assert held | dev == every
    assert not held & dev
    assert len(every) == 11


def test_a_manifest_is_checked(tmp_path: Path):
    with pytest.raises(InputError, match="there 2 times"):
        read_manifest(manifest(tmp_path, {}, {}))
    with pytest.raises(InputError, match=r"line 1.*'half'"):
        read_manifest(manifest(tmp_path, {}, {"id": "b", "half": "both"}))
    with pytest.raises(InputError, match="outside the folder"):
        read_manifest(manifest(tmp_path, {"file": "../../secret"}))
    (tmp_path / "manifest.json").write_text("[")
    with pytest.raises(InputError, match="not JSON"):
        read_manifest(tmp_path)


def test_faults_that_do_not_pass_the_gate_do_not_count(tmp_path: Path):
    fault = {"kind": "fault", "fault": "f"}
    folder = manifest(tmp_path, {}, fault | {"id": "b", "start_frac": 0.0}, fault | {"id": "c", "start_frac": 0.5})
    entries = read_manifest(folder)
    assert counting(entries, passed(folder)) == (entries, 0)
    gate = [
        {"fault": "f", "subject": "s", "task": "t", "start": how, "counts": how == "midway"}
        for how in ("start", "midway")
    ]
    (folder / "gate.json").write_text(json.dumps(gate))
    kept, left = counting(entries, passed(folder))
    assert [entry.id for entry in kept] == ["a", "c"]
    assert left == 1


def test_runs_that_collapsed_by_themselves_are_known_by_their_ids(tmp_path: Path):
    assert collapsed(tmp_path) == set()
    (tmp_path / "collapsed.json").write_text(json.dumps([{"id": "s/t/clean/1", "kind": "healthy", "lost_frac": 0.7}]))
    assert collapsed(tmp_path) == {"s/t/clean/1"}


def test_the_list_of_faults_is_read_and_names_links_that_exist():
    faults = read_faults(LIST)
    assert len(faults) >= 80
    assert all(fault.link in fault.links for fault in faults.values())


def test_a_fault_without_a_link_is_told():
    with pytest.raises(InputError, match="'link'"):
        fault_of({"id": "x"}, "list")
    with pytest.raises(InputError, match="'heart' is no link"):
        fault_of({"id": "x", "link": "critic", "also_right": ["heart"]}, "list")

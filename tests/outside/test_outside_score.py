"""The gate, the records and the score: what counts, what matches the list, what is never overwritten."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.outside import score
from benchmarks.outside.asking import Said, from_kept, named, said, settings_of
from benchmarks.outside.gate import costs, learned
from benchmarks.outside.plans import plans
from benchmarks.outside.record import RUNS, pack, plain, read_manifest, row_of
from firstbreak.api import diagnose

HERE = Path(__file__).parent


def row(**more: Any) -> dict[str, Any]:
    return {
        "base": "b", "name": "f", "kind": "fault", "died": "", "end": 5.0, "evaluated": [], "early": [0, 1, 5],
        "late": [9, 1, 5], **more,
    }  # fmt: skip


TWINS = [row(name="plain", end=float(end), evaluated=[[1, float(end)]]) for end in (10, 8, 12)]


def test_a_fault_counts_where_its_end_is_below_every_plain_run_or_it_died() -> None:
    assert costs(row(end=7.9), TWINS, False)
    assert not costs(row(end=8.0), TWINS, False)
    assert costs(row(end=11.0, died="ValueError"), TWINS, False)
    assert costs(row(end=float("nan")), TWINS, False)
    assert costs(row(end=99.0, evaluated=[[1, 99.0], [2, 1.0], [3, 1.0]]), TWINS, True)


def test_a_healthy_run_counts_where_it_learned() -> None:
    assert learned(row())
    assert not learned(row(late=[0.5, 1, 5]))
    assert not learned(row(late=[9, 0, 1]))


def test_the_manifest_matches_the_plans_and_every_run_is_there() -> None:
    known = {plan.id: plan for plan in plans()}
    rows = read_manifest()
    assert len({one["name"] for one in rows if one["kind"] == "fault"}) >= 24
    plain = {plan.id for plan in plans() if plan.name == "plain"}
    assert plain <= {one["id"] for one in rows}  # what the gate measures the cost with
    for one in rows:
        assert row_of(known[one["id"]]).items() <= one.items()
        assert (RUNS / f"{one['id']}.tar.xz").exists()
    assert set(score.read_first()["log"]) <= {one["id"] for one in rows}


def test_runs_are_small_and_hold_nothing_but_logs() -> None:
    paths = sorted(RUNS.glob("*.tar.xz"))
    assert sum(path.stat().st_size for path in paths) < 8 * 2**20
    for path in paths[::20]:
        with tarfile.open(path, "r:xz") as packed:
            for entry in packed.getmembers():
                assert entry.name.startswith(("events.out.tfevents.", "progress.", "log.")) or entry.name.endswith(
                    ".monitor.csv"
                )
                assert (entry.uname, entry.mtime) == ("", 0)


def test_packing_leaves_out_the_hosts_name(tmp_path: Path) -> None:
    assert plain("events.out.tfevents.17.my.machine.local.5.0") == "events.out.tfevents.17.host.5.0"
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "progress.csv").write_text("a\n1\n", "utf-8")
    pack(tmp_path / "log", tmp_path / "x.tar.xz")
    with tarfile.open(tmp_path / "x.tar.xz", "r:xz") as packed:
        assert packed.getnames() == ["progress.csv"]


def test_the_first_score_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "first_score.json"
    one = Said("broken", ("critic",), ("a",), ("a",), "a", "text")
    score.keep_first({"log": {"x": one}, "settings": {}}, kept)
    assert score.read_first(tmp_path) == {"log": {"x": one}, "settings": {}}
    before = kept.read_bytes()
    with pytest.raises(SystemExit, match="never overwritten"):
        score.keep_first({}, kept)
    score.keep_first({"log": {"x": replace(one, verdict="healthy"), "y": one}}, tmp_path / "first_score_later.json")
    assert score.read_first(tmp_path)["log"] == {"x": one, "y": one}  # the first answer of a run stays its first
    monkeypatch.setattr(score, "HERE", tmp_path)
    monkeypatch.setattr("sys.argv", ["score", "--first"])
    with pytest.raises(SystemExit, match="never overwritten"):
        score.main()
    assert kept.read_bytes() == before


def test_right_links_count_by_their_place() -> None:
    one = Said("broken", ("numerics", "critic"), (), (), "", "")
    assert not named(one, ["critic"], 1)
    assert named(one, ["critic"], 2)
    assert named(one, ["critic"])
    assert json.loads(json.dumps(score.as_kept({"log": {"x": one}}))) == {
        "log": {
            "x": {
                "verdict": "broken",
                "links": ["numerics", "critic"],
                "alarms": [],
                "errors": [],
                "shown": "",
                "text": "",
            }
        }
    }
    assert from_kept(json.loads(json.dumps(score.as_kept({"log": {"x": one}})))) == {"log": {"x": one}}


def test_the_users_settings_are_those_of_the_script_not_of_the_bug() -> None:
    known = {plan.id: plan for plan in plans()}
    told = settings_of(known["sb3_ppo_cartpole-rate-rises-11"])
    assert (told["algo"], told["learning_rate"], told["n_envs"], told["gamma"]) == ("PPO", 0.1, 8, 0.99)
    assert settings_of(known["loop_ppo_cartpole-discount-too-short-11"])["gamma"] == 0.2
    assert "planted" not in settings_of(known["loop_ppo_cartpole-advantage-sign-11"])


def test_a_diagnosis_is_reduced_to_what_it_names() -> None:
    rising = {"rollout/ep_rew_mean": [float(n) for n in range(40)], "train/loss": [float("nan")] * 40}
    one = said(diagnose(rising))
    assert one.verdict in ("broken", "undecided", "healthy")
    assert bool(one.links) == bool(one.alarms)

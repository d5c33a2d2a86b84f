"""Reading runs, tables of scores and checkpoints from folders as trainers leave them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.evaluation.protocol import protocol as protocols
from firstbreak.evaluation.protocol.fields import SECTIONS
from firstbreak.release.evidence import UNKNOWN
from firstbreak.release.runs import read_runs
from firstbreak.release.scores import by_run, gather_scores, read_scores
from firstbreak.release.setting import odd_ones
from firstbreak.release.stored import copied, stored_of

from .conftest import EVALUATIONS, ROWS, make_run, make_scores

LOGS = Path(__file__).parents[2] / "data" / "logs"


def test_a_run_is_read_with_seed_task_protocol_and_evaluations(tmp_path: Path) -> None:
    (run,) = read_runs([make_run(tmp_path / "a", 3)])
    assert (run.name, run.seed, run.task, run.algorithm) == ("a", "3", "CartPole-v1", "PPO")
    assert run.metric == "reward/eval_return_mean"
    assert run.score.size == EVALUATIONS
    assert run.protocol not in ("", UNKNOWN)
    assert "eval.deterministic" in run.protocol_settings
    assert (run.ended, run.crashed) == ("finished", False)
    assert run.noise is not None
    assert run.noise == pytest.approx(5 / 5**0.5, rel=0.5)


def test_the_protocol_tells_how_and_not_when_evaluation_is_done(tmp_path: Path) -> None:
    same = make_run(tmp_path / "a", 0, config={"eval_freq": 100}), make_run(tmp_path / "b", 1, config={"eval_freq": 9})
    other = make_run(tmp_path / "c", 2, config={"eval.deterministic": False})
    a, b, c = read_runs([*same, other])
    assert a.protocol == b.protocol != c.protocol


def test_a_protocol_file_above_the_runs_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "protocol.toml").write_text(protocols.example(tuple(SECTIONS)).replace("FILL IN", "mine"))
    runs = read_runs([make_run(tmp_path / "a", 0), make_run(tmp_path / "b", 1, config={"eval.deterministic": False})])
    assert {run.protocol for run in runs} == {protocols.read(tmp_path / "protocol.toml").hash}


def test_without_record_and_configuration_seed_and_protocol_are_not_known() -> None:
    (run,) = read_runs([LOGS / "sb3_ppo_cartpole"])
    assert (run.seed, run.protocol, run.context) == ("", UNKNOWN, None)


@pytest.mark.parametrize(("status", "crashed"), [("finished", False), ("failed", True), ("killed", True)])
def test_how_a_run_ended_is_taken_from_its_record(tmp_path: Path, status: str, crashed: bool) -> None:
    (run,) = read_runs([make_run(tmp_path / "a", 0, status=status)])
    assert run.crashed is crashed


def test_runs_of_one_name_are_told_apart_and_one_run_twice_counts_once(tmp_path: Path) -> None:
    a, b = make_run(tmp_path / "x" / "run", 0), make_run(tmp_path / "y" / "run", 1)
    assert [run.name for run in read_runs([a, b, a])] == ["x-run", "y-run"]


def test_what_cannot_be_read_is_told_and_does_not_stop_the_others(tmp_path: Path) -> None:
    problems: list[str] = []
    assert len(read_runs([tmp_path / "gone", make_run(tmp_path / "a", 0)], problems=problems)) == 1
    assert "gone" in problems[0]
    with pytest.raises(InputError):
        read_runs([tmp_path / "gone"])


def test_a_run_with_another_setting_is_odd_and_the_seed_is_not(tmp_path: Path) -> None:
    folders = [make_run(tmp_path / str(i), i, config={"gamma": 0.9 if i == 2 else 0.99}) for i in range(3)]
    (odd,) = odd_ones(read_runs(folders))
    assert (odd.run, odd.against) == ("2", "0")
    assert [d.name for d in odd.differences] == ["gamma"]


SCORES = {"split": "private", "checkpoint": "best", "seed": 1, "score": 5.0, "protocol": "p"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", "split,checkpoint,seed,score,protocol\nprivate_test,Best,1,5,p\n"),
        ("s.csv", "\ufeffset,which,seed,value,protocol_hash\nprivate,best,1,5.0,p\n"),
        ("s.json", json.dumps([SCORES])),
        ("s.json", json.dumps({"protocol": "p", "scores": [{k: v for k, v in SCORES.items() if k != "protocol"}]})),
        ("s.jsonl", json.dumps(SCORES) + "\n\n"),
    ],
)
def test_tables_of_scores_in_each_form(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    (row,) = read_scores(tmp_path / name, "")
    assert (row.split, row.checkpoint, row.run, row.score, row.protocol) == ("private", "best", "1", 5.0, "p")


@pytest.mark.parametrize(
    "text",
    ["split,checkpoint,seed\nprivate,best,1\n", "split,checkpoint,score\nprivate,best,many\n",
     "split,checkpoint,score\nprivate,best,nan\n", "split,checkpoint,score\n,best,1\n"],
)  # fmt: skip
def test_a_wrong_row_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(InputError, match="row 1"):
        read_scores(tmp_path / "s.csv", "")


@given(st.binary(max_size=200), st.sampled_from(["s.csv", "s.json", "s.jsonl"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str) -> None:
    path = tmp_path_factory.mktemp("s") / name
    path.write_bytes(content)
    try:
        found = read_scores(path, "r")
    except (InputError, UnreadableError):
        found = []
    assert all(row.run == "r" for row in found)


def test_scores_lie_beside_the_run_or_are_matched_by_seed(tmp_path: Path) -> None:
    runs = read_runs([make_run(tmp_path / "a", 0), make_run(tmp_path / "b", 7)])
    make_scores(tmp_path / "a", 0, [("fresh", "best", 4.0), ("fresh", "best", 6.0)])
    (tmp_path / "more.csv").write_text("split,checkpoint,seed,score\nfresh,best,7,9\n")
    rows = gather_scores(runs, [tmp_path / "more.csv"])
    assert by_run(rows, "fresh", "best") == {"a": 5.0, "b": 9.0}


def test_roles_of_checkpoints_and_their_hashes(tmp_path: Path) -> None:
    (run,) = read_runs([make_run(tmp_path / "a", 0)])
    best, last = stored_of(run)
    assert (best.role, last.role) == ("best", "last")
    assert best.sha256 == hashlib.sha256((tmp_path / "a" / "best_model.zip").read_bytes()).hexdigest()
    assert last.path.endswith(f"rl_model_{ROWS * 512}_steps.zip")
    assert best.score == pytest.approx(run.score.max())
    inside = copied(best, tmp_path / "out")
    assert (tmp_path / "out" / inside.copied_to).read_bytes() == (tmp_path / "a" / "best_model.zip").read_bytes()


def test_the_best_is_the_checkpoint_where_the_evaluation_was_highest_or_none(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", 0, checkpoints=False)
    (run,) = read_runs([folder])
    assert stored_of(run) == []
    top = int(run.step[run.score.argmax()])
    (folder / f"rl_model_{top}_steps.zip").write_bytes(b"top")
    (folder / "rl_model_1_steps.zip").write_bytes(b"first")
    found = {one.role: one for one in stored_of(run)}
    assert found["best"].sha256 == hashlib.sha256(b"top").hexdigest()
    (folder / f"rl_model_{top}_steps.zip").unlink()
    assert "best" not in {one.role for one in stored_of(run)}


def test_a_run_that_died_shows_its_last_checkpoint_as_the_failed_one(tmp_path: Path) -> None:
    (run,) = read_runs([make_run(tmp_path / "a", 0, status="failed")])
    assert [one.role for one in stored_of(run)] == ["best", "last", "failed"]


def test_a_checkpoint_too_large_to_copy_is_named_with_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from firstbreak.release import stored

    monkeypatch.setattr(stored, "MOST_COPIED_BYTES", 3)
    (run,) = read_runs([make_run(tmp_path / "a", 0)])
    kept = copied(stored_of(run)[0], tmp_path / "out")
    assert kept.copied_to == ""
    assert kept.sha256
    assert not (tmp_path / "out").exists()

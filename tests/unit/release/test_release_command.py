"""`firstbreak release` from the command line: verdicts, exit statuses, bad input, real logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstbreak.cli import main

from .conftest import make_preflight, make_run, make_scores

LOGS = Path(__file__).parents[2] / "data" / "logs"


def run(*words: object) -> int:
    return main(["release", *map(str, words)])


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def test_real_logs_of_a_hacked_reward_are_no_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(LOGS / "trl_grpo_hackable") == 1
    out = capsys.readouterr().out
    assert out.startswith("NO-GO")
    assert "1 of 1 run broken" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_real_log_without_anything_else_is_undecided_and_everything_missing_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(LOGS / "sb3_ppo_cartpole", "--format", "json") == 3
    found = document(capsys)
    assert (found["outcome"], found["verdict"], found["schema_version"]) == ("undecided", "undecided", 1)
    assert {"context-recorded", "enough-seeds", "selection-corrected", "reward-and-private-set", "samples-audited",
            "looked-before", "seeds-distinct", "one-protocol", "checkpoints-kept"} <= set(found["missing"])  # type: ignore[call-overload]  # fmt: skip
    assert run(LOGS / "sb3_ppo_cartpole", "--undecided-ok") == 0


def test_reward_down_and_private_set_up_is_a_good_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = [make_run(tmp_path / "new" / str(i), i, level=60) for i in range(4)]
    old = [make_run(tmp_path / "old" / str(i), i, level=100) for i in range(4)]
    for i, folder in enumerate(new):
        make_scores(folder, i, [("private", "best", 80.0 + 2 * i), ("private", "baseline", 40.0 + i)])
    run(*new, "--baseline", *old, "--format", "json")
    ruling = next(r for r in document(capsys)["gate"] if r["rule"] == "reward-and-private-set")  # type: ignore[attr-defined]
    assert ruling["ruled"] == "good"
    assert "the earlier reward was probably wrong" in ruling["text"]


def test_the_preflight_and_the_protocol_beside_the_runs_are_no_runs(
    five: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    beside = five[0].parent
    make_preflight(beside / "preflight.json")
    main(["eval", "protocol", "init", str(beside / "protocol.toml"), "--kind", "control"])
    text = (beside / "protocol.toml").read_text("utf-8")
    (beside / "protocol.toml").write_text(text.replace("FILL IN", "filled in"), "utf-8")
    capsys.readouterr()
    run(*sorted(beside.iterdir()), "--format", "json")
    assert document(capsys)["problems"] == []


def test_reward_up_and_private_set_down_is_no_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [make_run(tmp_path / str(i), i) for i in range(4)]
    for i, folder in enumerate(folders):
        make_scores(folder, i, [("private", "best", 10.0 + 2 * i), ("private", "baseline", 40.0 + i)])
    assert run(*folders) == 1
    assert "the reward is gamed" in " ".join(capsys.readouterr().out.split())


def test_runs_of_different_protocols_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [make_run(tmp_path / str(i), i, config={"eval.deterministic": i > 1}) for i in range(4)]
    assert run(*folders, "--format", "json") == 3
    found = document(capsys)
    assert "one-protocol" in found["missing"]  # type: ignore[operator]
    assert [len(g["runs"]) for g in found["results"]["groups"]] == [2, 2]  # type: ignore[index]


def test_a_dead_run_is_named_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [make_run(tmp_path / str(i), i) for i in range(4)]
    folders.append(make_run(tmp_path / "dead", 9, length=3, status="failed"))
    assert run(*folders) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "1 of 5 runs died: dead" in out
    assert "each counts with its last evaluation" in out


def test_a_failed_preflight_is_no_go(tmp_path: Path) -> None:
    make_preflight(tmp_path / "preflight.json", "fail")
    assert run(make_run(tmp_path / "0", 0)) == 1


def test_a_ledger_that_was_edited_is_no_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    from firstbreak.evaluation.ledger.looks import record
    from firstbreak.evaluation.protocol.fields import SECTIONS
    from firstbreak.evaluation.protocol.protocol import example, read

    (tmp_path / "protocol.toml").write_text(example(tuple(SECTIONS)).replace("FILL IN", "mine"))
    ledger = tmp_path / "ledger.sqlite"
    for subject in ("a", "b"):
        record(ledger, "private_test", subject, read(tmp_path / "protocol.toml"), score=0.5, noise=0.01, items=9)
    folder = make_run(tmp_path / "0", 0)
    assert run(folder, "--ledger", ledger) == 3
    assert "2 looks at the private set, as allowed" in capsys.readouterr().out
    with sqlite3.connect(ledger) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM ledger WHERE number = (SELECT max(number) FROM ledger)")
    connection.close()
    assert run(folder, "--ledger", ledger) == 1
    assert "changed by hand" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "No runs were given"),
        (("gone",), "no such file"),
        (("{run}", "--metric", "reward/eval_mea"), "reward/eval_mean"),
        (("{run}", "--scale", "x"), "TASK=LOW:HIGH"),
        (("{run}", "--scale", "CartPole-v1=5:1"), "no range"),
        (("{run}", "--samples", "gone"), "gone"),
        (("{run}", "--scores", "gone.csv"), "gone.csv"),
        (("{run}", "--preflight", "gone.json"), "gone.json"),
        (("{run}", "--ledger", "gone.db"), "gone.db"),
        (("{run}", "--seal", "abc"), "--verify"),
        (("{run}", "--out", "/proc/nowhere/x"), "cannot be made"),
    ],
)
def test_wrong_arguments_are_told_in_two_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    folder = str(make_run(tmp_path / "a", 0))
    assert run(*(word.format(run=folder) for word in words)) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert "Traceback" not in captured.err

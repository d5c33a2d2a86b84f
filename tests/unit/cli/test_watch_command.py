"""`firstbreak watch` at the command line: statuses, lines, JSON, eighty columns, Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.cli import watch as command
from firstbreak.cli.arguments import Parser
from firstbreak.cli.watch import ALERTS, STOPPED, alert_named
from firstbreak.errors import InputError
from firstbreak.monitor.watching import watcher
from firstbreak.report.json import run_dict

LOGS = Path(__file__).parents[2] / "data" / "logs"
Call = Callable[..., Any]
KEYS = {"schema_version", "tool_version", "vocabulary_version", "watch", "run", "verdict", "first_break", "findings",
        "coverage"}  # fmt: skip


def documents(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_one_look_at_a_broken_and_at_a_healthy_run(call: Call, runs: Path) -> None:
    broken = call("watch", runs / "sb3_ppo_lr01", "--once")
    assert broken.status == 1
    assert "ERROR policy_update: kl-overshoot" in broken.out
    assert "BROKEN at policy_update" in broken.out
    healthy = call("watch", runs / "sb3_ppo_cartpole", "--once")
    assert healthy.status == 0
    assert "HEALTHY" in healthy.out
    assert healthy.err == ""


def test_eighty_columns_are_never_exceeded(call: Call, runs: Path) -> None:
    for name in ("sb3_ppo_lr01", "sb3_ppo_cartpole"):
        assert max(map(len, call("watch", runs / name, "--once").out.splitlines())) <= 80
    assert max(map(len, call("watch", runs, "--all", "--once").out.splitlines())) <= 80


def test_json_is_one_document_a_line_in_the_outer_shape(call: Call, runs: Path) -> None:
    answer = call("watch", runs / "sb3_ppo_lr01", "--once", "--format", "json")
    found = documents(answer.out)
    assert answer.status == 1
    assert all(set(document) == KEYS for document in found)
    assert found[0]["watch"]["event"] == "run"
    assert found[0]["run"]["algorithm"] == "PPO"
    findings = [f for d in found if d["watch"]["event"] == "finding" for f in d["findings"]]
    last = found[-1]
    assert (last["watch"]["event"], last["watch"]["exit_status"], last["verdict"]) == ("end", 1, "broken")
    assert {f["id"] for f in findings} == {f["id"] for f in last["findings"]}
    assert [d["findings"][0]["name"] for d in found if d["watch"]["alert"]] == ["kl-overshoot"]


def test_the_last_line_says_what_diagnose_says(call: Call, runs: Path) -> None:
    from firstbreak.api import diagnose_runs

    last = documents(call("watch", runs / "sb3_ppo_lr01", "--once", "--format", "json").out)[-1]
    (diagnosis,) = diagnose_runs(runs / "sb3_ppo_lr01")
    want = json.loads(json.dumps(run_dict(diagnosis)))
    for key in ("verdict", "first_break", "findings", "coverage"):
        assert last[key] == want[key]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--interval", "0"], "--interval 0"),
        (["--stalled-after", "-1"], "--stalled-after -1"),
        (["--pid", "0"], "--pid 0"),
        (["--alert", "pigeon"], "no place to tell"),
        (["--alert", "console:x"], "no place to tell"),
        (["--select", "kl-overshot"], "kl-overshoot"),
        (["--algorithm", "PPPO"], "PPO"),
    ],
)
def test_wrong_arguments_are_said_in_words(call: Call, runs: Path, arguments: list[str], says: str) -> None:
    answer = call("watch", runs / "sb3_ppo_lr01", "--once", *arguments)
    assert answer.status == 2
    assert says in answer.err


def test_one_look_at_nothing_is_bad_input(call: Call, tmp_path: Path) -> None:
    (tmp_path / "sb3").mkdir()
    answer = call("watch", tmp_path / "sb4", "--once")
    assert answer.status == 2
    assert "Did you mean" in answer.err
    asked = call("watch", tmp_path / "sb4", "--once", "--format", "json")
    assert json.loads(asked.out)["error"]["kind"] == "bad_input"


def test_text_of_a_log_cannot_reach_the_terminal(call: Call, tmp_path: Path) -> None:
    place = tmp_path / "evil\x1b[31m\x1b]0;title\x07run"
    shutil.copytree(LOGS / "loop_runs" / "ppo_nan", place)
    for path in place.rglob("*"):  # a fresh checkout looks as if it were being written just now
        os.utime(path, (1e9, 1e9))
    for extra in ((), ("--format", "json")):
        answer = call("watch", place, "--once", *extra)
        assert answer.status == 1
        assert not {c for c in answer.out if ord(c) < 32} - {"\n"}


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest after a reading is real time, which does not pass while `Script` stands for sleep."""
    monkeypatch.setattr(watcher, "SPACING", 0.0)


class Script:
    """Stands for sleep: at each rest the trainer does its next piece of work, then Ctrl-C comes."""

    def __init__(self, *steps: Callable[[], None]) -> None:
        self.steps = list(steps)
        self.rests: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.rests.append(seconds)
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def watched(place: Path, script: Script, *arguments: str) -> int:
    parser = Parser()
    command.add(parser)
    return command.watch(parser.parse_args([str(place), *arguments]), script)


def append(place: Path, lines: list[str]) -> Callable[[], None]:
    def write() -> None:
        place.parent.mkdir(exist_ok=True)
        with place.open("a", encoding="utf-8") as stream:
            stream.write("".join(lines))

    return write


@pytest.fixture(scope="module")
def rows() -> list[str]:
    return (LOGS / "loop_runs" / "ppo_lr_jump" / "metrics.jsonl").read_text("utf-8").splitlines(keepends=True)


def test_it_waits_watches_and_sums_up(tmp_path: Path, rows: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "run" / "metrics.jsonl"
    assert watched(tmp_path / "run", Script(append(place, rows[:20]))) == 130
    out = capsys.readouterr().out
    assert out.index("waiting for a run to appear") < out.index("watching") < out.index("more    firstbreak diagnose")
    assert "Traceback" not in out


@pytest.mark.parametrize("seconds", ["0", "0.01"])
def test_the_wait_for_a_run_is_said_and_may_be_bounded(call: Call, tmp_path: Path, seconds: str) -> None:
    answer = call("watch", tmp_path / "nowhere", "--until-end", "--wait", seconds)
    assert answer.status == 2
    assert "no such file or folder" in answer.err
    assert ("waiting for a run to appear (Ctrl-C ends, --wait S bounds it)" in answer.out) == (seconds != "0")


def test_the_bound_is_for_the_wait_alone(tmp_path: Path, rows: list[str]) -> None:
    place = tmp_path / "run" / "metrics.jsonl"
    append(place, rows[:20])()
    script = Script(append(place, rows[20:30]), append(place, rows[30:40]))
    assert watched(tmp_path / "run", script, "--wait", "0") == 130
    assert script.steps == []
    assert len(script.rests) >= 2


def test_a_wait_that_is_no_time_is_refused(call: Call, tmp_path: Path) -> None:
    for wrong in ("-1", "nan", "inf"):
        answer = call("watch", tmp_path, "--wait", wrong)
        assert answer.status == 2
        assert "--wait" in answer.err


def test_the_first_finding_can_end_it(tmp_path: Path, rows: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "run" / "metrics.jsonl"
    script = Script(append(place, rows[:20]), append(place, rows[20:70]))
    assert watched(tmp_path / "run", script, "--exit-on-finding") == 1
    assert script.steps == []
    assert "kl-overshoot" in capsys.readouterr().out


def test_until_the_end_leaves_with_what_is_known(tmp_path: Path, rows: list[str]) -> None:
    place = tmp_path / "run" / "metrics.jsonl"
    append(place, rows[:40])()
    os.utime(place, (1.7e9, 1.7e9))
    script = Script()
    assert watched(tmp_path / "run", script, "--until-end", "--undecided-ok") == 0
    assert script.rests == []
    (tmp_path / "run" / "config.json").write_text('{"total_timesteps": 1000000, "algo": "ppo"}')
    os.utime(tmp_path / "run" / "config.json", (1.7e9, 1.7e9))
    assert watched(tmp_path / "run", script, "--until-end") == STOPPED
    append(place, rows[40:])()
    os.utime(place, (1.7e9, 1.7e9))
    assert watched(tmp_path / "run", script, "--until-end") == 1


def test_alerts_go_where_they_are_asked_to(tmp_path: Path, runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "alerts.jsonl"
    arguments = ("--once", "--alert", f"file:{target}", "--alert", "console")
    assert watched(runs / "sb3_ppo_lr01", Script(), *arguments) == 1
    (notice,) = documents(target.read_text("utf-8"))
    assert (notice["rule"], notice["level"], notice["name"]) == ("POL001", "error", "kl-overshoot")
    assert "kl-overshoot" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["console", "file:x.jsonl", "webhook:http://127.0.0.1:9/x"])
def test_places_to_tell(text: str) -> None:
    assert hasattr(alert_named(text), "send")
    assert text.partition(":")[0] in {known.partition(":")[0] for known in ALERTS}


def test_slack_needs_its_address_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRSTBREAK_SLACK_WEBHOOK", raising=False)
    with pytest.raises(InputError):
        alert_named("slack")


def test_ctrl_c_ends_a_real_watch_with_a_summary(tmp_path: Path, rows: list[str]) -> None:
    append(tmp_path / "run" / "metrics.jsonl", rows[:60])()
    child = subprocess.Popen(
        [sys.executable, "-m", "firstbreak", "watch", str(tmp_path / "run"), "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    first = child.stdout.readline()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == ""
    assert json.loads(first)["watch"]["event"] == "run"
    assert documents(out)[-1]["watch"] | {"event": "end", "exit_status": 130} == documents(out)[-1]["watch"]

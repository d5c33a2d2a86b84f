"""A writer and a watcher take turns on real files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.monitor.watching.events import Kind, State
from firstbreak.monitor.watching.notices import notice_of
from firstbreak.monitor.watching.watcher import Wishes

Row = Callable[..., dict[str, Any]]
Make = Callable[..., Any]


def names(events: Any) -> list[str]:
    return [f.name for event in events for f in event.findings]


def test_a_folder_that_is_not_there_is_waited_for_with_one_line(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path / "runs" / "a")
    for _ in range(5):
        s.poll()
    assert [e.kind for e in s.told] == [Kind.WAITING]
    assert "no such file or folder" in s.told[0].text
    (tmp_path / "runs" / "a").mkdir(parents=True)
    s.poll()
    assert "empty" in s.told[-1].text
    s.rows(tmp_path / "runs" / "a" / "metrics.jsonl", [healthy(i) for i in range(3)])
    assert [e.kind for e in s.told] == [Kind.WAITING, Kind.WAITING, Kind.RUN, Kind.LOOK, Kind.LOOK]
    assert s.state is State.RUNNING


def test_a_fault_is_told_at_the_row_that_shows_it_and_once(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(20)])
    assert s.kinds(Kind.FINDING) == []
    events = s.rows(log, [healthy(20, **{"losses/approx_kl": 30.0})])
    assert "kl-overshoot" in names(events)
    (alert,) = [e for e in s.told if e.alert]
    assert alert.findings[0].name == "kl-overshoot"
    s.rows(log, [healthy(i, **{"losses/approx_kl": 30.0}) for i in range(21, 30)])
    assert names(s.kinds(Kind.FINDING)).count("kl-overshoot") == 1


def test_nan_is_told(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    s.rows(tmp_path / "metrics.jsonl", [healthy(i) for i in range(10)])
    s.rows(tmp_path / "metrics.jsonl", [healthy(i, **{"losses/value_loss": float("nan")}) for i in range(10, 13)])
    assert "nonfinite-metric" in names(s.kinds(Kind.FINDING))


def test_a_half_written_line_waits_for_its_other_half(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(12)])
    text = json.dumps(healthy(12, **{"losses/approx_kl": 30.0})) + "\n"
    s.write(log, text[:60])
    assert s.poll() == []
    s.write(log, text[60:])
    assert "kl-overshoot" in names(s.poll())


def test_garbage_in_the_middle_is_said_once_and_the_rest_counts(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(5)])
    s.write(log, "\x1b[31mgarbage{{{\n")
    s.poll()
    s.rows(log, [healthy(i) for i in range(5, 9)])
    s.write(log, "more garbage\n")
    s.rows(log, [healthy(i) for i in range(9, 12)])
    assert len(s.kinds(Kind.PROBLEM)) == 1
    assert s.track.log.last_step == 11 * 1024


def test_a_truncated_file_begins_anew_and_its_findings_are_forgotten(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    bad = [healthy(i, **{"losses/approx_kl": 30.0 if i > 5 else 0.004}) for i in range(12)]
    s.rows(log, bad)
    s.write(log, "", "w")
    s.poll()
    s.poll()
    assert s.track.state is State.LOST
    s.rows(log, bad[:3])
    assert [e.kind for e in s.kinds(Kind.LOST, Kind.BACK, Kind.RESTART)] == [Kind.LOST, Kind.BACK, Kind.RESTART]
    s.rows(log, bad[3:])
    assert names(s.kinds(Kind.FINDING)).count("kl-overshoot") == 2
    assert names(s.kinds(Kind.RESOLVED)).count("kl-overshoot") == 0


def test_another_file_in_its_place_is_a_restart_and_a_rewritten_one_is_not(
    tmp_path: Path, stage: Make, healthy: Row
) -> None:
    s = stage(tmp_path)
    log, new = tmp_path / "metrics.jsonl", tmp_path / "part"
    rows = [json.dumps(healthy(i)) + "\n" for i in range(30)]
    for n in range(5, 15):  # as writers do that replace their file at each save
        s.write(new, "".join(rows[:n]), "w")
        os.replace(new, log)
        s.poll()
    assert s.kinds(Kind.RESTART) == []
    changed = {key: 9.0 for key in healthy(0) if key != "step"}
    other = [json.dumps(healthy(i, **{key: value + i for key, value in changed.items()})) + "\n" for i in range(20)]
    s.write(new, "".join(other), "w")
    os.replace(new, log)
    s.poll()
    s.poll()
    assert [e.kind for e in s.kinds(Kind.RESTART)] == [Kind.RESTART]


def test_a_file_met_while_it_is_rewritten_is_neither_lost_nor_a_restart(
    tmp_path: Path, stage: Make, healthy: Row
) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    text = "".join(json.dumps(healthy(i, **{"losses/approx_kl": 30.0})) + "\n" for i in range(10))
    s.write(log, text)
    s.poll()
    for half in ("", text[:300]):
        s.write(log, half, "w")
        assert s.poll() == []
        s.write(log, text, "w")
        assert s.poll() == []
    assert s.state is State.RUNNING


def test_steps_that_go_back_in_one_file_are_a_resume(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(20)])
    s.rows(log, [healthy(i) for i in range(12, 25)])
    assert [e.facts["steps"] for e in s.kinds(Kind.RESUME)] == [12 * 1024]
    assert s.kinds(Kind.RESTART) == []
    assert s.track.log.last_step == 24 * 1024


def test_a_new_event_file_in_the_folder_is_another_segment(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    s.rows(tmp_path / "a.jsonl", [healthy(i) for i in range(10)])
    s.rows(tmp_path / "b.jsonl", [healthy(i) for i in range(10, 20)])
    (segment,) = s.kinds(Kind.SEGMENT)
    assert segment.text == "b.jsonl"
    assert s.track.log.last_step == 19 * 1024


def test_a_deleted_log_is_lost_and_found_again(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path / "run")
    log = tmp_path / "run" / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(10)])
    os.rename(tmp_path / "run", tmp_path / "away")
    for _ in range(3):
        s.poll()
    assert [e.kind for e in s.kinds(Kind.LOST)] == [Kind.LOST]
    assert s.state is State.LOST
    os.rename(tmp_path / "away", tmp_path / "run")
    s.poll()
    assert [e.kind for e in s.kinds(Kind.BACK, Kind.RESTART)] == [Kind.BACK]
    assert s.state is State.RUNNING


def test_a_silent_log_is_stalled_by_its_own_pace_and_lives_again(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(20)], every_s=20.0)
    s.poll(150.0)
    assert s.state is State.RUNNING
    (event,) = s.poll(60.0)
    assert (event.kind, event.state, event.alert) == (Kind.STATE, State.STALLED, True)
    assert s.watcher.stopped
    assert s.poll(600.0) == []
    s.rows(log, [healthy(20)])
    assert [e.state for e in s.kinds(Kind.STATE)] == [State.STALLED, State.RUNNING]


def test_the_user_says_when_silence_is_long(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path, Wishes(stalled_after_s=5.0))
    s.rows(tmp_path / "metrics.jsonl", [healthy(i) for i in range(3)])
    s.poll(6.0)
    assert s.state is State.STALLED


def test_a_log_that_was_silent_all_along_is_quiet_not_stalled(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    s.write(tmp_path / "metrics.jsonl", "".join(json.dumps(healthy(i)) + "\n" for i in range(9)))
    s.time += 7200
    s.poll()
    assert (s.state, s.watcher.over, s.watcher.stopped) == (State.QUIET, True, False)
    (tmp_path / "config.json").write_text(json.dumps({"total_timesteps": 10**6, "algo": "ppo"}))
    planned = stage(tmp_path)
    os.utime(tmp_path / "config.json", (0, 0))
    planned.time = s.time
    planned.poll()
    assert planned.state is State.STALLED


def test_a_log_that_reached_its_planned_steps_is_finished(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"total_timesteps": 19 * 1024, "algo": "ppo"}))
    s.rows(tmp_path / "metrics.jsonl", [healthy(i) for i in range(19)])
    assert s.state is State.RUNNING
    s.rows(tmp_path / "metrics.jsonl", [healthy(19)])
    assert (s.state, s.watcher.over) == (State.FINISHED, True)


def test_a_log_that_is_written_but_stands_is_a_zombie(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(10)])
    for _ in range(60):
        s.write(log, "\n")
        s.poll(2.0)
    assert s.state is State.ZOMBIE
    assert s.track.sign == "standing"


def test_a_log_whose_metrics_never_move_again_is_a_zombie(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i) for i in range(10)])
    frozen = healthy(10)
    s.rows(log, [{**frozen, "step": i * 1024} for i in range(10, 40)])
    assert (s.state, s.track.sign) == (State.ZOMBIE, "frozen")


def test_the_end_of_the_named_process_is_the_end_of_the_run(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path, Wishes(pid=77))
    s.processes.add(77)
    s.rows(tmp_path / "metrics.jsonl", [healthy(i) for i in range(5)])
    assert s.state is State.RUNNING
    s.processes.clear()
    s.poll()
    assert (s.state, s.watcher.over, s.watcher.stopped) == (State.ENDED, True, False)
    (tmp_path / "config.json").write_text(json.dumps({"total_timesteps": 10**6, "algo": "ppo"}))
    s.poll()
    assert (s.state, s.watcher.stopped) == (State.GONE, True)


def test_a_clock_that_jumps_makes_nothing_stall(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    real = s.now
    for i in range(40):
        jump = 86_400.0 * (1 if i % 2 else -1)
        s.watcher.now = lambda jump=jump: real() + jump
        s.write(log, json.dumps(healthy(i)) + "\n")
        s.poll()
    assert s.state is State.RUNNING
    assert s.kinds(Kind.STATE) == []


def test_the_newest_of_several_runs_is_watched_until_another_begins(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    s.write(tmp_path / "old" / "metrics.jsonl", "".join(json.dumps(healthy(i)) + "\n" for i in range(9)))
    s.time += 10
    s.rows(tmp_path / "new" / "metrics.jsonl", [healthy(i) for i in range(5)])
    assert s.track.log.path == str(tmp_path / "new")
    s.write(tmp_path / "old" / "metrics.jsonl", json.dumps(healthy(9)) + "\n")
    s.poll()
    assert s.track.log.path == str(tmp_path / "new")  # it is written, too, but so is ours
    s.rows(tmp_path / "third" / "metrics.jsonl", [healthy(i) for i in range(3)])
    assert s.track.log.path == str(tmp_path / "third")
    assert [Path(e.run).name for e in s.kinds(Kind.RUN)] == ["new", "third"]
    s.time += 3600
    s.rows(tmp_path / "old" / "metrics.jsonl", [healthy(10)])
    assert s.track.log.path == str(tmp_path / "old")  # ours went silent


def test_all_runs_of_a_folder_are_watched_side_by_side(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path, every=True)
    for i in range(15):
        for name in ("a", "b"):
            kl = 30.0 if name == "b" and i > 8 else 0.004
            s.write(tmp_path / name / "metrics.jsonl", json.dumps(healthy(i, **{"losses/approx_kl": kl})) + "\n")
        s.poll()
    assert sorted(Path(path).name for path in s.watcher.tracks) == ["a", "b"]
    assert {Path(e.run).name for e in s.kinds(Kind.FINDING)} == {"b"}
    shutil.rmtree(tmp_path / "a")
    s.poll()
    assert sorted(Path(path).name for path in s.watcher.tracks) == ["b"]


def test_reading_takes_a_small_share_of_the_time_however_long_it_takes(
    tmp_path: Path, stage: Make, healthy: Row
) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    used = 0.0
    read = s.watcher.source.read

    def slow(*, settled: bool = False) -> Any:
        nonlocal used
        used += 3.0
        return read(settled=settled)

    s.watcher.source.read = slow
    s.watcher.work = lambda: used
    start = s.time
    for i in range(200):
        s.write(log, json.dumps(healthy(i)) + "\n")
        s.poll(2.0)
    assert used > 6.0
    assert used <= 0.05 * (s.time - start) + 3.0
    assert s.state is State.RUNNING


def test_a_place_that_can_never_be_a_run_says_so_for_one_look(tmp_path: Path, stage: Make) -> None:
    place = tmp_path / "notes.md"
    place.write_text("# notes\n")
    s = stage(place)
    s.poll()
    assert isinstance(s.watcher.trouble, InputError)
    assert s.watcher.tracks == {}


@pytest.mark.parametrize("name", ["sb3_ppo_lr01", "trl_grpo_collapse", "rsl_rl_ppo", "trackio", "wandb_offline"])
def test_every_kind_of_log_can_be_watched(name: str, logs: Path, stage: Make) -> None:
    s = stage(logs / name)
    s.poll()
    s.poll()
    assert s.track.diagnosis is not None
    assert len(s.kinds(Kind.RUN)) == 1
    assert s.kinds(Kind.LOOK, Kind.RESTART, Kind.LOST) == []


def test_a_place_that_may_no_longer_be_entered_is_lost_until_it_may(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path / "run")
    s.rows(tmp_path / "run" / "metrics.jsonl", [healthy(i) for i in range(4)])
    me = os.geteuid()
    os.chmod(tmp_path / "run", 0)
    if me == 0:  # root may enter anything: be somebody else for a moment
        os.seteuid(65534)
    try:
        assert s.poll() == []
        (event,) = s.poll()
    finally:
        os.seteuid(me)
        os.chmod(tmp_path / "run", 0o755)
    assert (event.kind, s.state) == (Kind.LOST, State.LOST)
    assert "ermission denied" in event.text
    s.poll()
    assert [e.kind for e in s.kinds(Kind.BACK)] == [Kind.BACK]
    assert s.state is State.RUNNING


def test_what_is_sent_out_names_the_rule_or_the_state(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path, Wishes(stalled_after_s=30.0))
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i, **{"losses/approx_kl": 30.0 if i > 8 else 0.004}) for i in range(12)])
    s.poll(31.0)
    log.unlink()
    s.poll()
    s.poll()
    sent = [notice_of(event) for event in s.told if event.alert]
    assert [(n.name, str(n.level)) for n in sent] == [
        ("kl-overshoot", "error"),
        ("run-stalled", "error"),
        ("run-lost", "warning"),
    ]
    assert sent[0].link == "policy_update"
    assert sent[0].step == 9 * 1024
    assert sent[1].title == "stalled: nothing is written any more"


def test_what_was_written_before_the_end_is_read_before_the_watch_ends(
    tmp_path: Path, stage: Make, healthy: Row
) -> None:
    """The last rows come while the watch rests, and with them the break."""
    s = stage(tmp_path, Wishes(pid=77))
    s.processes.add(77)
    s.rows(tmp_path / "metrics.jsonl", [healthy(i) for i in range(12)])
    s.watcher._read_from = s.time + 1000.0
    s.write(tmp_path / "metrics.jsonl", json.dumps(healthy(12, **{"losses/approx_kl": 30.0})) + "\n")
    s.poll()
    assert not s.watcher.over
    s.processes.clear()
    s.poll()
    s.poll()
    assert s.watcher.over
    assert "kl-overshoot" in names(s.kinds(Kind.FINDING))


def test_a_log_that_stays_lost_ends_a_watch_that_waits_for_the_end(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path, Wishes(stalled_after_s=30.0))
    s.rows(tmp_path / "metrics.jsonl", [healthy(i) for i in range(4)])
    (tmp_path / "metrics.jsonl").unlink()
    s.poll()
    s.poll()
    assert (s.state, s.watcher.over, s.watcher.stopped) == (State.LOST, False, True)
    s.poll(40.0)
    assert s.watcher.over

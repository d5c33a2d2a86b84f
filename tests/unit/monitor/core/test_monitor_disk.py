"""A whole monitor over a disk that fails for real: what cannot be recorded is said, and judging goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from firstbreak import Monitor, load
from firstbreak.monitor.record import Recorder

BREAKS = """
import os, sys
from firstbreak.monitor import Monitor
for i in range(12):  # what is imported late may lie where only root can read
    warm = Monitor(sys.argv[2], algorithm="PPO") if i == 0 else warm
    warm.log({"policy/kl_old": 0.01 if i < 8 else 5.0}, step=i)
warm.close()
if os.geteuid() == 0:
    os.seteuid(65534)  # root may write anywhere
monitor = Monitor(sys.argv[1], algorithm="PPO", act={"kl-overshoot": "stop_training"})
stopped = [monitor.log({"policy/kl_old": 0.01 if i < 8 else 5.0}, step=i).stop_training for i in range(12)]
monitor.close()
print(stopped.index(True), [a.finding.name for a in monitor.alarms])
print(*monitor.faults, sep="\\n")
"""


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_read_only_directory_is_said_and_the_verdict_comes_all_the_same(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):  # another user must reach it
        if Path(tempfile.gettempdir()) in folder.parents:
            folder.chmod(0o755)
    shut = tmp_path / "run"
    shut.mkdir()
    shut.chmod(0o555)
    done = run(BREAKS, shut, tmp_path / "before")
    told, *faults = done.stdout.splitlines()
    assert told == "8 ['kl-overshoot']", done.stderr
    assert "Permission denied" in faults[0]
    assert "lines are not in" in faults[1]
    assert list(shut.iterdir()) == []
    assert "training goes on" in done.stderr


FULL = """
import os, sys
from firstbreak.monitor import Monitor
monitor = Monitor(sys.argv[1], algorithm="PPO", clock="updates")
row = {"policy/kl_old": 0.01}
monitor.log(row, step=0)
fd = monitor.record._store.part._fd
real, full = os.dup(fd), os.open("/dev/full", os.O_WRONLY)
step = 1
for ending in (real, full, real, full):  # full, then there is room, then full ...
    os.dup2(full if ending == real else real, fd)
    for _ in range(100):
        monitor.log(row, step=step)
        step += 1
os.dup2(full, fd)
for _ in range(5):
    monitor.log(row, step=step)
    step += 1
monitor.close()
print(*monitor.faults, sep="\\n", flush=True)
os._exit(0)  # at its end the interpreter would try a new file, and here that would do
"""


def test_each_time_the_disk_is_full_is_said_and_what_never_got_there_is_counted(tmp_path: Path) -> None:
    """The device /dev/full answers every write as a full disk does."""
    done = run(FULL, tmp_path)
    stopped, again, stopped2, again2, missing = done.stdout.splitlines()
    assert "Nothing can be recorded" in stopped, done.stderr
    assert "No space left on device" in stopped
    assert again.endswith("goes on.")
    assert "(stop 2)" in stopped2
    assert "(stop 2)" in again2
    assert missing.startswith("The newest 6 lines are not in")  # five rows, and that the run is finished
    kept = load(tmp_path).get("policy/kl_old")
    assert kept is not None
    assert kept.step.tolist() == list(range(401))


def test_a_disk_that_fails_at_every_other_row_is_said_rarely(tmp_path: Path) -> None:
    told: list[str] = []
    kept = Recorder(tmp_path, told=told.append)
    kept.metrics({"x": 0}, 0)
    part = kept._store.part
    assert part is not None
    real, full = os.dup(part._fd), os.open("/dev/full", os.O_WRONLY)
    for step in range(1, 401):
        os.dup2(full if step % 4 == 1 else real, part._fd)
        kept.metrics({"x": step}, step)
    os.dup2(real, part._fd)
    kept.close()
    os.close(real)
    os.close(full)
    assert kept._store._outages == 100
    assert len([text for text in told if text.startswith("Nothing")]) == 7  # 1, 2, 4, 8, 16, 32, 64
    assert len(told) == 14
    assert kept.fault == ""


def test_a_forked_worker_that_logs_is_told_that_nobody_judges_there(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path, algorithm="PPO", act={"kl-overshoot": "stop_training"})
    monitor.log({"policy/kl_old": 0.01}, step=0)
    child = os.fork()
    if child == 0:
        verdicts = [monitor.log({"policy/kl_old": 5.0}, step=i) for i in range(20)]
        said = [fault for fault in monitor.faults if "forked" in fault]
        os._exit(0 if all(v.proceed for v in verdicts) and len(said) == len(monitor.faults) == 1 else 7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert monitor.log({"policy/kl_old": 0.01}, step=1).proceed
    monitor.close()
    assert monitor.faults == []


def test_settings_whose_names_are_no_text_do_not_blind_the_monitor() -> None:
    monitor = Monitor(None, config={1: "one"}, time_share=float("inf"))  # type: ignore[dict-item]
    monitor.configure({2: "two", None: 3})  # type: ignore[dict-item]
    for i in range(12):
        monitor.log({"policy/kl_old": 0.01 if i < 8 else 5.0, "policy/clip_fraction": 0.1}, step=i)
    monitor.close()
    assert monitor.faults == []
    assert "kl-overshoot" in {alarm.finding.name for alarm in monitor.alarms}


FULL_AT_THE_END = """
import resource, signal, sys
from firstbreak.monitor import Monitor
from firstbreak.monitor.alerts import File
from firstbreak.monitor.checkpoints import Checkpoints
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = sys.argv[1]
store = Checkpoints(folder + "/checkpoints")
monitor = Monitor(folder, algorithm="PPO", clock="updates", checkpoints=store, alerts=[File(folder + "/alerts.jsonl")])
for i in range(40):
    monitor.log({"policy/kl_old": 0.01, "policy/entropy": 1.0}, step=i)
assert store.save({"a": 1}, step=39) is not None
resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))  # from here on nothing more fits anywhere
verdict = monitor.log({"policy/kl_old": 5.0, "policy/entropy": 1.0}, step=40)
assert verdict.proceed and store.save({"a": 2}, step=40) is None
monitor.close()
print([alarm.finding.name for alarm in monitor.alarms], store.last.step)
print(*monitor.faults, sep="\\n")
"""


def test_a_disk_that_is_full_at_the_close_costs_the_newest_rows_and_is_said(tmp_path: Path) -> None:
    done = run(FULL_AT_THE_END, tmp_path)
    assert done.returncode == 0, done.stderr
    told, *faults = done.stdout.splitlines()
    assert told == "['kl-overshoot'] 39"
    assert any("Nothing can be recorded" in fault for fault in faults)
    assert any("lines are not in" in fault for fault in faults)
    assert any("File: not delivered" in fault or "File: 1 notice not sent" in fault for fault in faults), faults
    kept = load(tmp_path).get("policy/kl_old")
    assert kept is not None
    assert kept.step.tolist() == list(range(40))

"""Running a command as if nothing were in between; every way to end is written down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firstbreak.cli import main
from firstbreak.context import store

FIRSTBREAK = (sys.executable, "-m", "firstbreak")


def recorded(folder: Path, *words: str, code: str = "", feed: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code] if code else list(words)
    whole = [*FIRSTBREAK, "record", "--run", str(folder / "run"), "--", *command]
    return subprocess.run(whole, cwd=folder, capture_output=True, input=feed, check=False)


def test_streams_and_status_are_those_of_the_command(tmp_path: Path) -> None:
    code = (
        "import sys; sys.stdout.buffer.write(b'a\\xff\\x1b[0m' + sys.stdin.buffer.read()); "
        "sys.stderr.write('e'); sys.exit(7)"
    )
    done = recorded(tmp_path, code=code, feed=b"in\0")
    assert (done.stdout, done.stderr, done.returncode) == (b"a\xff\x1b[0min\0", b"e", 7)
    ending = store.read(tmp_path / "run").ending
    assert (ending.status, ending.exit_status, ending.signal) == ("failed", 7, "")
    assert ending.peak_memory_bytes
    assert ending.duration_s is not None


def test_a_run_that_ends_well_is_finished_and_its_checkpoints_are_hashed(tmp_path: Path) -> None:
    code = "import pathlib; pathlib.Path('run/model_10.pt').write_text('w')"
    assert recorded(tmp_path, code=code).returncode == 0
    found = store.read(tmp_path / "run")
    assert found.ending.status == "finished"
    assert [Path(m.path).name for m in found.checkpoints] == ["model_10.pt"]
    assert found.checkpoints[0].sha256


def test_a_signal_is_named_and_gives_the_status_of_a_shell(tmp_path: Path) -> None:
    done = recorded(tmp_path, code="import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    ending = store.read(tmp_path / "run").ending
    assert (done.returncode, ending.status, ending.signal) == (137, "killed", "SIGKILL")


def test_a_command_that_does_not_exist_ends_as_in_a_shell(tmp_path: Path) -> None:
    done = recorded(tmp_path, "no-such-command-here")
    assert done.returncode == 127
    assert b"no-such-command-here" in done.stderr
    (tmp_path / "plain").write_text("")
    assert recorded(tmp_path, "./plain").returncode == 126


def started(folder: Path, code: str) -> subprocess.Popen[bytes]:
    whole = [*FIRSTBREAK, "record", "--run", str(folder / "run"), "--", sys.executable, "-u", "-c", code]
    process = subprocess.Popen(whole, cwd=folder, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_ctrl_c_is_the_commands_and_its_answer_is_passed_on(tmp_path: Path) -> None:
    code = (
        "import sys, time\ntry:\n print('ready')\n sys.stdin.read()\n time.sleep(60)\n"
        "except KeyboardInterrupt:\n print('saved'); sys.exit(5)"
    )
    process = started(tmp_path, code)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate()
    assert (out, process.returncode) == (b"saved\n", 5)
    assert store.read(tmp_path / "run").ending.exit_status == 5


def test_sigterm_sent_to_firstbreak_reaches_the_command(tmp_path: Path) -> None:
    process = started(tmp_path, "import time\nprint('ready')\ntime.sleep(60)")
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    assert store.read(tmp_path / "run").ending.signal == "SIGTERM"


def test_the_record_is_there_while_the_command_runs(tmp_path: Path) -> None:
    code = "import os; print(open(os.environ['FIRSTBREAK_CONTEXT']).read())"
    during = json.loads(recorded(tmp_path, code=code).stdout)
    assert during["ending"]["status"] == "running"


def test_when_firstbreak_is_killed_the_record_says_that_no_end_is_known(tmp_path: Path) -> None:
    process = started(tmp_path, "import sys\nprint('ready')\nsys.stdin.read()")
    process.kill()
    process.communicate()
    assert store.read(tmp_path / "run").ending.status == "running"


def test_a_place_that_cannot_be_written_stops_before_the_command_starts(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    done = recorded(tmp_path, code="print('started')")
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_record_that_vanished_does_not_change_the_status(tmp_path: Path) -> None:
    done = recorded(tmp_path, code="import shutil, sys; shutil.rmtree('run'); sys.exit(3)")
    assert done.returncode == 3
    assert b"could not be finished" in done.stderr


def test_the_folder_is_taken_from_the_command_or_asked_for(tmp_path: Path) -> None:
    words = [*FIRSTBREAK, "record", sys.executable, "-c", "pass", "--output-dir", "there"]
    assert subprocess.run(words, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert store.read(tmp_path / "there").ending.status == "finished"
    done = subprocess.run([*FIRSTBREAK, "record", "--", "true"], cwd=tmp_path, check=False, capture_output=True)
    assert done.returncode == 2
    assert b"--run" in done.stderr


SESSION = """
import sys
from firstbreak.context import record
def reward(x):
    return x
run = record({folder}, config={{"lr": 0.1, "net": {{"width": 8}}}}, seed=4, rewards=[reward], data=["data.txt"])
run.checkpoint("data.txt"); run.evaluation("python eval.py --api-key abcd")
{end}
"""


@pytest.mark.parametrize(
    ("end", "status", "error"),
    [
        ("", "finished", ""),
        ("raise KeyError('x')", "failed", "KeyError"),
        ("run.close(); raise KeyError('x')", "finished", ""),
        ("import os; os._exit(1)", "running", ""),
        ("with run:\n    raise KeyboardInterrupt", "killed", "KeyboardInterrupt"),
        ("with run:\n    sys.exit(0)", "finished", ""),
    ],
)
def test_a_record_made_in_code_ends_as_the_training_does(tmp_path: Path, end: str, status: str, error: str) -> None:
    (tmp_path / "data.txt").write_text("d")
    (tmp_path / "t.py").write_text(SESSION.format(folder="'run'", end=end))
    subprocess.run([sys.executable, "t.py"], cwd=tmp_path, capture_output=True, check=False)
    found = store.read(tmp_path / "run")
    assert (found.ending.status, found.ending.error) == (status, error)
    assert found.config == {"lr": 0.1, "net.width": 8}
    assert found.seeds["given"] == 4
    assert found.rewards[0].sha256
    assert found.data[0].sha256 == found.checkpoints[0].sha256
    assert found.evaluations == ("python eval.py --api-key '[removed]'",)


def test_under_the_command_the_training_adds_to_its_record(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("d")
    (tmp_path / "t.py").write_text(SESSION.format(folder="None", end="sys.exit(3)"))
    assert recorded(tmp_path, sys.executable, "t.py", "--lr", "0.2").returncode == 3
    found = store.read(tmp_path / "run")
    assert found.config == {"lr": 0.1, "net.width": 8}
    assert found.ending.exit_status == 3
    assert found.seeds == {"given": 4}
    assert found.notes == ()


def test_a_reward_file_that_is_not_there_is_refused_as_data_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in (str(tmp_path / "none.py:score"), str(tmp_path / "none.py")):
        assert main(["record", "--run", str(tmp_path / "run"), "--reward", target, "--", "true"]) == 2
        assert "no such file" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()

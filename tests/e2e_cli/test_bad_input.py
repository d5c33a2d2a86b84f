"""Input that a distrustful user would try: a message and a hint, never a traceback, whatever the format asked for."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firstbreak.api import diagnose_log, load_runs
from firstbreak.cli import main
from firstbreak.config import Settings

LOGS = Path(__file__).parents[1] / "data" / "logs"


def a_table(rows: int = 40) -> str:
    lines = [f"{i * 100},0.5,{0.01 + i / 1e4},{i % 9}" for i in range(rows)]
    return "\n".join(["global_step,losses/value_loss,losses/approx_kl,charts/episodic_return", *lines]) + "\n"


def make(kind: str, folder: Path) -> Path:
    """Make one piece of bad input below `folder` and return its path."""
    path = folder / kind
    if kind == "loop":
        path.symlink_to(folder / "pool")
        (folder / "pool").symlink_to(path)
    elif kind == "broken-link":
        path.symlink_to(folder / "nowhere")
    elif kind == "fifo.csv":
        os.mkfifo(path)
    elif kind == "folder-for-a-file":
        (path / "progress.csv").mkdir(parents=True)
    elif kind == "empty":
        path.mkdir()
    else:
        contents = {
            "rubbish.csv": bytes(range(256)) * 50,
            "zero.wandb": b"",
            "deep.json": b"[" * 100_000,
            "trainer_state.json": b'{"log_history":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
            "events.out.tfevents.1.x": bytes(range(256)) * 20,
            "other.db": b"SQLite format 3\0" + bytes(100),
        }
        path.write_bytes(contents[kind])
    return path


@pytest.mark.parametrize(
    "kind",
    [
        "loop",
        "broken-link",
        "fifo.csv",
        "folder-for-a-file",
        "empty",
        "rubbish.csv",
        "zero.wandb",
        "deep.json",
        "trainer_state.json",
        "events.out.tfevents.1.x",
        "other.db",
    ],
)
def test_a_failure_is_one_document_with_an_error(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make(kind, tmp_path)
    assert main(["diagnose", str(path), "--format", "json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["message"]
    assert error["hint"]


def test_a_link_that_leads_nowhere_does_not_suggest_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make("broken-link", tmp_path)
    main(["diagnose", str(path)])
    said = capsys.readouterr().err
    assert "leads nowhere" in said
    assert "Did you mean" not in said


def test_where_the_place_beside_cannot_be_written_the_output_is_the_error_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["diagnose", str(LOGS / "sb3_ppo_lr01"), "--format", "json", "--html", "/no/such/folder/x.html"]
    assert main(arguments) == 2
    assert set(json.loads(capsys.readouterr().out)) == {"error"}


def test_an_output_that_is_full_ends_with_a_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "firstbreak", "rules"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_that_is_closed_is_no_fault() -> None:
    command = f'"{sys.executable}" -m firstbreak diagnose "{LOGS / "sb3_ppo_lr01"}" >&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_interrupt_while_reading_ends_with_a_line(tmp_path: Path) -> None:
    pipe = tmp_path / "go"
    os.mkfifo(pipe)
    # The reader blocks on the FIFO, so that the signal always comes in the middle of the work. A job in the background
    # of a shell inherits SIGINT ignored, so the child asks for Python's own handler.
    script = (
        "import signal, sys; from firstbreak import cli, loading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "loading.discover = lambda path: open(sys.argv[1]).read() or open(sys.argv[1]).read()\n"
        "sys.exit(cli.main(['diagnose', '.']))"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(pipe)], stderr=subprocess.PIPE, text=True)
    with open(pipe, "w"):  # opens once the other side reads
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == "Interrupted.\n"


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_rows_out_of_order_are_put_in_order(order: str, tmp_path: Path) -> None:
    header, *rows = a_table().splitlines()
    mixed = rows[::-1] if order == "reversed" else random.Random(0).sample(rows, len(rows))
    for name, lines in (("straight", rows), (order, mixed)):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    straight, other = (load_runs(tmp_path / f"{name}.csv")[0] for name in ("straight", order))
    for series in straight.series:
        same = other.get(series.metric, series.scope)
        assert same is not None
        assert (same.step.tolist(), same.value.tolist()) == (series.step.tolist(), series.value.tolist())


def test_a_log_that_grows_between_reads_ends_in_half_a_row(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    text = a_table()
    path.write_text(text[: len(text) // 2])
    first = load_runs(path)[0]
    path.write_text(text)
    second = load_runs(path)[0]
    assert 0 < first.last_step < second.last_step == 3900
    assert not diagnose_log(first, Settings()).coverage.errors


def test_what_a_key_says_is_never_rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = {"\x1b[31mred\x1b]0;title\x07": 1, "<script>alert(1)</script>": 2, "[bold]x[/bold] [/]": 3}
    keys |= {"new\nline": 4, "a" * 10_000: 5, "\u202eevil": 6, "": 7}
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"step": i, "loss": i / 7, **keys}) + "\n" for i in range(40)))
    main(["diagnose", str(path), "--full", "--html", str(tmp_path / "page.html")])
    shown = capsys.readouterr().out
    assert not any(mark in shown for mark in ("\x1b", "\u202e", "\x07"))
    assert "[bold]x[/bold]" in shown
    assert "<script>alert(1)" not in (tmp_path / "page.html").read_text("utf-8")

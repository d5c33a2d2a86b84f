"""The line that says how far a long read has come."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from firstbreak.cli.progress import ReadProgress, RowProgress, SharedProgress


class Terminal:
    """A terminal that remembers what was written, and the clock beside it."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.now = 0.0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.written.append(text)

    def flush(self) -> None:
        pass


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal()
    monkeypatch.setattr("firstbreak.cli.progress.time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr("firstbreak.cli.progress.sys", SimpleNamespace(stderr=made))
    return made


def test_progress_speaks_only_on_a_terminal_and_after_a_second(terminal: Terminal) -> None:
    with ReadProgress() as progress:
        progress(1, 10)
        assert not terminal.written
        terminal.now = 2.0
        progress(5_000_000, 10_000_000)
    assert terminal.written[0] == "\rreading:  50 % of 10 MB"
    assert terminal.written[-1].strip("\r ") == ""
    terminal.written.clear()
    with ReadProgress(wanted=False) as silent:
        terminal.now = 9.0
        silent(5, 10)
    assert not terminal.written


def test_the_line_is_wiped_to_its_end_and_not_written_too_often(terminal: Terminal) -> None:
    with RowProgress() as progress:
        terminal.now = 2.0
        progress(255)
        progress(256_000_000)
        progress(512_000_000)
    said, wiped = terminal.written
    assert said == "\rreading: 256,000,000 samples"
    assert wiped.count(" ") >= len(said) - 1


def test_one_process_speaks_for_all(terminal: Terminal) -> None:
    with SharedProgress(3) as progress:
        progress(100)
        terminal.now = 2.0
        progress(100)
    assert terminal.written[0] == "\rcompared: about 600 training rows"

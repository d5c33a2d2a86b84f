"""The faces of a watch: lines, panel, roster, summary."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.live import Live

from firstbreak.api import diagnose
from firstbreak.diagnosis import Diagnosis
from firstbreak.finding import LOOP, Link
from firstbreak.monitor.watching.events import STOPPED, Event, Kind, State
from firstbreak.monitor.watching.sources import LocalSource
from firstbreak.monitor.watching.watcher import Watcher
from firstbreak.report.page import Face
from firstbreak.report.watch import lines, links, state_phrase
from firstbreak.report.watch_panel import MOST_RUNS, panel, roster, waiting
from firstbreak.report.watch_summary import summary
from firstbreak.report.watching import HEARTBEAT_S, JsonScreen, LineScreen, LiveScreen, drawn

LOGS = Path(__file__).parents[2] / "data" / "logs"
EVIL = "run\x1b[31m\x1b]0;title\x07 \u202e[bold]x[/bold]\nnext"
FACTS: dict[str, float | None] = {
    "rows": 120.0,
    "steps": 51_200.0,
    "planned_steps": 100_000.0,
    "steps_per_s": 1619.3,
    "silent_s": 3.0,
    "standing_s": 700.0,
    "stalled_after_s": 60.0,
}


@pytest.fixture(scope="module")
def broken() -> Diagnosis:
    return diagnose(LOGS / "loop_runs" / "ppo_lr_jump")


@pytest.fixture(scope="module")
def healthy() -> Diagnosis:
    return diagnose(LOGS / "loop_runs" / "ppo")


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_panel_keeps_to_its_columns_and_fits_a_terminal(
    state: State, width: int, broken: Diagnosis, healthy: Diagnosis
) -> None:
    for diagnosis in (broken, healthy):
        for sign in ("", "frozen", "standing"):
            shown = panel(Face(width), diagnosis, state, sign, FACTS, 1).splitlines()
            assert max(map(cell_len, shown)) <= width
            assert width < 80 or len(shown) <= 22


def test_the_panel_shows_every_link_whole_and_which_broke(broken: Diagnosis) -> None:
    shown = panel(Face(80), broken, State.RUNNING, "", FACTS, 0)
    for link in LOOP:
        assert link.value in shown
    assert re.search(r"policy_update +BROKE FIRST", shown)
    assert re.search(r"exploration +broken", shown)
    assert "51,200 of 100,000" in shown or "122,880 of 100,000" in shown
    assert "1,619 a second" in shown
    assert "written 0:00:03 ago" in shown
    assert "kl-overshoot" in shown
    marks = {link: (mark, style) for link, mark, style in links(broken)}
    looked, rules = broken.coverage.rules[Link.CRITIC]
    assert 0 < looked < rules <= 2 * looked
    assert marks["critic"] == (f"{looked} of {rules}", "green")


@pytest.mark.parametrize("width", [40, 60, 76, 80])
def test_a_narrow_terminal_cuts_no_name_of_a_link(width: int, broken: Diagnosis) -> None:
    shown = panel(Face(width), broken, State.RUNNING, "", FACTS, 0)
    assert [link.value for link in LOOP if f"{link.value} " not in shown] == []
    assert re.search(r"policy_update +BROKE FIRST", shown)


def test_a_watch_that_has_read_nothing_says_whether_it_reads_or_waits(tmp_path: Path) -> None:
    watcher = Watcher(LocalSource(tmp_path / "run"))
    assert "reading" in drawn(watcher, Face(80), 0)
    watcher.poll()
    assert "waiting for" in drawn(watcher, Face(80), 0)


def test_ctrl_c_within_the_first_look_leaves_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within reading it claimed that nothing was there to watch; within judging it said nothing at all."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    for place in ("firstbreak.monitor.watching.watcher.Track.take", "firstbreak.monitor.watching.sources.discover"):
        watcher = Watcher(LocalSource(LOGS / "loop_runs" / "ppo"))
        with monkeypatch.context() as patched:
            patched.setattr(place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                watcher.poll()
        assert summary(watcher.ending(), Face(80)).strip() == "Nothing had been read when the watch ended."


def test_a_script_is_told_the_status_although_nothing_was_read() -> None:
    said: list[str] = []
    JsonScreen(said.append).close([], 130)
    (document,) = map(json.loads, said)
    assert document["watch"] | {"event": "end", "exit_status": 130, "text": "nothing was read"} == document["watch"]
    assert document["verdict"] is None
    assert document["findings"] == []


def test_a_stopped_run_says_so_in_the_panel_and_the_summary(healthy: Diagnosis) -> None:
    for state in STOPPED:
        word = state.value.upper()
        assert word in panel(Face(80), healthy, state, "silent", FACTS, 0)
        event = Event(Kind.END, 1.7e9, "silent", "runs/a", state, healthy, facts=FACTS)
        assert word in summary([event], Face(80))
    assert state_phrase(State.ZOMBIE, "frozen", FACTS) != state_phrase(State.ZOMBIE, "standing", FACTS)


def test_many_runs_take_one_line_each(broken: Diagnosis, healthy: Diagnosis) -> None:
    many = [(broken if i == 9 else healthy, State.RUNNING, FACTS) for i in range(MOST_RUNS + 5)]
    shown = roster(Face(80), many, 0).splitlines()
    assert max(map(cell_len, shown)) <= 80
    assert len(shown) == MOST_RUNS + 3
    assert "broken at policy_update" in shown[2]  # worst first
    assert shown[-1] == "and 5 more"


@pytest.mark.parametrize("kind", list(Kind))
def test_nothing_a_log_says_reaches_the_terminal_raw(kind: Kind, broken: Diagnosis) -> None:
    finding = replace(broken.findings[0], message=EVIL)
    evil = replace(broken, log=replace(broken.log, path=EVIL, framework=EVIL), findings=(finding, *broken.findings[1:]))
    text = "new" if kind is Kind.FINDING else EVIL
    event = Event(kind, 1.7e9, text, EVIL, State.RUNNING, evil, (finding,), facts=FACTS)
    shown = lines(event, Face(80), named=True) + summary([event], Face(80))
    shown += panel(Face(80), evil, State.RUNNING, EVIL, FACTS, 0) + waiting(Face(80), EVIL, EVIL, 0)
    shown += roster(Face(80), [(evil, State.RUNNING, FACTS)] * 2, 0)
    assert not {c for c in shown if ord(c) < 32 or c == "\u202e"} - {"\n"}
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert shown.isascii() or "…" in shown


def test_looks_are_lines_only_when_the_verdict_changes_or_now_and_then(broken: Diagnosis, healthy: Diagnosis) -> None:
    said: list[str] = []
    screen = LineScreen(said.append, Face(80))

    def look(diagnosis: Diagnosis, at: float) -> int:
        screen.tell(Event(Kind.LOOK, 1.7e9 + at, "", "run", State.RUNNING, diagnosis))
        return len(said)

    assert [look(healthy, 0), look(healthy, 2), look(broken, 4), look(broken, 6)] == [1, 1, 2, 2]
    assert look(broken, 5 + HEARTBEAT_S) == 3


def test_the_live_panel_stays_below_the_lines_and_goes_at_the_end(tmp_path: Path, broken: Diagnosis) -> None:
    out = io.StringIO()
    screen = LiveScreen(Face(80))
    screen._console = Console(
        file=out, force_terminal=True, width=80, height=24, color_system=None, legacy_windows=False
    )
    screen._live = Live(console=screen._console, auto_refresh=False, transient=True, vertical_overflow="crop")
    watcher = Watcher(LocalSource(LOGS / "loop_runs" / "ppo_lr_jump"))
    with screen:
        screen.show(watcher)
        assert "reading" in out.getvalue()
        for event in watcher.poll():
            screen.tell(event)
        screen.show(watcher)
        assert "BROKE FIRST" in out.getvalue()
        screen.close(watcher.ending(), 130)
    rest = out.getvalue().rpartition("\x1b[2K")[2]  # what stands below the place where the panel was wiped
    assert "firstbreak diagnose" in rest
    assert "BROKE FIRST" not in rest


def test_what_is_drawn_depends_on_how_many_are_watched(tmp_path: Path) -> None:
    for name in ("ppo", "ppo_nan"):
        (tmp_path / name).symlink_to(LOGS / "loop_runs" / name)
    watcher = Watcher(LocalSource(tmp_path, every=True))
    assert "reading" in drawn(watcher, Face(80), 0)
    watcher.poll()
    assert "2 runs" in drawn(watcher, Face(80), 0)


def test_colours_are_there_only_where_they_are_wanted(broken: Diagnosis) -> None:
    def coloured(**face: Any) -> bool:
        return "\x1b[" in panel(Face(**face), broken, State.RUNNING, "", FACTS, 0)

    assert coloured(colour=True)
    assert not coloured()
    assert panel(Face(ascii_only=True), broken, State.RUNNING, "", FACTS, 0).isascii()

"""The life signs, moment by moment."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.monitor.watching.events import State
from firstbreak.monitor.watching.pulse import Pulse
from firstbreak.runlog import ClockMap, Provenance, RunLog
from firstbreak.series import Curve, Series

EPOCH = 1.7e9


def log(rows: int = 10, *, every_s: float = 1.0, wall: bool = True, **changes: object) -> RunLog:
    steps = np.arange(1.0, rows + 1)
    curve = Curve(steps, np.sin(steps), EPOCH + every_s * steps if wall else None)
    settings = {"series": (Series("policy/loss", curve),), "clock": "updates", **changes}
    return RunLog("run", **settings)  # type: ignore[arg-type]


def test_the_first_look_believes_the_file_and_later_ones_its_changes() -> None:
    pulse = Pulse()
    pulse.heard(EPOCH, 50.0, EPOCH + 30.0)
    assert pulse.silent_s(50.0) == 30.0
    pulse.heard(EPOCH, 60.0, EPOCH - 1e6)  # the clock of the wall went back
    assert pulse.silent_s(60.0) == 40.0
    pulse.heard(EPOCH + 1, 70.0, EPOCH)
    assert pulse.silent_s(71.0) == 1.0


def test_a_file_from_the_future_is_not_silent() -> None:
    pulse = Pulse()
    pulse.heard(EPOCH + 1e6, 50.0, EPOCH)
    assert pulse.silent_s(50.0) == 0.0


def test_a_buffer_that_is_flushed_seldom_is_no_stall() -> None:
    """TensorBoard: a row a second, a write every two minutes."""
    pulse = Pulse()
    at = 0.0
    for i in range(6):
        at = 120.0 * i
        pulse.heard(EPOCH + at, at, EPOCH + at)
        pulse.took(log(10 + 120 * i), at)
        assert pulse.state(log(10 + 120 * i), at + 119.0)[0] is State.RUNNING
    assert pulse.patience_s(log(500)) == 1200.0
    assert pulse.state(log(610), at + 1201.0)[0] is State.STALLED


def test_the_writer_that_cannot_be_found_is_gone_only_in_silence() -> None:
    where = Provenance(read=(f"events.out.tfevents.1.{__import__('socket').gethostname()}.4242.0",))
    pulse = Pulse(alive=lambda pid: False)
    seen = log(provenance=where)
    pulse.heard(EPOCH, 0.0, EPOCH)
    pulse.took(seen, 0.0)
    assert pulse.state(seen, 1.0)[0] is State.RUNNING
    assert pulse.state(seen, 6.0) == (State.ENDED, "process")
    assert pulse.state(log(provenance=where, config={"total_steps": 1e6}), 6.0)[0] is State.GONE
    pulse.heard(EPOCH + 7, 7.0, EPOCH + 7)  # it writes after all: it runs where we cannot see it
    assert pulse.state(seen, 20.0)[0] is State.RUNNING


@pytest.mark.parametrize(
    ("state", "total", "silent", "want"),
    [
        ("crashed", None, 0.0, State.CRASHED),
        ("finished", None, 0.0, State.FINISHED),
        ("finished", 10, 0.0, State.FINISHED),
        ("finished", 10.1, 0.0, State.RUNNING),  # the last two per cent are still to come
        ("finished", 10.1, 601.0, State.FINISHED),
        ("", 1000, 601.0, State.STALLED),
        ("", None, 601.0, State.QUIET),
    ],
)
def test_what_the_log_says_of_its_end(state: str, total: float | None, silent: float, want: State) -> None:
    pulse = Pulse()
    seen = log(state=state, config={} if total is None else {"total_steps": total})
    pulse.heard(EPOCH, silent, EPOCH + silent)
    pulse.took(seen, silent)
    assert pulse.state(seen, silent)[0] is want


def test_the_rate_is_that_of_the_log_or_of_what_was_seen() -> None:
    ties = ClockMap("updates", np.arange(1.0, 11.0), {"seconds": 2.0 * np.arange(10.0)})
    assert Pulse().rate(log(every_s=2.0, clocks=ties)) == pytest.approx(0.5)
    assert Pulse().rate(log(wall=False, clocks=ties)) == pytest.approx(0.5)
    pulse = Pulse()
    assert pulse.rate(log(wall=False)) is None
    for at, rows in ((0.0, 10), (4.0, 12), (8.0, 14)):
        pulse.took(log(rows, wall=False), at)
    assert pulse.rate(log(14, wall=False)) == pytest.approx(0.5)


def test_a_log_that_was_not_read_again_does_not_stand() -> None:
    """Reading a large log is put off for minutes; only a reading tells whether the steps went on."""
    pulse = Pulse(stalled_after_s=60.0)
    pulse.heard(EPOCH, 0.0, EPOCH)
    pulse.took(log(10), 0.0)
    pulse.took(log(20), 5.0)
    pulse.heard(EPOCH + 100.0, 100.0, EPOCH + 100.0)
    assert pulse.state(log(20), 100.0)[0] is State.RUNNING
    pulse.took(log(20), 101.0)
    assert pulse.state(log(20), 101.0) == (State.ZOMBIE, "standing")


def test_a_log_that_nobody_wrote_to_since_it_advanced_is_no_zombie_however_long_reading_took() -> None:
    pulse = Pulse(stalled_after_s=5.0)
    pulse.heard(EPOCH, 10.0, EPOCH + 10.0)
    pulse.took(log(20), 10.0)
    pulse.heard(EPOCH, 4.0, EPOCH + 4.0)  # the same look, dated at its begin
    assert pulse.state(log(20), 4.0)[0] is State.RUNNING
    assert pulse.state(log(20), 12.0)[0] is State.QUIET

"""What every adapter does with a monitor: ask it without ever failing, keep checkpoints, go back when it says so."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ...vocabulary import metrics
from ..checkpoints.errors import CheckpointError
from ..checkpoints.parts import restore
from ..verdict import Action, Verdict

if TYPE_CHECKING:
    from ..core import Monitor

Parts = Mapping[str, Any]
"""Name -> what a checkpoint holds: anything with `state_dict()`, or a tensor."""


def ask(monitor: Monitor, row: Mapping[str, Any], step: float, clock: str = "env_steps") -> Verdict:
    """Log one row; whatever goes wrong in the monitor, the answer is to go on."""
    with harmless(monitor, "log"):
        return monitor.log(row, step=step, clock=clock)
    return Verdict()


def known(row: Mapping[str, float]) -> dict[str, float]:
    """Return what of `row` has a canonical name: other names would be guessed at."""
    return {name: value for name, value in row.items() if name in metrics()}


@contextmanager
def harmless(monitor: Monitor, what: str) -> Generator[None]:
    """Keep every fault of the monitor and its adapter away from training; the monitor is told."""
    try:
        yield
    except Exception as error:
        complain(monitor, f"{what}: {type(error).__name__}: {error}")


def complain(monitor: Monitor, text: str) -> None:
    """Put a fault on the monitor's list."""
    with suppress(Exception):  # a monitor that cannot take a fault leaves no one to tell
        monitor.fault(text)


def keep(monitor: Monitor, parts: Parts, step: float, score: float | None = None) -> None:
    """Save `parts` as a checkpoint, where the monitor has a store of them."""
    if monitor.checkpoints is not None:
        with harmless(monitor, "save a checkpoint"):
            monitor.checkpoints.save(parts, step=step, score=score)


def put_back(monitor: Monitor, parts: Parts) -> Action:
    """Put the last healthy checkpoint back into `parts`, and say what became of it.

    Returns:
        ROLL_BACK where that is done. STOP_TRAINING where no healthy checkpoint is left or going back did not help, with
        the reason on record: the run is broken and cannot be mended so. CONTINUE without a store, or after a fault.
    """
    if monitor.checkpoints is None:
        complain(monitor, "a roll-back was wanted; give Monitor(checkpoints=Checkpoints(folder))")
        return Action.CONTINUE
    with harmless(monitor, "roll back"):
        try:
            state, step = monitor.checkpoints.roll_back()
        except CheckpointError as error:
            give_up(monitor, error.message)
            return Action.STOP_TRAINING
        restore(state, **parts)
        monitor.rolled_back(step)
        return Action.ROLL_BACK
    return Action.CONTINUE


def give_up(monitor: Monitor, reason: str) -> None:
    """Put on record that training ends, and why: a roll-back was asked for and cannot be had."""
    complain(monitor, f"training ends, as it cannot be rolled back: {reason}")
    monitor.event("stop_training", reason)

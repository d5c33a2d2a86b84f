"""What every adapter does with a monitor: ask it without ever failing, keep checkpoints, go back when it says so."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ...vocabulary import metrics
from ..checkpoints.parts import restore
from ..verdict import Verdict

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


def put_back(monitor: Monitor, parts: Parts) -> bool:
    """Put the last healthy checkpoint back into `parts`; False, and a fault on record, where there is none."""
    if monitor.checkpoints is None:
        complain(monitor, "a roll-back was wanted; give Monitor(checkpoints=Checkpoints(folder))")
        return False
    with harmless(monitor, "roll back"):
        state, step = monitor.checkpoints.roll_back()
        restore(state, **parts)
        monitor.rolled_back(step)
        return True
    return False

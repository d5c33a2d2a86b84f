"""What every adapter does with a monitor: ask it without ever failing, keep checkpoints, go back when it says so."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from ....vocabulary import metrics
from ...checkpoints.errors import CheckpointError
from ...checkpoints.parts import restore
from ...faults import ENDS
from ...verdict import Action, Verdict

if TYPE_CHECKING:
    from ...core import Monitor

MOST_BATCH_BYTES = 1 << 28
"""Of a batch that is kept with a failed state: 256 MiB. Engineering choice: a disk holds a few of them."""
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


class harmless:  # noqa: N801 (read as what it does: `with harmless(...)`)
    """Keep every fault of the monitor and its adapter away from training; the monitor is told.

    A class, as it stands around every step: a generator's takes three times as long.
    """

    __slots__ = ("_monitor", "_what")

    def __init__(self, monitor: Monitor, what: str) -> None:
        self._monitor, self._what = monitor, what

    def __enter__(self) -> None:
        """Nothing to begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        """Tell of an error and swallow it; what is none, an interruption, goes on."""
        if not isinstance(error, Exception):
            return False
        complain(self._monitor, f"{self._what}: {type(error).__name__}: {error}")
        return True


def complain(monitor: Monitor, text: str) -> None:
    """Put a fault on the monitor's list."""
    with suppress(Exception):  # a monitor that cannot take a fault leaves no one to tell
        monitor.fault(text)


def keep(monitor: Monitor, parts: Parts, step: float, score: float | None = None) -> None:
    """Save `parts` as a checkpoint, where the monitor has a store of them."""
    if monitor.checkpoints is not None:
        with harmless(monitor, "save a checkpoint"):
            monitor.checkpoints.save(parts, step=step, score=score)


def keep_failed(monitor: Monitor, parts: Parts, batch: Any = None) -> None:
    """Keep the broken state with its batch and the reason, where the monitor has a store, before it is given up.

    A batch of more than `MOST_BATCH_BYTES`, or one that cannot be kept, is left out rather than the state.
    """
    fail: Any = getattr(monitor.checkpoints, "fail", None)
    if fail is None:
        return
    with harmless(monitor, "keep the failed state"):
        at = monitor.step if isfinite(monitor.step) else 0.0
        said = [f"{a.finding.name}: {a.finding.message}" for a in monitor.alarms if a.at == at]
        reason = "; ".join(said) or "the verdict of the monitor"
        if (
            batch is None
            or _bytes(batch) > MOST_BATCH_BYTES
            or fail(parts, step=at, reason=reason, batch=batch) is None
        ):
            fail(parts, step=at, reason=reason)


def put_back(monitor: Monitor, parts: Parts, batch: Any = None) -> Action:
    """Put the last healthy checkpoint back into `parts`, and say what became of it; what they were is kept as failed.

    Args:
        monitor: Whose store it is.
        parts: As they were saved.
        batch: What the update that broke was made of, where it is at hand.

    Returns:
        ROLL_BACK where that is done. STOP_TRAINING where no healthy checkpoint is left or going back did not help, with
        the reason on record: the run is broken and cannot be mended so. CONTINUE without a store, or after a fault.
    """
    if monitor.checkpoints is None:
        complain(monitor, "a roll-back was wanted; give Monitor(checkpoints=Checkpoints(folder))")
        return Action.CONTINUE
    keep_failed(monitor, parts, batch)
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
    complain(monitor, f"{ENDS}, as it cannot be rolled back: {reason}")
    monitor.event("stop_training", reason)


def _bytes(batch: Any) -> int:
    """Return how many bytes the arrays and tensors in `batch` take."""
    if isinstance(batch, Mapping):
        return sum(map(_bytes, cast(Mapping[Any, Any], batch).values()))
    if isinstance(batch, (list, tuple)):
        return sum(map(_bytes, cast("list[Any]", batch)))
    return int(getattr(batch, "nbytes", 0))

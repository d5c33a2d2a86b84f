"""Arguments of adapters that cannot be meant. Whatever goes wrong later is kept from training, and so from sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....errors import InputError

if TYPE_CHECKING:
    from ...core import Monitor

OF_A_MONITOR = ("log", "event", "fault")
"""What every adapter asks of a monitor."""


def insist(monitor: Any, checkpoint_rows: Any = 1) -> Monitor:
    """Return `monitor`.

    Raises:
        InputError: it is none (a path, or arguments in the wrong order), or `checkpoint_rows` is no number of rows.
    """
    if not all(callable(getattr(monitor, name, None)) for name in OF_A_MONITOR):
        raise InputError(
            f"An object of type {type(monitor).__name__} was given as monitor.",
            'Make one and give that: Monitor("runs/x").',
        )
    if isinstance(checkpoint_rows, bool) or not isinstance(checkpoint_rows, int) or checkpoint_rows < 1:
        raise InputError(f"checkpoint_rows = {checkpoint_rows!r} is no number of rows.", "For example: 10")
    return monitor


def insist_on(thing: Any, name: str, meant: str) -> None:
    """Take what is to be watched.

    Raises:
        InputError: it has no `name`, so that it is not what is `meant`.
    """
    if not callable(getattr(thing, name, None)):
        raise InputError(f"An object of type {type(thing).__name__} has no `{name}`.", f"Give {meant}.")

"""Arguments of `Monitor` that cannot be meant: said when it is made, since at a row they would blind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..runlog import CLOCKS

STORE = ("broke", "mended")
"""What the monitor itself tells a store of checkpoints."""


def refuse_mistakes(
    *, clock: Any, warm_up: Any, rank: Any, time_share: Any, checkpoints: Any, config: Any, names: Any
) -> None:
    """Take the arguments as they were given.

    Raises:
        InputError: one of them is none that a monitor can work with.
    """
    if clock not in ("", *CLOCKS):
        raise InputError(f"clock = {clock!r} is none.", f"It is one of {', '.join(CLOCKS)}.")
    if not _whole(warm_up):
        raise InputError(f"warm_up = {warm_up!r} is no number of rows.", "For example: warm_up=20")
    if rank is not None and not _whole(rank):
        raise InputError(f"rank = {rank!r} is none.", "Ranks count from 0; None where there is one process.")
    if isinstance(time_share, bool) or not isinstance(time_share, (int, float)) or not time_share >= 0:
        raise InputError(f"time_share = {time_share!r} is no share.", "0.004 by default; inf looks at every row.")
    if checkpoints is not None and not all(callable(getattr(checkpoints, name, None)) for name in STORE):
        raise InputError(
            f"checkpoints is a {type(checkpoints).__name__}, which keeps none.",
            'Give a store: checkpoints=Checkpoints("runs/x/checkpoints") of firstbreak.monitor.checkpoints.',
        )
    for name, given in (("config", config), ("names", names)):
        if given is not None and not isinstance(given, Mapping):
            hint = "vars(args) of an argparse namespace, dataclasses.asdict(...) of a dataclass."
            raise InputError(f"{name} is a {type(given).__name__}, not key -> value.", hint)


def misread(clock: str, own: str) -> str:
    """Return what to say of the `clock` of a row; `""` where it is the run's `own`, or either is not told."""
    if clock in ("", own) or (clock in CLOCKS and not own):
        return ""
    if clock not in CLOCKS:
        return f"clock = {clock!r} is none of {', '.join(CLOCKS)}; such rows are taken on the run's own"
    return f"rows that count {clock} are recorded, not judged: the clock of this run is {own}"


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0

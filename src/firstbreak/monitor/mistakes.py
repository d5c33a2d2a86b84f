"""Arguments of `Monitor` that cannot be meant: said when it is made, since at a row they would blind it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..config import Settings
from ..errors import InputError
from ..runlog import CLOCKS

STORE = ("broke", "mended")
"""What the monitor itself tells a store of checkpoints."""


def refuse_mistakes(
    *,
    path: Any,
    algorithm: Any,
    framework: Any,
    config: Any,
    names: Any,
    clock: Any,
    alerts: Any,
    checkpoints: Any,
    settings: Any,
    warm_up: Any,
    rank: Any,
    time_share: Any,
) -> None:
    """Take the arguments as they were given.

    Raises:
        InputError: one of them is none that a monitor can work with.
    """
    _refuse_kinds(path, {"algorithm": algorithm, "framework": framework}, alerts, settings)
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
    for name, given, hint in (("config", config, CONFIG), ("names", names, 'names={"my/kl": "policy/kl_old"}')):
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"{name} is a {type(given).__name__}, not key -> value.", hint)


CONFIG = "vars(args) of an argparse namespace, dataclasses.asdict(...) of a dataclass."


def _refuse_kinds(path: Any, texts: Mapping[str, Any], alerts: Any, settings: Any) -> None:
    if path is not None and not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"path is of type {type(path).__name__}.", 'Give a folder: Monitor("runs/x"); None keeps no record.'
        )
    for name, given in texts.items():
        if not isinstance(given, str):
            raise InputError(
                f"{name} is of type {type(given).__name__}, not a name.", "Left out, it is told from the keys."
            )
    if callable(getattr(alerts, "send", alerts)):
        raise InputError(f"alerts is of type {type(alerts).__name__}, not a list of alerts.", "Write alerts=[...].")
    if settings is not None and not isinstance(settings, Settings):
        hint = "read_settings(path) of firstbreak.config reads a firstbreak.toml; one beside `path` is found anyway."
        raise InputError(f"settings is of type {type(settings).__name__}, not Settings.", hint)


def misread(clock: str, own: str) -> str:
    """Return what to say of the `clock` of a row; `""` where it is the run's `own`, or either is not told."""
    if clock in ("", own) or (clock in CLOCKS and not own):
        return ""
    if clock not in CLOCKS:
        return f"clock = {clock!r} is none of {', '.join(CLOCKS)}; such rows are taken on the run's own"
    return f"rows that count {clock} are recorded, not judged: the clock of this run is {own}"


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0

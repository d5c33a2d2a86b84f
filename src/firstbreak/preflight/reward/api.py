"""`inspect_reward`: does the reward say something, and does it say the right thing?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ...check import look_at_all, pack
from ...errors import InputError
from ...inspection import Inspection, inspection
from ...isolation import Limits
from ...isolation.child import Wire
from ..child import Tell, played
from .details import details_of
from .judges import directions
from .play import MOST_STEPS, record
from .sample import RewardSample
from .shaped import Shaping
from .table import read_table

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")


def inspect_reward(
    target: Any,
    *,
    components: Sequence[str] = (),
    metric: Any = None,
    metric_direction: str | Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    gamma: float = 0.99,
    steps: int = MOST_STEPS,
    shaping: Any = None,
    potential: Any = None,
    endless: bool = False,
    isolate: bool = True,
    limits: Limits | None = None,
    tell: Tell | None = None,
) -> Inspection:
    """Put every reward check to `target`.

    Args:
        target: a `RewardSample`, the path of a table (CSV, TSV, JSON, JSON lines), or an environment: a Gymnasium id,
            `module:factory`, or a factory, which is then played at random.
        components: columns of the table or keys of `info` that are parts of the reward.
        metric: for an environment: a key of `info`, or `module:fn` from observation to number.
        metric_direction: `higher` or `lower` is better, for all metrics and references or by name; else it is taken
            from their names (`distance`, `error`, `cost`: lower), and what is assumed stands in the notes.
        columns: for a table: role -> column, where the names are not understood by themselves.
        gamma: the agent's discount.
        shaping: for an environment: `module:fn` (or a function) of a shaping term F(s, a, s', terminated, truncated, t)
            or of the first 3 to 5 of these, which is checked to be potential-based.
        potential: `module:fn` (or a function) of its potential, PHI(s) or PHI(s, t); without it, one is sought.
        endless: the task has no true ends, so that the term need not be right there.
        isolate: play an environment in a child process; a factory given as an object is always played here.
        tell: hears of each check as it ends.

    Raises:
        InputError: the target or the table cannot be used.
    """
    if isinstance(target, RewardSample):
        return _here("rewards", target, tell)
    better = directions(metric_direction)
    term = _shaping(shaping, potential, endless)
    path = _table_path(target)
    if path is not None and term is not None:
        raise InputError("A shaping term is checked in an environment, not on a table.", "Name the environment.")
    if path is not None:
        named = {**(columns or {}), **({"metric": metric} if isinstance(metric, str) else {})}
        table = read_table(path, components=components, columns=named, gamma=gamma, better=better)
        return _here(str(path), table, tell)
    if not isolate or any(map(callable, (target, metric, shaping, potential))):
        sample = record(
            target, components=components, metric=metric, better=better, gamma=gamma, steps=steps, shaping=term
        )
        return _here(target if isinstance(target, str) else getattr(target, "__name__", "environment"), sample, tell)
    if not isinstance(target, str):
        raise InputError(f"A {type(target).__name__} is no reward.", "Give a RewardSample, a table or an environment.")
    asked = {"components": list(components), "metric": metric, "better": better, "gamma": gamma, "steps": steps}
    payload = {"target": target, "asked": asked, "shaping": None if term is None else asdict(term)}
    return played("reward", target, f"{__name__}:look", payload, limits, tell)


def _shaping(term: Any, potential: Any, endless: bool) -> Shaping | None:
    if term is None and (potential is not None or endless):
        raise InputError("A potential, or that the task is endless, is said of no shaping term.", "Name the term, too.")
    return None if term is None else Shaping(term, potential, endless)


def _table_path(target: Any) -> Path | None:
    if isinstance(target, Path):
        return target
    if not isinstance(target, str) or target.endswith(".py"):
        return None
    if target.lower().endswith(TABLES) or Path(target).is_file():
        return Path(target)
    return None


def _here(name: str, sample: RewardSample, tell: Tell | None) -> Inspection:
    with np.errstate(all="ignore"):  # absurd sizes overflow; the checks judge what comes out
        looks = look_at_all("reward", sample, tell)
        details = details_of(sample, looks)
        return inspection("reward", name, looks, details=details, notes=details["notes"])


def look(payload: dict[str, Any], wire: Wire) -> None:
    """The child's part: play, look, tell."""
    sample = record(payload["target"], **payload["asked"], shaping=_sent(payload["shaping"]), wire=wire)
    wire.journal.begin("look")
    with np.errstate(all="ignore"):
        looks = look_at_all("reward", sample, lambda one: wire.tell("look", look=pack(one)))
        wire.tell("details", details=details_of(sample, looks))


def _sent(shaping: dict[str, Any] | None) -> Shaping | None:
    return None if shaping is None else Shaping(**shaping)

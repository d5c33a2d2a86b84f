"""The regression gate: a score that falls by more than its interval fails."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firstbreak.errors import InputError

from .document import plain
from .intervals import Estimate
from .summing import OURS

BASELINE = Path(__file__).resolve().parent / "baseline.json"


def save_baseline(path: Path, found: Mapping[str, Estimate], half: str) -> None:
    """Keep scores as what later ones are held against; those of other halves stay."""
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    kept[half] = {name: plain(one) for name, one in found.items() if one.n}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


def fallen(path: Path, found: Mapping[str, Estimate], half: str) -> list[str]:
    """Return a line for each score that lies beyond the interval it had in the baseline, on the worse side.

    A score that can no longer be measured has fallen, too; a new one has not.

    Raises:
        InputError: there is no baseline of this half.
    """
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if half not in kept:
        raise InputError(f"{path}: no baseline of the half {half!r}.", "Make one with --update-baseline.")
    lines: list[str] = []
    for name, before in kept[half].items():
        now = found.get(name)
        if now is None or now.n == 0 or math.isnan(now.value):
            lines.append(f"{name}: was {before['value']:.3f}, is no longer measured")
        elif is_worse(name, now.value, before):
            end = before["lo"] if OURS[name].higher else before["hi"]
            lines.append(f"{name}: was {before['value']:.3f} (limit {end:.3f}), is {now.value:.3f}")
    return lines


def is_worse(name: str, value: float, before: Mapping[str, Any]) -> bool:
    """Whether `value` lies beyond the interval of the score `before`, on the worse side."""
    if OURS[name].higher:
        return value < before["lo"]
    return value > before["hi"]

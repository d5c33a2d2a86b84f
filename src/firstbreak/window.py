"""Cuts a run to a stretch: everything up to a step, or the last part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .errors import InputError
from .runlog import RunLog
from .series import Curve


def cut(log: RunLog, lo: float = float("-inf"), hi: float = float("inf")) -> RunLog:
    """Return `log` with only the points whose step lies in [lo, hi]; series left without points are dropped."""
    kept = [replace(s, curve=_cut(s.curve, lo, hi)) for s in log.series]
    unmapped: Mapping[str, Curve] = {key: _cut(curve, lo, hi) for key, curve in log.unmapped.items()}
    return replace(log, series=tuple(s for s in kept if len(s)), unmapped=unmapped)


def last_part(log: RunLog, text: str) -> RunLog:
    """Return the last part of `log`, given as `20%` or as a length on its clock (`5000`).

    Raises:
        InputError: the text is neither.
    """
    end = log.last_step
    start = min((float(s.step[0]) for s in log.series if len(s)), default=0.0)
    try:
        length = float(text[:-1]) / 100 * (end - start) if text.endswith("%") else float(text)
    except ValueError:
        length = float("nan")
    if not length > 0:
        raise InputError(f"--last {text!r} is not a length.", "Give a share (20%) or a number of steps (5000).")
    return cut(log, lo=end - length)


def _cut(curve: Curve, lo: float, hi: float) -> Curve:
    keep = (curve.step >= lo) & (curve.step <= hi)
    if bool(np.all(keep)):
        return curve
    return Curve(curve.step[keep], curve.value[keep], None if curve.wall is None else curve.wall[keep])

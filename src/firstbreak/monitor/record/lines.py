"""From what a monitor sees to the body of one line.

NaN and infinities become texts: strict JSON has no such numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, cast

from ...finding import Finding
from ..verdict import Alarm

DEEPEST = 20
MAX_TEXT = 20_000
"""Characters kept of one text: settings and events are short, and a record is no place for samples."""


def number(value: float) -> str:
    """Return `value` as JSON, exactly: 17 digits give every float64 back."""
    return f"{value:.17g}" if math.isfinite(value) else f'"{value}"'


def plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as strict JSON can hold it; what is no number, text, list or mapping becomes its text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and abs(value) < 1 << 63:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping) and depth < DEEPEST:
        return {str(k): plain(v, depth + 1) for k, v in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, (list, tuple)) and depth < DEEPEST:
        return [plain(item, depth + 1) for item in cast(list[Any], value)]
    found = _float(value)
    return _said(value)[:MAX_TEXT] if found is None else plain(found)


def _said(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:  # whatever an object of the user's does when asked for its text
        return f"({type(error).__name__} in {type(value).__name__})"


def body(seq: int, kind: str, fields: Mapping[str, Any]) -> bytes:
    """Return the body of a line of any `kind` but metrics."""
    text = json.dumps({"seq": seq, "kind": kind, **plain(fields)}, separators=(",", ":"), allow_nan=False)
    return text[:-1].encode("ascii")


class RowWriter:
    """Writes rows of metrics; the keys of the row before are kept as a template, since rows are much alike."""

    def __init__(self) -> None:
        self.dropped = 0
        """Values left out so far because they were no numbers."""
        self._keys: tuple[str, ...] = ()
        self._template = ""

    def body(self, seq: int, row: Mapping[str, float], step: float, wall: float, clock: str) -> bytes:
        """Return the body of one line of metrics."""
        keys = tuple(row)
        if keys != self._keys:
            self._learn(keys)
        values = tuple(row.values())
        try:
            total = sum(values)  # finite only if every number is
            cells = self._template % values if math.isfinite(total) else self._slow(row)
        except Exception:
            cells = self._slow(row)
        where = f',"clock":{quoted(clock)}' if clock else ""
        head = f'{{"seq":{seq},"kind":"metrics","step":{number(step)},"wall":{number(wall)}{where},"metrics":{{'
        return f"{head}{cells}}}".encode("ascii")

    def _learn(self, keys: tuple[Any, ...]) -> None:
        self._keys = keys
        self._template = ",".join(f"{quoted(str(key)).replace('%', '%%')}:%.17g" for key in keys)

    def _slow(self, row: Mapping[Any, Any]) -> str:
        cells: list[str] = []
        for key, value in row.items():
            found = _float(value)
            if found is None:
                self.dropped += 1
            else:
                cells.append(f"{quoted(str(key))}:{number(found)}")
        return ",".join(cells)


def _float(value: Any) -> float | None:
    """Return `value` as a float, None where it is none."""
    if value is None or isinstance(value, (str, bytes, bytearray)) or getattr(value, "ndim", 0):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:  # whatever an object of the user's does when asked for its number
        return None


def of_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding as a line holds it."""
    return {
        "id": finding.id,
        "rule": finding.rule,
        "name": finding.name,
        "link": finding.link.value,
        "component": finding.component.value,
        "severity": finding.severity.value,
        "scope": finding.scope.as_dict(),
        "onset": {"lo": finding.onset.lo, "hi": finding.onset.hi, "clock": finding.onset.clock, "p": finding.onset.p},
        "message": finding.message,
        "metric": finding.metric,
        "evidence": dict(finding.evidence),
        "confidence": finding.confidence.value,
        "resolved_at": finding.resolved_at,
    }


def of_alarm(alarm: Alarm) -> dict[str, Any]:
    """Return an alarm as a line holds it."""
    return {
        "at": alarm.at,
        "row": alarm.row,
        "wall": alarm.wall,
        "action": alarm.action.value,
        "cause": alarm.cause,
        "alerted": alarm.alerted,
        "finding": of_finding(alarm.finding),
    }

"""The text format of Prometheus (exposition 0.0.4) and OpenMetrics 1.0.

Source: prometheus.io/docs/instrumenting/exposition_formats; OpenMetrics 1.0, section "Text format".
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping

from .plain import brief, clip
from .readings import AlarmKey

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_LONGEST = 200
_OURS = frozenset({"alarms", "alarms_total", "alarms_created"})
_OTHER = re.compile(r"[^a-zA-Z0-9_]")


def metric_name(key: str) -> str:
    """Return a name that the format allows for a key: `train/approx_kl` becomes `firstbreak_train_approx_kl`."""
    name = _OTHER.sub("_", clip(key, _LONGEST))
    return f"firstbreak_metric_{name}" if name in _OURS else f"firstbreak_{name}"


def label_value(text: str) -> str:
    """Return `text` quoted for a label; characters that cannot be seen are shown as escapes."""
    shown = brief(text[:_LONGEST].replace("\\", "\\\\"), _LONGEST)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


def number(value: float) -> str:
    """Return a value as the format writes it."""
    if math.isnan(value):
        return "NaN"
    return repr(float(value)) if math.isfinite(value) else "+Inf" if value > 0 else "-Inf"


def expose(latest: Mapping[str, float], alarms: Mapping[AlarmKey, int], *, openmetrics: bool = False) -> str:
    """Return gauges of the newest values and a counter of alarms as one page of text.

    Keys that differ only in characters the format does not allow share a name and differ in the label `key`.

    Args:
        latest: Key -> newest value.
        alarms: (code, name, link, severity) -> number of alarms.
        openmetrics: Whether to write OpenMetrics instead of the older format.
    """
    families: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for key, value in latest.items():
        families[metric_name(key)][label_value(key)] = value
    lines: list[str] = []
    for name, values in families.items():
        lines += [f"# HELP {name} Newest value of this metric.", f"# TYPE {name} gauge"]
        lines += [f"{name}{{key={label}}} {number(value)}" for label, value in values.items()]
    counter = "firstbreak_alarms" if openmetrics else "firstbreak_alarms_total"
    lines += [f"# HELP {counter} Alarms raised so far.", f"# TYPE {counter} counter"]
    for (code, rule, link, severity), count in alarms.items():
        pairs = {"code": code, "rule": rule, "link": link, "severity": severity}
        labels = ",".join(f"{name}={label_value(value)}" for name, value in pairs.items())
        lines.append(f"firstbreak_alarms_total{{{labels}}} {count}")
    return "\n".join([*lines, *(["# EOF"] if openmetrics else [])]) + "\n"

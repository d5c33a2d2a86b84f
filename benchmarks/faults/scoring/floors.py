"""What any tool must beat: a reader of the reward curve alone, nine literal alerts, and answers that never change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firstbreak.quieting import RETURNS
from firstbreak.runlog import RunLog
from firstbreak.series import Series

from .answer import Alarm, Answer

WINDOW = 0.1
"""Share of the returns that a reader of the reward curve averages."""
FALLEN = 0.5
"""Share of the gain that must be gone before the reader calls it a collapse."""


def reward_only(log: RunLog) -> Answer:
    """Watch the return alone: an alarm where half of what was gained is gone, or at the end where nothing was gained.

    It names no link: a reward curve does not say what broke.
    """
    series = next((s for name in RETURNS if (s := log.get(name)) is not None), None)
    if series is None:
        return Answer("undecided")
    finite = np.isfinite(series.value)
    step, value = series.step[finite], series.value[finite]
    width = max(3, int(WINDOW * value.size))
    if value.size < 3 * width:
        return Answer("undecided")
    level = np.convolve(value, np.full(width, 1 / width), "valid")
    at = step[width - 1 :]
    best = np.maximum.accumulate(level)
    noise = float(np.std(value[:width])) / np.sqrt(width)
    gained = best - level[0]
    fallen = (gained > 2 * noise) & (level < best - FALLEN * gained)
    if fallen.any():
        return Answer("broken", (Alarm("return fell", (), float(at[fallen][0])),), confidence=1.0)
    if level[-1] <= level[0] + 2 * noise:
        return Answer("broken", (Alarm("return never rose", (), float(at[-1])),), confidence=1.0)
    return Answer("healthy", confidence=1.0)


@dataclass(frozen=True)
class Alert:
    """One literal threshold. `above` is crossed upwards, `below` downwards; `size` compares the absolute value."""

    name: str
    metrics: tuple[str, ...]
    links: tuple[str, ...]
    above: float | None = None
    below: float | None = None
    size: bool = False


ALERTS = (
    Alert("gradient explosion", ("optim/grad_norm", "optim/actor_grad_norm"), ("numerics", "policy_update"), 1e4),
    Alert("entropy collapse", ("policy/entropy",), ("exploration",), below=0.01),
    Alert("action dimension collapsed", ("policy/action_std_min",), ("exploration",), below=0.01),
    Alert("Q-value divergence", ("critic/q_mean",), ("critic",), 1000, size=True),
    Alert("Q twin divergence", ("critic/twin_gap",), ("critic",), 100),
    Alert("value anti-correlated", ("critic/explained_variance",), ("critic",), below=-0.5),
    Alert("excessive clipping", ("policy/clip_fraction",), ("policy_update",), 0.5),
    Alert("advantage explosion", ("advantage/abs_max",), ("reward_signal", "policy_update"), 100),
)
"""Eight of the nine alerts of a published debugging checklist, its thresholds as they stand; the ninth is any NaN. The
links are read from its own decision tree; where that speaks of two, both count."""


def nine_alerts(log: RunLog) -> Answer:
    """Raise each alert at the first row that crosses it, on the canonical metrics: its names are known for it."""
    alarms = [alarm for alert in ALERTS if (alarm := crossing(log, alert)) is not None]
    broken = [s for s in log.series if np.isnan(s.value).any()]
    if broken:
        at = min(float(s.step[np.isnan(s.value)][0]) for s in broken)
        alarms.append(Alarm("NaN in metrics", ("numerics",), at, severity="error"))
    alarms.sort(key=lambda alarm: alarm.at)
    links = tuple(dict.fromkeys(link for alarm in alarms for link in alarm.links))
    verdict = "broken" if alarms else "healthy"
    return Answer(verdict, tuple(alarms), links, confidence=1.0, onset=alarms[0].at if alarms else None)


def crossing(log: RunLog, alert: Alert) -> Alarm | None:
    """Return the first row at which `alert` is crossed, None where it never is or the metric is not logged."""
    series = [s for s in log.series if s.metric in alert.metrics]
    places = [at for s in series if (at := _first(s, alert)) is not None]
    return Alarm(alert.name, alert.links, min(places)) if places else None


def _first(series: Series, alert: Alert) -> float | None:
    value = np.abs(series.value) if alert.size else series.value
    with np.errstate(invalid="ignore"):
        crossed = value > alert.above if alert.above is not None else value < alert.below
    return float(series.step[crossed][0]) if crossed.any() else None


def always(link: str) -> Answer:
    """Say of every run that `link` broke, from its first row."""
    return Answer("broken", (Alarm(f"always {link}", (link,), 0.0),), (link,), confidence=1.0, onset=0.0)


def best_fixed(links: Sequence[frozenset[str]]) -> str:
    """Return the link that is right most often; `links` are the right ones of each fault run."""
    every = sorted({link for right in links for link in right})
    return max(every, key=lambda link: sum(link in right for right in links), default="")


HEALTHY = Answer("healthy", confidence=1.0)
"""The answer that never cries wolf, and never helps."""

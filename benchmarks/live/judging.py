"""What one guarded run says of the monitor: was an alarm at a right link there before the return had lost a fifth?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WINDOW = {"CartPole-v1": 20, "Pendulum-v1": 5, "grpo": 20}
"""Episodes that a return is averaged over; Pendulum's runs have forty."""
LOST, COLLAPSED = 0.2, 0.5
"""Shares of what had been gained: when it counts as lost, and what is gone at the end of a collapse."""
CLOSE = 0.01
"""Share of the run after the fault within which an alarm does not count in the strict counts."""


@dataclass(frozen=True)
class Judged:
    """One run. Positions are environment steps; NaN where nothing happened."""

    subject: str
    fault: str
    seed: int
    learned: bool
    collapsed: bool
    died: bool
    began: float
    lost_at: float
    alarm: Mapping[str, Any] | None
    """The first alarm after the fault at a link that is right, by a rule that no twin of this subject alarmed."""
    wrong: tuple[str, ...]
    """Rules that alarmed at other links before it."""
    early: tuple[str, ...]
    """Rules that alarmed before the fault: false alarms."""
    length: float
    rows_to_alarm: int = 0
    """Rows from the fault to the right alarm."""
    again: Mapping[str, Any] | None = None
    """The first right alarm of a monitor that is not given the rows of the first `CLOSE` after the fault."""

    @property
    def in_time(self) -> bool:
        """Whether the right alarm came no later than the loss."""
        return self.alarm is not None and not self.alarm["at"] > self.lost_at

    @property
    def strict(self) -> bool:
        """In time, and first said later than `CLOSE` after the fault."""
        return self.in_time and self.alarm is not None and self.alarm["at"] > self.close

    @property
    def close(self) -> float:
        """Where the first `CLOSE` of the run after the fault ends."""
        return self.began + CLOSE * self.length

    @property
    def slow(self) -> bool:
        """Whether anything was left to warn of by then: otherwise no alarm can be both in time and later."""
        return (self.length if np.isnan(self.lost_at) else self.lost_at) > self.close

    @property
    def confirmed(self) -> bool:
        """In time, and named again, still in time, from what came later than `CLOSE` after the fault alone."""
        again = self.again
        return self.in_time and again is not None and again["at"] > self.close and not again["at"] > self.lost_at

    @property
    def lead(self) -> float:
        """Environment steps from the alarm to the loss."""
        return self.lost_at - self.alarm["at"] if self.alarm is not None else float("nan")


def smoothed(episodes: Sequence[tuple[float, float]], window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps at which episodes ended, and the mean return of the last `window` of them."""
    steps, returns = np.array([e[0] for e in episodes]), np.array([e[1] for e in episodes])
    sums = np.cumsum(np.insert(returns, 0, 0.0))
    first = np.maximum(np.arange(1, returns.size + 1) - window, 0)
    last = np.arange(1, returns.size + 1)
    return steps, (sums[last] - sums[first]) / (last - first)


def judge(
    run: Mapping[str, Any],
    right: Collection[str],
    noisy: Collection[str],
    again: Sequence[Mapping[str, Any]] = (),
) -> Judged:
    """Judge one run.

    Args:
        run: As `campaign.py` kept it.
        right: Links that count.
        noisy: Rules that alarm on unbroken twins.
        again: Alarms of a monitor that was not given the first rows after the fault.
    """
    window = window_of(run)
    steps, level = smoothed(run["episodes"], window)
    before = steps <= run["began"]
    start, now = float(level[min(window, level.size) - 1]), float(level[before][-1])
    gained = now - start
    spread = float(np.std([e[1] for e in run["episodes"]][:window]))
    learned = gained > 2 * spread / np.sqrt(window) and gained > 0
    lost = ~before & (level < now - LOST * gained)
    rows = np.array([row[0] for row in run["rows"]])
    lost_at = float("nan")
    if learned and lost.any():  # the loss is known at the row that follows it, as every alarm is
        later = rows[rows >= steps[lost][0]]
        lost_at = float(later[0]) if later.size else float(steps[lost][0])
    death = {"crashed-on-nonfinite"} if run.get("died") else set[str]()  # stands at the last row there was
    # A fault is planted after the look at its step, so an alarm dated there is about it: weights that were changed are
    # told of at the very next gradient step.
    after = [a for a in run["alarms"] if a["at"] >= run["began"] or a["name"] in death]
    counts = [a["link"] in right and a["name"] not in noisy for a in after]
    place = counts.index(True) if any(counts) else None
    anew = (a for a in again if a["at"] >= run["began"] and a["link"] in right and a["name"] not in noisy)
    return Judged(
        subject=run["subject"],
        fault=run["fault"],
        seed=run["seed"],
        learned=bool(learned),
        collapsed=bool(learned and (run.get("died") or level[-1] < now - COLLAPSED * gained)),
        died=bool(run.get("died")),
        began=run["began"],
        lost_at=lost_at,
        alarm=None if place is None else after[place],
        wrong=tuple(a["name"] for a in after[:place] if a["link"] not in right),
        early=tuple(a["name"] for a in run["alarms"] if a not in after),
        length=float(run["rows"][-1][0]) if run["rows"] else float("nan"),
        rows_to_alarm=0 if place is None else int(((rows > run["began"]) & (rows <= after[place]["at"])).sum()),
        again=next(anew, None),
    )


def window_of(run: Mapping[str, Any]) -> int:
    """Return over how many episodes returns are averaged."""
    if "window" in run:
        return int(run["window"])
    subject = run["subject"]
    return WINDOW["grpo" if subject == "grpo" else "CartPole-v1" if is_cartpole(subject) else "Pendulum-v1"]


def is_cartpole(subject: str) -> bool:
    return subject in ("ppo", "dqn", "mmrkhs", "sb3_ppo", "sb3_dqn")

"""How fresh the data of each update is: which policy made it, and whether the run was trained on it before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .record.hashing import fingerprint

if TYPE_CHECKING:
    from .core import Monitor

REMEMBERED = 100_000
"""Batches that a later one is compared with, the newest: some 10 MB. Engineering default."""


class Freshness:
    """Notes policy versions and batches; their numbers come with the monitor's next row, they themselves on record.

    Example:
        ```python
        freshness = Freshness(monitor)
        freshness.rollout([t.policy_version for t in trajectories], current=version)
        freshness.batch(batch)
        monitor.log(metrics, step=update)
        ```

    Args:
        monitor: Gets `data/repeat_fraction`, `async/staleness_mean` and `async/staleness_max`.
    """

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._seen: dict[str, float] = {}
        """Fingerprint -> step of the update that was trained on it last, oldest first."""
        self._fresh: dict[str, float] = {}
        self._newest = float("-inf")
        self._ages: list[int] = []
        monitor.collect(self.numbers)

    def rollout(self, versions: int | Sequence[int], *, current: int, step: float | None = None) -> None:
        """Note which policy versions made the data, one for all or one a trajectory.

        Args:
            versions: Counts of updates, as `current` is.
            current: The version that is trained with it.
            step: The position of the update; that of the monitor's newest row when not given.
        """
        try:
            made = [versions] if isinstance(versions, int) else [int(version) for version in versions]
            self._ages += [current - version for version in made]
            if self._monitor.record is not None:
                self._monitor.record.rollout(made, self._at(step), current)
        except Exception as error:
            self._monitor.fault(f"rollout: {type(error).__name__}: {error}")

    def batch(self, batch: Any, *, step: float | None = None) -> None:
        """Note a batch that an update trains on, once an update however many epochs it makes.

        Args:
            batch: Arrays, tensors, numbers and texts, nested in mappings, lists or tuples; their hash is kept.
            step: As in `rollout`.
        """
        try:
            name, at = fingerprint(batch), self._at(step)
            if at < self._newest:  # the run was put back: what it trains on again is no repeat
                self._seen = {seen: when for seen, when in self._seen.items() if when < at}
            self._newest = self._fresh[name] = at
            if self._monitor.record is not None:
                self._monitor.record.batch(name, at)
        except Exception as error:
            self._monitor.fault(f"batch: {type(error).__name__}: {error}")

    def numbers(self) -> Mapping[str, float]:
        """Return what was noted since the last row, under canonical names, and begin anew."""
        found: dict[str, float] = {}
        if self._ages:
            ages, self._ages = self._ages, []
            found = {"async/staleness_mean": sum(ages) / len(ages), "async/staleness_max": float(max(ages))}
        if self._fresh:
            fresh, self._fresh = self._fresh, {}
            found["data/repeat_fraction"] = sum(name in self._seen for name in fresh) / len(fresh)
            self._seen |= fresh
            for name in list(self._seen)[: max(0, len(self._seen) - REMEMBERED)]:
                del self._seen[name]
        return found

    def _at(self, step: float | None) -> float:
        return max(self._monitor.step, 0.0) if step is None else float(step)

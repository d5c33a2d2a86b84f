"""Trials in this process, one after the other and without limits: for tests, and for experiments under construction."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..trial import Ended, ended
from .child import measured, refusal
from .executor import Job, Order


class Here:
    """Measures when it is asked to."""

    def run(self, job: Job, orders: Sequence[Order], tell: Callable[[Ended], None]) -> list[Ended]:
        """Run `orders` in turn."""
        return [self._one(job, order, tell) for order in orders]

    def _one(self, job: Job, order: Order, tell: Callable[[Ended], None]) -> Ended:
        payload: dict[str, Any] = {
            "experiment": job.experiment,
            "subject": job.subject.plain(),
            "seconds": job.limits.seconds,
        }
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="firstbreak-trial-") as folder:
            found = measured(payload, *order, Path(folder), lambda kind, data: None)
        if "refused" in found:
            raise refusal(found["refused"])
        found.pop("loaded", None)
        over = ended(found, seconds=time.monotonic() - start)
        tell(over)
        return over

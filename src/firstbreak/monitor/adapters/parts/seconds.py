"""Seconds of the clock beside seconds of the processor: on a busy machine the first grow, with slow code both do."""

from __future__ import annotations

import time

WORKED = "time/process_s"


class Seconds:
    """Both since it was made. Those of the processor are summed over the threads of this process, not its children."""

    def __init__(self) -> None:
        self._began, self._worked = time.perf_counter(), time.process_time()

    def row(self) -> dict[str, float]:
        """Return both."""
        return {"time/elapsed_s": time.perf_counter() - self._began, **self.worked()}

    def worked(self) -> dict[str, float]:
        """Return those of the processor alone."""
        return {WORKED: time.process_time() - self._worked}

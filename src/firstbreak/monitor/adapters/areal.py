"""AReaL: every row of `StatsLogger.commit` reaches the monitor.

    trainer.stats_logger = monitored(trainer.stats_logger, monitor)

AReaL imports nothing of this module and this module nothing of AReaL.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .parts.areal_identities import Identities
from .parts.obeying import harmless
from .parts.refusing import insist, insist_on
from .parts.wrapping import OnVerdict, feed, tell_settings

if TYPE_CHECKING:
    from ..core import Monitor

Rows = Mapping[str, Any] | Sequence[Mapping[str, Any]]
COUNTER = "__count"
"""Keys with this ending count the samples of another key; AReaL does not log them either."""


def monitored(stats_logger: Any, monitor: Monitor, *, on_verdict: OnVerdict | None = None) -> Any:
    """Make `stats_logger.commit` feed `monitor` after it has logged, and return `stats_logger`.

    Only rank 0 logs in AReaL, and only there the monitor is fed. A step of several rows gets as many positions, as in
    AReaL's own logs. AReaL has no hook that stops an update; to end the run, raise in `on_verdict` (on rank 0).

    Args:
        stats_logger: AReaL's `StatsLogger`, or anything with `commit(epoch, step, global_step, data)`. Its `exp_config`
            tells the settings; secrets are not read. Numbers that follow from them are held against them (see
            `areal_identities`).
        monitor: Gets each row at the step under which AReaL logs it, which counts updates.
        on_verdict: Called with every verdict that is not to go on.
    """
    insist_on(stats_logger, "commit", "AReaL's `StatsLogger`")
    insist(monitor)
    forward = stats_logger.commit
    tell_settings(monitor, getattr(stats_logger, "exp_config", None), "areal")
    identities = Identities(None)
    with harmless(monitor, "read the settings"):
        identities = Identities(getattr(stats_logger, "exp_config", None))

    def commit(epoch: int, step: int, global_step: int, data: Rows) -> Any:
        result = forward(epoch=epoch, step=step, global_step=global_step, data=data)
        if _logs_here():
            rows = [data] if isinstance(data, Mapping) else list(data)
            first = _first_step(stats_logger, global_step, len(rows))
            for i, row in enumerate(rows):
                kept = {key: value for key, value in row.items() if not key.endswith(COUNTER)}
                found: dict[str, float] = {}
                with harmless(monitor, "hold a row against the settings"):
                    found = identities.row(kept)
                feed(monitor, {**kept, **found}, first + i, on_verdict)
        return result

    stats_logger.commit = commit
    return stats_logger


def _first_step(stats_logger: Any, global_step: int, rows: int) -> int:
    """Return the step of the first row just logged: after a recovery AReaL goes on counting from its last."""
    last = getattr(stats_logger, "_last_commit_step", None)
    return last - rows + 1 if isinstance(last, int) else global_step


def _logs_here() -> bool:
    """Whether this process is the one that logs. AReaL brings torch; without it there is one process."""
    distributed = cast(Any, sys.modules.get("torch.distributed"))
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return True
    return distributed.get_rank() == 0

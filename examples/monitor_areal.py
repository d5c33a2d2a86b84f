"""AReaL: wrap its `StatsLogger`. This replays rows through a logger of the same form, so that AReaL is not needed.

Run: python examples/monitor_areal.py
"""

import json
from pathlib import Path

from firstbreak.monitor.adapters.areal import monitored
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Verdict

ROWS = Path(__file__).parents[1] / "tests" / "data" / "rows" / "areal.jsonl"


class StatsLogger:
    """Stands for `areal.utils.stats_logger.StatsLogger`; a trainer of AReaL has one as `trainer.stats_logger`."""

    def __init__(self) -> None:
        self._last_commit_step = -1
        self.exp_config = {"actor": {"eps_clip": 0.4, "kl_ctl": 0.0, "optimizer": {"lr": 1.7e-5}}}

    def commit(self, epoch: int, step: int, global_step: int, data: dict | list[dict]) -> None:
        """Send the rows of a step to the trackers."""
        self._last_commit_step = max(global_step, self._last_commit_step + 1)


def stop(verdict: Verdict) -> None:
    """End the run: what is raised here reaches the trainer."""
    raise SystemExit(f"stopped: {verdict.alarms[0].finding.message}")


if __name__ == "__main__":
    monitor = Monitor(framework="areal", algorithm="GRPO", act={"*": "stop_training"})
    logger = monitored(StatsLogger(), monitor, on_verdict=stop)
    for step, line in enumerate(ROWS.read_text().splitlines()):
        print(f"step {step}")
        logger.commit(0, step, step, json.loads(line))

"""verl: wrap its logger. This replays rows through a logger of the same form, so that neither verl nor a GPU is needed.

Run: python examples/monitor_verl.py
"""

import json
from pathlib import Path

from firstbreak.monitor.adapters.verl import monitored
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Verdict

ROWS = Path(__file__).parents[1] / "tests" / "data" / "rows" / "verl.jsonl"
CONFIG = {
    "algorithm": {"adv_estimator": "grpo"},
    "actor_rollout_ref": {"actor": {"clip_ratio": 0.2, "kl_loss_coef": 0.001, "optim": {"lr": 1e-6}}},
}


class Tracking:
    """Stands for `verl.utils.tracking.Tracking`."""

    def log(self, data: dict, step: int, backend: str | None = None) -> None:
        """Send a row to the trackers."""


def stop(verdict: Verdict) -> None:
    """End the run: what is raised here reaches the trainer."""
    raise SystemExit(f"stopped: {verdict.alarms[0].finding.message}")


if __name__ == "__main__":
    monitor = Monitor(framework="verl", algorithm="GRPO", act={"*": "stop_training"})
    logger = monitored(Tracking(), monitor, config=CONFIG, on_verdict=stop)
    for step, line in enumerate(ROWS.read_text().splitlines(), start=1):
        print(f"step {step}")
        logger.log(data=json.loads(line), step=step)

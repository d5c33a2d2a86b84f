"""A monitor that does what a test wrote down, for the tests of adapters."""

from __future__ import annotations

from typing import Any

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action, Verdict


class Scripted(Monitor):
    """Looks at nothing; says at given updates what the test wants done."""

    def __init__(self, script: dict[int, Action] | None = None, **options: Any) -> None:
        super().__init__(framework="trl", algorithm="GRPO", **options)
        self.script = script or {}
        self.seen: list[tuple[float, dict[str, Any]]] = []

    def log(self, metrics: Any, *, step: float | None = None, clock: str = "") -> Verdict:
        self.seen.append((float(step or 0), dict(metrics)))
        return Verdict(self.script.pop(int(step or 0), Action.CONTINUE))


def history(trainer: Any) -> list[dict[str, Any]]:
    return [row for row in trainer.state.log_history if "grad_norm" in row]

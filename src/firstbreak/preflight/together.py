"""`preflight`: the checklist before training, from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checklist.run import Checklist, run_plan


def preflight(environment: str = "", *, tell: Callable[[str], None] | None = None, **settings: Any) -> Checklist:
    """Go through the checklist before training, outermost look first.

    Args:
        environment: a Gymnasium id or `module:factory`.
        tell: hears one line before each inspection.
        settings: what else to inspect, under the names of `[preflight]` in firstbreak.toml: `policy`, `expert`,
            `reward`, `components`, `metric`, `trainer`, `trainer_script`, `data`, `eval_data`, `memory`, `returns` ...

    Raises:
        ConfigError: a setting is unknown or of another kind.
    """
    named = {"environment": environment} if environment else {}
    return run_plan({**named, **settings}, tell=tell)

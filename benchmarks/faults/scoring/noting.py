"""What the monitor notes of a run's environment today, put into recordings that are older than that.

The recorder's `Faulty` stands between the task and the trainer in every run, healthy or not, so that the monitor notes
it beside the name: what it does to rewards is unknown to it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from firstbreak.vocabulary import WRAPPED_IN, standard_task

TASKS = Path(__file__).resolve().parents[1] / "tasks.toml"
WRAPPER = "Faulty"


def noted(subject: str, task: str) -> dict[str, str]:
    """Return the settings that name the task of a run, where it is a standard one."""
    world = _worlds().get((subject, task), "")
    return {"env_id": world, WRAPPED_IN: WRAPPER} if standard_task(world) else {}


def nameless(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the name of the task."""
    return {name: value for name, value in config.items() if name not in ("env_id", WRAPPED_IN)}


@cache
def _worlds() -> dict[tuple[str, str], str]:
    """(subject, task) -> the environment it is trained in."""
    tasks = tomllib.loads(TASKS.read_text("utf-8"))["task"]
    return {(one["subject"], one["name"]): one.get("world", one["name"]) for one in tasks}

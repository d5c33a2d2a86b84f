"""What the monitor notes of a run's environment today, put into recordings that are older than that.

The recorder's `Faulty` stands between the task and the trainer in every run, healthy or not, so that the monitor notes
it beside the name: what it does to rewards is unknown to it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from firstbreak.vocabulary import WRAPPED_IN, standard_task

TASKS = Path(__file__).resolve().parents[1] / "tasks.toml"
WRAPPER = "Faulty"
LAYERS = Path(__file__).resolve().parents[1] / "runs" / "layers.json"
"""What it does to each run's task, as the monitor finds it (`python -m benchmarks.faults.beginnings`)."""


def noted(subject: str, task: str) -> dict[str, str]:
    """Return the settings that name the task of a run, where it is a standard one."""
    world = _worlds().get((subject, task), "")
    return {"env_id": world, WRAPPED_IN: WRAPPER} if standard_task(world) else {}


def layered(run: str) -> dict[str, float]:
    """Return the settings that tell what stands between the task of `run` and its trainer, where that was looked at."""
    return _layers().get(run, {})


def nameless(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the name of the task, and without what follows from knowing it."""
    return {
        name: value
        for name, value in config.items()
        if name not in ("env_id", WRAPPED_IN) and not name.startswith("layers_")
    }


@cache
def _layers() -> dict[str, dict[str, float]]:
    return json.loads(LAYERS.read_text("utf-8")) if LAYERS.exists() else {}


@cache
def _worlds() -> dict[tuple[str, str], str]:
    """(subject, task) -> the environment it is trained in."""
    tasks = tomllib.loads(TASKS.read_text("utf-8"))["task"]
    return {(one["subject"], one["name"]): one.get("world", one["name"]) for one in tasks}

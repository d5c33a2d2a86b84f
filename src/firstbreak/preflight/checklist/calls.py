"""How the settings of `[preflight]` become inspections. Each call imports its room only when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from ...inspection import Inspection

Settings = Mapping[str, Any]
Inspector = Callable[[Settings], Inspection | None]
"""Inspects what the settings name; None when they name nothing of its kind."""


def environment(settings: Settings) -> Inspection | None:
    """Inspect the environment."""
    if "environment" not in settings:
        return None
    from ..environment.api import inspect_environment

    return inspect_environment(settings["environment"], seed=settings.get("seed", 0))


def policy(settings: Settings) -> Inspection | None:
    """Inspect the policy's actions in the environment."""
    if "environment" not in settings or "policy" not in settings:
        return None
    from ..policy.api import inspect_policy

    return inspect_policy(settings["environment"], policy=settings["policy"])


def reward(settings: Settings) -> Inspection | None:
    """Inspect the reward: a table of samples, or the environment played at random."""
    given = settings.get("reward", {})
    table: dict[str, Any] = {"target": given} if isinstance(given, str) else dict(cast("dict[str, Any]", given))
    target = table.pop("target", settings.get("environment"))
    if target is None:
        return None
    from ..reward.api import inspect_reward

    keys = ("components", "metric", "metric_direction", "gamma", "shaping", "potential")
    shared = {key: settings[key] for key in keys if key in settings}
    return inspect_reward(target, **(shared | table))


def task(settings: Settings) -> Inspection | None:
    """Inspect the task: returns on file, or the environment played at random, by the expert and by the policy."""
    returns = settings.get("returns", settings.get("baselines"))
    if not returns and "environment" not in settings:
        return None
    from ..task.api import inspect_task

    if returns:
        return inspect_task(**returns)
    return inspect_task(
        settings["environment"],
        expert=settings.get("expert"),
        trained=settings.get("policy"),
        goal=settings.get("goal"),
        episodes=settings.get("episodes", 100),
    )


def data(settings: Settings) -> Inspection | None:
    """Inspect the data file, against the evaluation data where given."""
    given = settings.get("data")
    if not given:
        return None
    from ..data.api import inspect_data

    table: dict[str, Any] = {"path": given} if isinstance(given, str) else dict(given)
    return inspect_data(table.pop("path"), eval_path=settings.get("eval_data"), **table)


def memory(settings: Settings) -> Inspection | None:
    """Inspect the memory plan."""
    if not settings.get("memory"):
        return None
    from ..memory.api import inspect_memory

    return inspect_memory(settings["memory"])


def invariants(settings: Settings) -> Inspection | None:
    """Inspect the trainer's code without training."""
    if "trainer" not in settings:
        return None
    from ..invariants.api import inspect_trainer

    return inspect_trainer(settings["trainer"], seed=settings.get("seed", 0))


def probes(settings: Settings) -> Inspection | None:
    """Let the trainer climb the ladder."""
    if "trainer" not in settings and "trainer_script" not in settings:
        return None
    from ...probes.api import probe

    trainer = settings.get("trainer", "") if "trainer_script" not in settings else ""
    script, seed, jobs = settings.get("trainer_script"), settings.get("seed", 0), settings.get("jobs", 2)
    return probe(trainer, script=script, seed=seed, jobs=jobs)


INSPECTORS: dict[str, Inspector] = {
    "environment": environment,
    "policy": policy,
    "reward": reward,
    "task": task,
    "data": data,
    "memory": memory,
    "invariants": invariants,
    "probes": probes,
}
"""Kind -> inspector, from the outside of the loop inwards and from seconds to minutes."""

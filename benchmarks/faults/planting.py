"""The registry of planted faults: a fault is one function (or class) under one of these decorators."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

WORLD: dict[str, Any] = {}
"""Fault -> the `Change` it makes to the environment."""
SETTINGS: dict[tuple[str, str], Callable[[dict[str, Any]], None]] = {}
"""(fault, subject) -> what changes `settings` and `options` (of a run of `total` steps) before the trainer is built."""
FROM_THE_START: set[str] = set()
"""Hard negatives that are a property of the whole run, not an event."""
TRAINER: dict[tuple[str, str], Callable[[Any], None]] = {}
"""(fault, subject) -> what changes a trainer that is between two updates."""

MODULES = {
    "world": ("faults_world", "faults_world_reward", "variants"),
    "sb3": ("faults_sb3", "faults_sb3_on_policy", "faults_sb3_off_policy"),
    "reference": ("faults_reference", "faults_reference_on_policy", "faults_reference_off_policy"),
    "language": ("faults_language_reward", "faults_language_update", "faults_language_queue", "variants_language"),
    "trl_grpo": ("faults_trl", "variants_trl"),
}
FAMILY = {
    "sb3_ppo": "sb3", "sb3_a2c": "sb3", "sb3_dqn": "sb3", "sb3_sac": "sb3",
    "ppo": "reference", "dqn": "reference", "sac": "reference", "mmrkhs": "reference",
    "grpo": "language", "rlhf_ppo": "language", "async_grpo": "language", "tool_agent": "language",
    "trl_grpo": "trl_grpo",
}  # fmt: skip
"""Subject -> its family, which is one module that trains it."""
PLAYS = ("sb3", "reference")
"""Families whose subjects act in an environment, in which faults of the world can be planted."""


def in_the_world(fault: str) -> Callable[[Any], Any]:
    """Register a `Change` of the environment."""

    def register(change: Any) -> Any:
        assert fault not in WORLD, fault
        WORLD[fault] = change
        return change

    return register


def in_settings(fault: str, *subjects: str) -> Callable[[Any], Any]:
    """Register a change of the settings."""

    def register(change: Callable[[dict[str, Any]], None]) -> Any:
        SETTINGS.update({(fault, subject): change for subject in subjects})
        return change

    return register


def in_trainer(fault: str, *subjects: str) -> Callable[[Any], Any]:
    """Register a change of the trainer."""

    def register(change: Callable[[Any], None]) -> Any:
        assert not any((fault, subject) in TRAINER for subject in subjects), fault
        TRAINER.update({(fault, subject): change for subject in subjects})
        return change

    return register


def load(family: str) -> None:
    """Import the modules that register the faults of this family."""
    for room in (family, "world") if family in PLAYS else (family,):
        for module in MODULES[room]:
            importlib.import_module(f"benchmarks.faults.{module}")


def planted(fault: str, subject: str) -> bool:
    """Whether something is registered for this fault and subject, once its family is loaded."""
    world = fault in WORLD and FAMILY[subject] in PLAYS
    return world or (fault, subject) in SETTINGS or (fault, subject) in TRAINER


def change_settings(fault: str, subject: str, settings: dict[str, Any], options: dict[str, Any], total: int) -> None:
    """Change settings and options in place, if that is how the fault is planted."""
    change = SETTINGS.get((fault, subject))
    if change is not None:
        change({"settings": settings, "options": options, "total": total})

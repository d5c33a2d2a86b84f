"""The reference trainers on TorchRL, trained without the monitor that watched the recorded run."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.reference import MAKES
from benchmarks.settle.trainers import Course

logging.getLogger("torchrl").setLevel(logging.WARNING)


def trained(course: Course) -> Any:
    """Train once and return the trainer, which is its own agent."""
    settings, _ = course.planned()
    make, config_of = MAKES[course.place.subject]
    # JSON knows no tuples.
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in {**settings, **course.settings}.items()}
    trainer = make(course.world, seed=course.seed, config=config_of(**given))
    trainer.run_total = course.total
    at = course.at

    def switch() -> None:
        nonlocal at
        at = None
        what, subject = course.place.what, course.place.subject
        if what in planting.WORLD:
            course.truth.change = planting.WORLD[what]
        elif (what, subject) in planting.TRAINER:
            planting.TRAINER[what, subject](trainer)

    def on_row(metrics: Any, step: int) -> None:
        if at is not None and step >= at:  # between two updates
            switch()

    if at == 0.0:
        switch()
    trainer.learn(course.total, on_row)
    return trainer


def defaults(subject: str) -> dict[str, Any]:
    """The settings that the trainer has by itself."""
    config = MAKES[subject][1]()
    return {f.name: getattr(config, f.name) for f in fields(config)}

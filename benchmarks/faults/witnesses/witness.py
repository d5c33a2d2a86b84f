"""What a witness is, and the list of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.faults.catalogue import Task
from benchmarks.faults.recording import Recording

Train = Callable[[Task, int, Recording], None]
"""Task (for its settings), seed, what takes in the rows -> the whole run."""

MODULES = ("weak_motor", "unseen_question", "letter_to_avoid", "reward_by_lottery", "problems_of_training")


@dataclass(frozen=True)
class Witness:
    """One kind of faulty run, and the sound run that looks like it."""

    fault: str
    subject: str
    task: str
    meant: str
    """What its author means by it, in one sentence: why nothing is wrong."""
    train: Train
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Part of a key -> the same part in the faulty run: the user's own names, which say nothing to a rule."""

    @property
    def kind(self) -> tuple[str, str, str]:
        """Fault, subject and task."""
        return self.fault, self.subject, self.task


def witnesses() -> tuple[Witness, ...]:
    """Every witness; this imports the trainers."""
    rooms = [importlib.import_module(f"benchmarks.faults.witnesses.{name}") for name in MODULES]
    return tuple(one for room in rooms for one in room.WITNESSES)

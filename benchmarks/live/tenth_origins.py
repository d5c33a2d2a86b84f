"""Where the faults of the tenth live campaign come from: the nine lists before it, and how large each was there."""

from __future__ import annotations

import statistics
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LISTS = ("faults", "unseen", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
DOSED = ("seventh", "eighth", "ninth")
"""Lists that say how large a fault is in each subject."""


@cache
def known() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return, by id, the list that every known fault is of, and what is said of it there."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in LISTS:
        for fault in tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))["fault"]:
            found[fault["id"]] = (name, fault)
    return found


def list_of(fault: str) -> str:
    """Return the list that a fault is of; of none (a twin) the last."""
    return known()[fault][0] if fault else LISTS[-1]


def family(subject: str) -> str:
    """Return the trainer of a subject without its task: `sb3_ppo_lane` is `sb3_ppo`."""
    words = subject.split("_")
    return "_".join(words[:2]) if words[0] in ("sb3", "torchrl", "hand") else words[0]


def recorded(fault: str) -> set[str]:
    """Return the trainers that a fault was recorded in before."""
    return {family(subject) for subject in known()[fault][1]["subjects"]}


def dose_of(fault: str) -> float:
    """Return how large a fault was in its own list: where subjects differ the median, of two the lower."""
    doses = known()[fault][1].get("dose", {"": 1.0})
    return float(statistics.median_low(doses.values()))


def enter_dose(fault: str, *subjects: str) -> None:
    """Let the code of a fault's own list find its dose for subjects that it does not know."""
    name = list_of(fault)
    if not fault or name not in DOSED:
        return
    doses: Any = import_module(f"{name}_doses")
    if not doses.CHOSEN:
        doses.read()
    for subject in subjects:
        doses.CHOSEN.setdefault((fault, subject), dose_of(fault))


@cache
def first_list(name: str) -> Any:
    """Return a module of the first list by its file: a later list's path has others of its names."""
    spec = spec_from_file_location(f"first_list_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

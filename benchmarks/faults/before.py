"""The faults of worlds and trainers, looked at before the run instead of in its log.

    python -m benchmarks.faults.before [--only TEXT] [--json benchmarks/faults/before.json]

A fault of the world is put to `preflight env` and, with the simple player that whoever wrote the task would have, to
`preflight env --expert`; a fault of the trainer to `preflight invariants`, as it is planted in the recorded runs, with
default settings. A fault is *found* where something at warning or above is said that is not said of the same world or
trainer without it. Asked of the faults that passed the gate, control subjects only; those of the evaluation and of the
settings are no property of a world or a trainer before a run and stay "not found". Run it from the root of the
repository; about ten minutes on one core.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.catalogue import faults
from benchmarks.faults.faulty_env import Truth, maker
from benchmarks.faults.scoring.bearing import counting, passed
from benchmarks.faults.scoring.corpus import read_manifest
from benchmarks.settle.experts import EXPERTS
from firstbreak.errors import InputError
from firstbreak.inspection import Inspection
from firstbreak.preflight.environment.api import inspect_environment
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.policy.api import inspect_policy

HERE = Path(__file__).resolve().parent
PLACE = "benchmarks.faults.before"
EVALUATED = {"CartPoleEval": "CartPole-v1", "ReachNormalised": "Reach"}
"""Tasks that are a world with something else around it."""


def main() -> None:
    args = arguments()
    for family in planting.PLAYS:
        planting.load(family)
    rows: list[dict[str, Any]] = []
    for row in map(looked, subjects(args.only)):
        rows.append(row)
        found = "no way" if row["said"] is None else "found" if row["said"] else "nothing"
        print(f"{found:8}{row['fault']:28} {row['place']:16} {', '.join(row['said'] or ())}", flush=True)
    asked = [row["said"] for row in rows if row["said"] is not None]
    print(f"{sum(map(bool, asked))} of {len(asked)} found before a run; {len(rows) - len(asked)} could not be planted")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose id holds this text")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def subjects(only: str) -> list[tuple[str, str, str]]:
    """Return (fault, subject, task) of every control run that passed the gate, once each."""
    entries, _ = counting(read_manifest(HERE / "runs"), passed(HERE / "runs"))
    return sorted(
        {
            (e.fault, e.subject, e.task)
            for e in entries
            if e.fault and only in e.fault and planting.FAMILY[e.subject] in planting.PLAYS
        }
    )


def looked(one: tuple[str, str, str]) -> dict[str, Any]:
    """Return what is said of one fault before a run."""
    fault, subject, task = one
    world = EVALUATED.get(task, task)
    if fault in planting.WORLD:
        kind, what, said, usual = "world", world, of_world(world, fault), of_world(world, "")
    else:
        kind, what, said, usual = "trainer", subject, of_trainer(subject, fault), of_trainer(subject, "")
    new = None if said is None or usual is None else [name for name in said if name not in usual]
    return {"fault": fault, "subject": subject, "task": task, "kind": kind, "place": what, "said": new}


@cache
def of_world(world: str, fault: str) -> tuple[str, ...]:
    """Return the names of what `preflight env` says of a world, without and with a player."""
    target = f"{PLACE}:{name_of('world', world, fault)}"
    seen = [inspect_environment(target)]
    if world in EXPERTS:
        seen.append(inspect_policy(target, expert=f"benchmarks.settle.experts:{EXPERTS[world]}"))
    return names(seen)


@cache
def of_trainer(subject: str, fault: str) -> tuple[str, ...] | None:
    """Return the names of what `preflight invariants` says of a trainer.

    None where the fault cannot be planted in a trainer with default settings (a spread, where actions are discrete).
    """
    if fault and ((fault, subject) not in planting.TRAINER or faults()[fault].link == "evaluation_protocol"):
        return ()
    try:
        return names([inspect_trainer(f"{PLACE}:{name_of('trainer', subject, fault)}")])
    except InputError:
        return None


def names(seen: list[Inspection]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f.name for one in seen for f in one.findings if f.severity.value != "info"))


def name_of(kind: str, place: str, fault: str) -> str:
    """Return the attribute of this module under which a child process finds a world or trainer with its fault."""
    return f"{kind}__{place.replace('-', '_')}__{fault.replace('-', '_')}"


def __getattr__(name: str) -> Any:
    """Make what `name_of` names."""
    kind, _, rest = name.partition("__")
    place, _, fault = rest.rpartition("__")
    if kind not in ("world", "trainer"):
        raise AttributeError(name)
    for family in planting.PLAYS:
        planting.load(family)
    return world_with(place, fault) if kind == "world" else trainer_with(place, fault)


def world_with(place: str, fault: str) -> Any:
    """Return a factory of a world with a fault that is there from the first step."""
    world = next(name for name in (*EXPERTS, place) if name.replace("-", "_") == place)
    change = next((c for name, c in planting.WORLD.items() if name.replace("-", "_") == fault), None)
    return maker(world, Truth(change=change), 0)


def trainer_with(subject: str, fault: str) -> Any:
    """Return the class of a trainer whose finished instance has the fault."""
    from benchmarks.faults import reference, sb3

    usual = reference.MAKES[subject][0] if subject in reference.MAKES else sb3.MAKES[subject]
    change = next(
        (c for (name, where), c in planting.TRAINER.items() if (name.replace("-", "_"), where) == (fault, subject)),
        None,
    )
    if change is None:
        return usual

    def __init__(self: Any, *args: Any, **settings: Any) -> None:  # noqa: N807
        usual.__init__(self, *args, **settings)
        change(self)

    return type(usual.__name__, (usual,), {"__init__": __init__})


if __name__ == "__main__":
    main()

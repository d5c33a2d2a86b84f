"""What the monitor finds between a task and its trainer in the first episodes, for recordings that are older than that.

    python -m benchmarks.faults.beginnings

Each run of a task that the monitor can play again is begun anew, with its own seed, settings and fault, and stopped as
soon as the monitor has seen enough. A training that is begun anew takes the same first steps, so that this is what its
recording would hold. Written to `runs/layers.json`; scoring puts it beside the settings that the monitor notes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.faults import one_run
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.plans import Plan
from benchmarks.faults.scoring.noting import LAYERS, noted
from firstbreak.monitor.world import World

MANIFEST = LAYERS.parent / "manifest.json"
MOST_STEPS = 20_000
"""Steps of all copies together after which a beginning is over, whatever was seen."""


class Enough(BaseException):
    """The first episodes are over."""


class Beginning(World):
    """A world that ends training when the first episodes have been seen."""

    found: dict[str, float]

    def learn(self, found: Mapping[str, float]) -> None:
        """Keep what was found."""
        self.found = {**getattr(self, "found", {}), **found}

    def step(self, before: object, action: object, after: object, reward: float) -> None:
        """Stop the training where enough was seen."""
        super().step(before, action, after, reward)
        if self._underneath is None or self._underneath.done or self._taken > MOST_STEPS:
            raise Enough


def begun(plan: Plan) -> dict[str, float]:
    """Begin the run of `plan` anew and return what stands between task and trainer."""
    worlds: list[Beginning] = []

    def world(guard: Guarded) -> World:
        worlds.append(Beginning(guard.monitor))
        return worlds[-1]

    kept, Guarded.world = Guarded.__dict__["world"], property(world)  # type: ignore[assignment]
    try:
        one_run.made(plan)
    except Enough:
        pass
    finally:
        Guarded.world = kept
    return getattr(worlds[-1], "found", {}) if worlds else {}


def main(page: Path = LAYERS) -> None:
    """Begin every run anew whose task can be played again, and write what was found."""
    found: dict[str, dict[str, float]] = {}
    for row in json.loads(MANIFEST.read_text("utf-8")):
        if not noted(row["subject"], row["task"]):
            continue
        name = row["id"].split("/")[-2]
        plan = Plan(row["subject"], row["task"], row["kind"], name, row["seed"], row["start_frac"], row["half"])
        layers = begun(plan)
        if layers:
            found[row["id"]] = {key: float(f"{value:.6g}") for key, value in layers.items()}
        print(row["id"], layers, flush=True)
    page.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()

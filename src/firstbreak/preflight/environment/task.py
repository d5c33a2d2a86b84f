"""What runs in the child process: record the environment, put every check to it, tell each answer as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...check import Look, checks_of, look_at, pack
from .budget import Budget
from .guarding import guarded_source
from .recording import build_world
from .scripts import scripted
from .world import World

if TYPE_CHECKING:
    from ...isolation.child import Wire

RECORDING_FRAC = 0.4
"""Share of the budget spent on recording; the rest is for playing again, sweeps and extreme actions."""
LEFT_TO_PARENT = ("environment-forks", "environment-hangs", "environment-dies", "environment-eats-memory")
"""Checks whose answer only the parent knows."""


def task(payload: Mapping[str, Any], wire: Wire) -> None:
    """Inspect the environment `payload["target"]`; tell `look`, `looking`, `details` messages over the wire."""

    def begin(name: str) -> None:
        wire.tell("looking", check=name)

    world = recorded(payload["target"], payload, wire)
    wire.tell("details", details=details_of(world), notes=world.notes)
    for look in looks_at(world, payload, begin):
        wire.tell("look", look=pack(look))


def recorded(target: str | Callable[[], Any], payload: Mapping[str, Any], wire: Wire | None) -> World:
    """Return the recorded world of `target`."""
    journal = None if wire is None else wire.journal
    source, facts = guarded_source(target, journal)
    if wire is not None:
        wire.tell("source", interface=source.kind)
    world = build_world(
        source,
        seed=int(payload.get("seed", 0)),
        budget=Budget(seconds=RECORDING_FRAC * float(payload.get("budget_s", 10.0))),
        journal=journal,
        most_depth=payload.get("most_depth"),
    )
    world.facts |= facts
    if facts["held_still"]:
        held = " and ".join(facts["held_still"])
        world.notes.append(f"running statistics of {held}: learned from random play, then held still to compare plays")
    return world


def looks_at(world: World, payload: Mapping[str, Any], begin: Callable[[str], None]) -> Iterator[Look]:
    """Yield how each check ended; `begin` hears of each before it looks."""
    known = set(payload.get("known", ()))
    folder = payload.get("save_scripts")
    for one in checks_of("environment"):
        if one.name in known or one.name in LEFT_TO_PARENT:
            continue
        begin(one.name)
        yield scripted(look_at(one, world), world, Path(folder) if folder else None)


def details_of(world: World) -> dict[str, Any]:
    """Return the numbers of the report."""
    lengths = [e.length for e in world.episodes]
    returns = [float(e.rewards.sum()) for e in world.episodes if e.ended]
    return {
        "kind": world.kind,
        "time_limit_steps": world.time_limit,
        "episodes": len(lengths),
        "steps": sum(lengths),
        "deep_episodes": len(world.deep_episodes),
        "longest_steps": max((e.length for e in world.all_episodes), default=0),
        "random_return_mean": sum(returns) / len(returns) if returns else None,
        "observation_columns": len(world.dimensions),
        "recording_s": world.facts.get("recording_s"),
        "steps_per_s": round(1 / max(1e-9, float(world.facts.get("seconds_per_step", 0.0) or 1e-9))),
    }

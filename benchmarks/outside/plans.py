"""Which runs are made: plans.toml and its successors, multiplied out. What is planted when a hash draws."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

HERE = Path(__file__).parent
SEEDS = (11, 12)
"""Of faults and of hard negatives, where a list does not say others."""
EARLIEST, LATEST = 0.3, 0.6
"""Shares of the run between which a fault that comes in mid-run is switched on."""


@dataclass(frozen=True)
class Listing:
    """A list of ordinary logs, and where what is made of it lies."""

    name: str
    plans: Path
    runs: Path
    kept: str
    """How the files begin that keep its first score."""
    hashed: bool = False
    """Whether the order of recording is that of a hash, plain runs first: what there is is then a fair sample."""


FIRST = Listing("first", HERE / "plans.toml", HERE / "runs", "first_score")
SECOND = Listing("second", HERE / "second.toml", HERE / "second_runs", "second_score")
THIRD = Listing("third", HERE / "third.toml", HERE / "third_runs", "third_score")
FOURTH = Listing("fourth", HERE / "fourth.toml", HERE / "fourth_runs", "fourth_score", hashed=True)
LISTINGS = {one.name: one for one in (FIRST, SECOND, THIRD, FOURTH)}


@dataclass(frozen=True)
class Base:
    """A trainer on a task, with settings that learn it."""

    name: str
    trainer: str
    """`sb3`, `contrib`, `rsl_rl`, or the module of a loop or script: `loop_ppo`, `script_td3`, `single.ppo`."""
    algorithm: str
    task: str
    total: int
    """Environment steps."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Fault:
    """What is done to runs of a base, and which links are right to name."""

    id: str
    what: str
    link: str
    bases: tuple[str, ...]
    source: str
    planted: str = ""
    """Name of the change in the code; "" where settings do it all."""
    also_right: tuple[str, ...] = ()
    why_also: str = ""
    starts: tuple[str, ...] = ("start",)
    seeds: tuple[int, ...] = SEEDS
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    protocol: bool = False
    """The evaluation that was logged is what it costs."""


@dataclass(frozen=True)
class Healthy:
    """A way of being healthy."""

    id: str
    what: str
    bases: tuple[str, ...]
    seeds: tuple[int, ...] = SEEDS
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the world."""


@dataclass(frozen=True)
class Plan:
    """One run."""

    base: Base
    name: str
    """Of the fault, or of the way of being healthy."""
    seed: int
    fault: Fault | None = None
    healthy: Healthy | None = None
    at: int = 0
    """Environment step from which on the fault is there."""

    @property
    def id(self) -> str:
        return f"{self.base.name}-{self.name}{'-midway' if self.at else ''}-{self.seed}"

    @property
    def settings(self) -> dict[str, Any]:
        more = self.fault.settings if self.fault else self.healthy.settings if self.healthy else {}
        return {**self.base.settings, **more}


@cache
def listed(listing: Listing) -> dict[str, Any]:
    """Return a list as it stands."""
    return tomllib.loads(listing.plans.read_text("utf-8"))


def made(kind: Any, table: str, listing: Listing) -> dict[str, Any]:
    """Return the entries of one table by id, lists as tuples."""
    found: dict[str, Any] = {}
    seeds = listed(listing).get("seeds", {}).get(table)
    for row in listed(listing)[table]:
        given = {**({"seeds": seeds} if seeds else {}), **row}
        found[str(next(iter(row.values())))] = kind(**{name: frozen(value) for name, value in given.items()})
    return found


def frozen(value: Any) -> Any:
    """Return a list as a tuple, and anything else as it is."""
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def bases(listing: Listing = FIRST) -> dict[str, Base]:
    return made(Base, "base", listing)


def faults(listing: Listing = FIRST) -> dict[str, Fault]:
    return made(Fault, "fault", listing)


def healthy(listing: Listing = FIRST) -> dict[str, Healthy]:
    return made(Healthy, "healthy", listing)


def instant(base: Base, name: str, seed: int) -> int:
    """Return the environment step at which a fault is switched on in mid-run."""
    drawn = int.from_bytes(hashlib.sha256(f"{base.name}/{name}/{seed}".encode()).digest()[:4]) / 2**32
    return round((EARLIEST + (LATEST - EARLIEST) * drawn) * base.total)


DEAR = ("sb3_dqn_cartpole", "sb3_sac_pendulum", "sb3_td3_pendulum", "sb3_ppo_pendulum1d", "loop_sac_pendulum")
"""Bases whose runs take ten seconds of a core and more; the others take two to eight."""


def rank(plan: Plan, turn: int) -> tuple[bool, bool, bool]:
    """Return what the order of recording goes by: plain runs, then one trainer a fault, cheap ones first."""
    return (plan.name != "plain", bool(plan.fault) and turn > 0, plan.name != "plain" and plan.base.name in DEAR)


def plans(listing: Listing = FIRST) -> list[Plan]:
    """Return every run of a list in the order of recording."""
    known = bases(listing)
    found: list[tuple[tuple[bool, bool, bool], Plan]] = []
    for kind in (*faults(listing).values(), *healthy(listing).values()):
        for turn, base in enumerate(kind.bases):
            made_of = of_fault(kind, known[base]) if isinstance(kind, Fault) else of_healthy(kind, known[base])
            found += [(rank(plan, turn), plan) for plan in made_of]
    if listing.hashed:
        return sorted((plan for _, plan in found), key=by_hash)
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def by_hash(plan: Plan) -> tuple[bool, bytes]:
    """Return a place in the order of recording that nobody has chosen; the gate needs plain runs, which come first."""
    return plan.name != "plain", hashlib.sha256(plan.id.encode()).digest()


def of_healthy(kind: Healthy, base: Base) -> list[Plan]:
    """Return one run a seed."""
    return [Plan(base, kind.id, seed, healthy=kind) for seed in kind.seeds]


def of_fault(kind: Fault, base: Base) -> list[Plan]:
    """Return one run a seed; the places of `starts` are taken in turn."""
    found: list[Plan] = []
    for place, seed in enumerate(kind.seeds):
        midway = kind.starts[place % len(kind.starts)] == "midway"
        found.append(Plan(base, kind.id, seed, fault=kind, at=instant(base, kind.id, seed) if midway else 0))
    return found

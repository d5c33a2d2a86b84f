"""`inspect_task`: is there a gap to close, can it be seen from the start, is the goal within reach?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...check import Look, checks_of, look_at_all, pack
from ...inspection import Inspection, inspection
from ...isolation import Limits
from ...isolation.child import Wire
from ..child import Tell, played
from ..reward.table import read_table
from .gap import gap_closed, several
from .play import play_all
from .remedies import REMEDIES
from .sample import TaskSample
from .tables import tables_of

GOAL_COLUMNS = ("goal_reached", "reached", "goal", "success", "is_success", "solved")


def inspect_task(
    target: Any = None,
    *,
    random: Any = None,
    expert: Any = None,
    trained: Any = None,
    goal: Any = None,
    episodes: int = 100,
    isolate: bool = True,
    limits: Limits | None = None,
    tell: Tell | None = None,
) -> Inspection:
    """Put every task check to returns, or to an environment with policies.

    Args:
        target: a `TaskSample`, an environment (Gymnasium id, `module:factory`, factory), or None.
        random: without an environment: returns of random play, as numbers or as the path of a table with one row per
            episode or per step (columns return, length, truncated, goal_reached as far as known).
        expert: the same for a policy known to be good; with an environment, the policy (`module:fn`, a function from
            observation to action, an object with `act` or `predict`).
        trained: the same for the policy that was trained.
        goal: with an environment: a key of `info`, or `module:fn` from observation to bool.
        episodes: played per policy.
        isolate: play in a child process; what is given as an object is played here.

    Raises:
        InputError: nothing to look at, or a table that cannot be used.
    """
    if isinstance(target, TaskSample):
        return _here("returns", target, tell)
    if target is None:
        given = {k: v for k, v in (("random", random), ("expert", expert), ("trained", trained)) if v is not None}
        return _here("returns", _from_returns(given), tell)
    policies = {k: v for k, v in (("expert", expert), ("trained", trained)) if v is not None}
    if not isolate or not all(isinstance(v, str) or v is None for v in (target, goal, *policies.values())):
        name = target if isinstance(target, str) else getattr(target, "__name__", "environment")
        return _here(name, play_all(target, policies, goal=goal, episodes=episodes), tell)
    payload = {"target": target, "policies": policies, "goal": goal, "episodes": episodes}
    return played("task", target, f"{__name__}:look", payload, limits, tell)


def _from_returns(given: Mapping[str, Any]) -> TaskSample:
    columns: dict[str, dict[str, Any]] = {k: {} for k in ("returns", "lengths", "truncated", "goal_reached")}
    for who, values in given.items():
        if not isinstance(values, (str, Path)):
            columns["returns"][who] = values
            continue
        table = read_table(Path(values))
        columns["returns"][who] = table.returns
        lengths = np.array([s.stop - s.start for s in table.whole]) if table.stepwise else table.length
        columns["lengths"][who] = lengths
        if table.truncated is not None:
            last = [s.stop - 1 for s in table.whole]
            columns["truncated"][who] = table.truncated[last] if table.stepwise else table.truncated
        goal = next((v for k, v in table.metric.items() if k.lower() in GOAL_COLUMNS), None)
        if goal is not None:
            columns["goal_reached"][who] = np.nan_to_num(table.of_units(goal)) > 0
    return TaskSample(columns["returns"], columns["lengths"], columns["truncated"], columns["goal_reached"])


def details_of(sample: TaskSample, looks: list[Look]) -> dict[str, Any]:
    """Return what a report shows beside the findings: summaries, the gap closed, remedies in order."""
    fired = [k.check for k in looks if k.symptom is not None]
    details: dict[str, Any] = {
        "returns": {who: _summary(v) for who, v in sample.returns.items()},
        "lengths": {who: _summary(v) for who, v in sample.lengths.items()},
        "truncated_frac": {who: float(v.mean()) for who, v in sample.truncated.items()},
        "goal_reached_frac": {who: float(v.mean()) for who, v in sample.goal_reached.items()},
        "goal_kept_frac": {who: float(v.mean()) for who, v in sample.goal_kept.items()},
        "remedies": {name: list(REMEDIES[name]) for name in fired if name in REMEDIES},
        "tables": tables_of(sample, _serious(looks)),
        "notes": list(sample.notes),
    }
    if all(several(sample.returns.get(who)) for who in ("random", "expert", "trained")):
        closed = gap_closed(*(sample.returns[who] for who in ("random", "expert", "trained")))
        details["gap_closed_frac"] = None if closed is None else asdict(closed)
    return details


def _serious(looks: list[Look]) -> list[str]:
    """The checks that fired at warning or above."""
    usual = {c.name: c.severity for c in checks_of("task")}
    return [k.check for k in looks if k.symptom is not None and (k.symptom.severity or usual[k.check]).rank]


def _summary(values: NDArray[np.float64]) -> dict[str, Any]:
    kept = values[np.isfinite(values)]
    if not kept.size:
        return {"count": int(values.size), "finite": 0}
    quantiles = {f"{q:g}": float(np.quantile(kept, q)) for q in (0, 0.25, 0.5, 0.75, 1)}
    return {"count": int(values.size), "mean": float(kept.mean()), "std": float(kept.std()), "quantiles": quantiles}


def _here(name: str, sample: TaskSample, tell: Tell | None) -> Inspection:
    looks = look_at_all("task", sample, tell)
    return inspection("task", name, looks, details=details_of(sample, looks), notes=sample.notes)


def look(payload: dict[str, Any], wire: Wire) -> None:
    """The child's part: play, look, tell."""
    sample = play_all(
        payload["target"], payload["policies"], goal=payload["goal"], episodes=payload["episodes"], wire=wire
    )
    wire.journal.begin("look")
    looks = look_at_all("task", sample, lambda one: wire.tell("look", look=pack(one)))
    wire.tell("details", details=details_of(sample, looks))

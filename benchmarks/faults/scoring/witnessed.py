"""Runs that no log can show to be faulty, by example: a sound run leaves the same log (`benchmarks/faults/witnesses`).

What is left out for it is told by kind, never by what was hit: a fault at a subject and task, from the first step on,
where the log names no standard task. All runs of such a kind go, detected or not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from . import scores, undecided
from .assessing import FIRSTBREAK, UNNAMED, Assessed
from .intervals import Estimate

HERE = Path(__file__).resolve().parents[1]
WITNESSES = HERE / "witnesses.json"
OF_THE_TASK = frozenset({"environment_data", "reward_signal", "evaluation_protocol"})
"""Links that are data to a trainer: what is wrong there from the first step on may be what somebody means elsewhere."""
SEEDS = 5
"""Pairs of logs that must have been compared: as many as there are faulty runs of a kind."""
Runs = Sequence[Assessed]
Kind = tuple[str, str, str]


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """Return what `python -m benchmarks.faults.witnesses` wrote down, nothing where it was not run."""
    return tuple(json.loads(WITNESSES.read_text("utf-8"))) if WITNESSES.exists() else ()


@cache
def kinds() -> dict[Kind, list[dict[str, Any]]]:
    """Return (fault, subject, task) -> its comparisons, where every one of them found the two logs to be the same."""
    found: dict[Kind, list[dict[str, Any]]] = {}
    for row in rows():
        subject, task, fault, _ = row["id"].split("/")
        found.setdefault((fault, subject, task), []).append(row)
    sure = {kind for kind, some in found.items() if len(some) >= SEEDS and all(one["planted"]["equal"] for one in some)}
    return {kind: some for kind, some in found.items() if kind in sure}


def whole_and_unnamed(run: Assessed) -> bool:
    """Return whether the fault was there from the first step, in a task that the log gives no known name."""
    return run.fault is not None and not run.mid_run and UNNAMED not in run.answers


def has_witness(run: Assessed) -> bool:
    """Return whether a sound run leaves the log of this one."""
    return whole_and_unnamed(run) and (getattr(run.fault, "id", ""), run.subject, run.task) in kinds()


def may_have_one(run: Assessed) -> bool:
    """Return whether what is wrong is what the run is given, from the first step on, in a task without a known name."""
    return whole_and_unnamed(run) and run.fault is not None and run.fault.link in OF_THE_TASK


def score_rows(runs: Runs) -> list[tuple[str, Estimate, Estimate, Estimate]]:
    """Return each score over all fault runs, over those without a witness, and over those that could not have one."""
    faulty = scores.faulty(runs)
    parts = (
        faulty,
        [run for run in faulty if not has_witness(run)],
        [run for run in faulty if not has_witness(run) and not may_have_one(run)],
    )
    asked = (
        ("an alarm at a right link", scores.detection),
        ("link, first answer", lambda part, tool: scores.link_top(part, tool, 1)),
        ("link, first two answers", lambda part, tool: scores.link_top(part, tool, 2)),
    )
    return [(title, *(ask(part, FIRSTBREAK) for part in parts)) for title, ask in asked]


def left_out(runs: Runs) -> tuple[int, int, int, str]:
    """Return how many runs have a witness, how many might, how many of the latter are alarmed, and their faults."""
    having = [run for run in scores.faulty(runs) if has_witness(run)]
    rest = [run for run in scores.faulty(runs) if may_have_one(run) and not has_witness(run)]
    names = Counter(scores.cluster(run) for run in rest)
    alarmed = sum(scores.right_alarm(run, FIRSTBREAK) is not None for run in rest)
    return len(having), len(rest), alarmed, ", ".join(f"{name} {n}" for name, n in sorted(names.items())) or "none"


def kind_rows(runs: Runs) -> list[tuple[str, int, int, str, str, str, str]]:
    """Return of each kind with a witness: runs, missed, what is meant, what was compared, recordings, what is paid."""
    missed = {run.id for run in undecided.missed(runs)}
    found: list[tuple[str, int, int, str, str, str, str]] = []
    for (fault, subject, task), some in sorted(kinds().items()):
        mine = [
            run
            for run in scores.faulty(runs)
            if has_witness(run) and (run.fault and run.fault.id, run.subject, run.task) == (fault, subject, task)
        ]
        if not mine:
            continue
        rows_of = [one["planted"]["rows"] for one in some]
        counted = f"{min(rows_of)} to {max(rows_of)}" if min(rows_of) < max(rows_of) else f"all {min(rows_of)}"
        first = some[0]["planted"]
        recorded = sum(one["recorded"]["equal"] for one in some)
        found.append(
            (
                f"{fault}, {subject} {task}",
                len(mine),
                sum(run.id in missed for run in mine),
                some[0]["meant"],
                f"{len(some)} seeds, {counted} rows of {first['own_keys']} and {first['monitor_keys']} keys",
                f"{recorded} of {len(some)}",
                "; ".join("{:.3g} to {:.3g}".format(*one["paid_first_and_last_fifth"]) for one in some[:1]),
            )
        )
    return found

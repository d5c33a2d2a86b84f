"""The rules of the gate on checkpoints: are they there, with hashes, and whole?"""

from __future__ import annotations

from pathlib import Path

from .evidence import Evidence, count, names
from .ruling import Ruling, bad, good, missing, not_asked
from .stored import failed
from .structure import State


def checkpoints_kept(e: Evidence) -> Ruling:
    """Are the best and the last checkpoint of every run there, and whole?"""
    for role in ("best", "last"):
        have = {one.run for one in e.of_role(role) if one.sha256}
        lacking = [run for run in e.runs if run.name not in have]
        if lacking:
            gone = [one for one in e.of_role(role) if not one.sha256 and one.how]
            why = f": {Path(gone[0].path).name} is {gone[0].how}" if gone else ""
            return missing(f"no {role} checkpoint of {names(lacking)}{why}", "keep the checkpoints beside the log")
    looked = [(one, one.structure) for role in ("best", "last") for one in e.of_role(role) if one.structure is not None]
    damaged = [(one, found) for one, found in looked if found.state is State.DAMAGED]
    if damaged:
        one, found = damaged[0]
        return bad(f"{count(len(damaged), 'checkpoint')} damaged: {one.role} of {one.run}, {found.why}")
    blind = [found for _, found in looked if found.state is State.NOT_CHECKED]
    whole = f"{len(looked) - len(blind)} whole" + (f"; {len(blind)} not checked: {blind[0].why}" if blind else "")
    return good(f"best and last of {count(len(e.runs), 'run')}, with hashes; {whole}")


def failures_kept(e: Evidence) -> Ruling:
    """Is there a checkpoint that shows how each failed run failed?"""
    broken = [run for run in e.runs if failed(run)]
    if not broken:
        return not_asked("no run failed")
    have = {one.run for one in e.of_role("failed") if one.sha256}
    lacking = [run for run in broken if run.name not in have]
    if lacking:
        return missing(f"no checkpoint shows how {names(lacking)} failed", "save on failure (firstbreak.Monitor does)")
    return good(f"kept for {count(len(broken), 'failed run')}")

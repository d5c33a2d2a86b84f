"""What other tools said of the same runs, as `peers/` recorded it: one file a tool, answers by the run's id."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstbreak.errors import InputError

from .answer import Alarm, Answer
from .assessing import Assessed
from .catalogue import LINKS


@dataclass(frozen=True)
class Tool:
    """What one tool said: its name with its version, the links that its alarms speak of, and its answers by run."""

    name: str
    claims: frozenset[str]
    answers: Mapping[str, Answer]


def read_tools(folder: Path) -> list[Tool]:
    """Return every tool in `folder`; there may be none."""
    return [read_tool(path) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def with_peers(runs: Sequence[Assessed], tools: Sequence[Tool]) -> list[Assessed]:
    """Return the runs with the answers of every tool; a run that a tool was not given has none."""
    return [run.with_answers({t.name: t.answers[run.id] for t in tools if run.id in t.answers}) for run in runs]


def claimed(runs: Sequence[Assessed], tool: Tool) -> list[Assessed]:
    """Return the runs that the tool was given and could be right on: healthy ones, and faults at links it speaks of."""
    given = [run for run in runs if tool.name in run.answers]
    return [run for run in given if run.fault is None or not tool.claims.isdisjoint(run.fault.links)]


def read_tool(path: Path) -> Tool:
    """Read what `peers/run.py` wrote of one tool.

    Raises:
        InputError: the file is not what `peers/run.py` writes.
    """
    document = json.loads(path.read_text("utf-8"))
    try:
        name = f"{document['tool']} {document['version']}"
        answers = {run: answer_from(said) for run, said in document["answers"].items()}
        return Tool(name, frozenset(document["claims"]), answers)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: no answers of a tool ({what}).", "Write it again with peers/run.py.") from error


def answer_from(said: Mapping[str, Any]) -> Answer:
    """Return the answer of a tool that raises alarms: the links in the order in which it raised them."""
    alarms = sorted((alarm_from(one) for one in said["alarms"]), key=lambda alarm: alarm.at)
    links = tuple(dict.fromkeys(link for alarm in alarms for link in alarm.links))
    verdict = "undecided" if said.get("refused") else "broken" if alarms else "healthy"
    return Answer(
        verdict,
        tuple(alarms),
        links,
        confidence=0.0 if said.get("refused") else 1.0,
        onset=alarms[0].at if alarms else None,
    )


def alarm_from(one: Mapping[str, Any]) -> Alarm:
    links = tuple(one["links"])
    unknown = set(links) - LINKS
    if unknown:
        raise ValueError(f"{sorted(unknown)[0]!r} is no link")
    return Alarm(str(one["name"]), links, float(one["at"]), str(one.get("message", ""))[:200])

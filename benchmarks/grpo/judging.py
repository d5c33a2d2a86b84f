"""What firstbreak says of a recorded run, and whether it is right."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.finding import Severity
from firstbreak.loading import load
from firstbreak.monitor.death import died_of
from firstbreak.runlog import CRASHED, Event, RunLog

TRACKS = {
    "log": "what TRL logs",
    "callback": "what TRL logs, and what the monitor's callback adds",
    "given": "the same, beside four or five healthy runs of the task",
}
REFERENCE = "reference"
"""Kind of the healthy runs that are given on the last track, and not judged."""
LOST = 0.2
"""Share of what healthy companions gain; a fault that costs less is not load-bearing in the true score."""
LAST = 0.1
"""Share of the run over which the true score at its end is averaged."""


@dataclass(frozen=True)
class Answer:
    """What was said of one run. `links` in the order they are named, each once."""

    verdict: str
    links: tuple[str, ...]
    alarms: tuple[str, ...]
    """Rules at warning or above, in the order of their onset."""
    errors: tuple[str, ...]
    shown: str
    """The finding of the first break, else the leading cause."""


def read_run(path: Path) -> dict[str, Any]:
    """Return a record."""
    return json.loads(lzma.decompress(path.read_bytes()))


def ask(run: Mapping[str, Any], track: str = "log", given: Sequence[RunLog] = ()) -> Answer:
    """Diagnose a record as a user of TRL would: curves under TRL's keys, the settings, and healthy runs if `given`."""
    return answer(diagnose_log(log_of(run, track), Settings(), baseline=given))


def log_of(run: Mapping[str, Any], track: str) -> RunLog:
    """Return the log of a record; a monitor's holds what an exception says that ended training, TRL's does not."""
    curves = run["keys"] if track == "log" else {**run["keys"], **run["more_keys"]}
    pairs = {key: list(zip(steps, values, strict=True)) for key, (steps, values) in curves.items()}
    log = load(pairs, config=run["config"] if track == "log" else {**run["config"], **run.get("more_config", {})})
    if track == "log" or not run["died"]:
        return log
    kind, _, message = str(run["died"]).partition(": ")
    return replace(log, events=(*log.events, Event(CRASHED, float(run["end_step"]), died_of(kind, message))))


def references(run: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> list[RunLog]:
    """Return the logs of the healthy runs of the task and the settings of `run` that are there to be given."""
    return [
        log_of(other, "given")
        for other in runs
        if other["kind"] == REFERENCE and other["task"] == run["task"] and needed(other) == needed(run)
    ]


def needed(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the settings by which `planting.SETTINGS` differ, and whether another process sampled."""
    sampler = any(key.startswith("sampling/") for key in run["keys"])
    return (*(run["config"].get(name) for name in ("beta", "entropy_coef")), sampler)


def answer(diagnosis: Diagnosis) -> Answer:
    """Reduce a diagnosis to what is judged: its first break, then its causes, then what else it found."""
    loud = [f for f in diagnosis.findings if f.severity is not Severity.INFO and not f.ignored]
    named = [diagnosis.first_break.link.value] if diagnosis.first_break else []
    if loud:
        named += [cause.link.value for cause in diagnosis.causes]
    named += [f.link.value for f in loud]
    shown = diagnosis.first_break.name if diagnosis.first_break else ""
    if not shown and loud and diagnosis.causes:
        shown = diagnosis.causes[0].name
    return Answer(
        verdict=str(diagnosis.verdict),
        links=tuple(dict.fromkeys(named)),
        alarms=tuple(dict.fromkeys(f.name for f in loud)),
        errors=tuple(dict.fromkeys(f.name for f in loud if f.severity is Severity.ERROR)),
        shown=shown or (loud[0].name if loud else ""),
    )


def is_right(said: Answer, right: Sequence[str], within: int) -> bool:
    """Whether one of the `right` links is among the first `within` that were named."""
    return any(link in right for link in said.links[:within])


def is_alarmed(said: Answer) -> bool:
    """Whether anything at warning or above was said of a run that is well."""
    return bool(said.alarms) or said.verdict == Verdict.BROKEN


def at_end(run: Mapping[str, Any]) -> float:
    """Return the true score over the last tenth of a run; NaN for one that has none."""
    score = np.array(run["truth"]["score"], float)
    return float(score[-max(1, round(LAST * score.size)) :].mean()) if score.size else float("nan")


def companions(run: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the healthy twins with the task and the pretrained model of `run`; a seed chooses one of two models."""
    return [
        other
        for other in runs
        if other["kind"] == "healthy" and other["task"] == run["task"] and other["seed"] % 2 == run["seed"] % 2
    ]


def cost(run: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> float:
    """Return the share of what healthy companions gain that this run lacks at its end; NaN without companions."""
    twins = companions(run, runs)
    if not twins or not run["truth"]["score"]:
        return 1.0 if run["died"] else float("nan")
    start = float(np.mean([twin["truth"]["score"][0] for twin in twins]))
    end = float(np.mean([at_end(twin) for twin in twins]))
    return 1.0 if run["died"] else (end - at_end(run)) / (end - start)

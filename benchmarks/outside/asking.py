"""What firstbreak says of a plain log, alone and with the settings that its user knows."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import firstbreak
from benchmarks.grpo.judging import answer
from benchmarks.outside.advised import Thing, things
from benchmarks.outside.plans import Plan
from firstbreak.diagnosis import Diagnosis
from firstbreak.errors import FirstbreakError
from firstbreak.finding import Severity

TRACKS = {"log": "the log alone", "settings": "the log, and the settings of the script"}
SB3_NAMES = {"copies": "n_envs", "noise": "action_noise"}
NOT_SETTINGS = (
    "formats", "monitored", "stop_at", "resume_at", "evaluate_every", "eval_limit", "net_arch", "log_interval", "total",
    "normalised", "sink",
)  # fmt: skip
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Said:
    """What was said of one run. `links` in the order they are named, each once."""

    verdict: str
    links: tuple[str, ...]
    alarms: tuple[str, ...]
    """Rules at warning or above, in the order of their onset."""
    errors: tuple[str, ...]
    shown: str
    """The finding of the first break, else the leading cause."""
    text: str
    """The verdict's lines: what broke first, or what was warned of, and the leading cause."""
    asked: tuple[Thing, ...] = field(default=(), compare=False)
    """What the first screen says to do; it is not kept with a first score."""


def ask(plan: Plan, archive: Path, track: str) -> Said:
    """Diagnose the files of a run as they lie in its folder."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        with tarfile.open(archive, "r:xz") as packed:
            packed.extractall(folder, filter="data")
        try:
            found = firstbreak.diagnose(folder, config=settings_of(plan) if track == "settings" else None)
        except FirstbreakError as error:
            text = str(error).replace(place, "")
            return Said(UNREADABLE, (), (), (), "", text)
        return said(found)


def said(found: Diagnosis) -> Said:
    """Reduce a diagnosis to what is judged and shown."""
    short = answer(found)
    broke = found.first_break
    lines = [f"first break {broke.name} ({broke.link})"] if broke else []
    loud = [f for f in found.findings if f.severity is not Severity.INFO and not f.ignored]
    loud.sort(key=lambda f: broke is None or f.name != broke.name)  # the one that broke first is shown first
    lines += [f"{f.severity} {f.name} ({f.link}): {f.message}" for f in loud[:3]]
    if found.causes:
        lines.append(f"cause {found.causes[0].name} ({found.causes[0].link})")
    return Said(short.verdict, short.links, short.alarms, short.errors, short.shown, " · ".join(lines), things(found))


def settings_of(plan: Plan) -> dict[str, Any]:
    """Return what stands in the user's script: the algorithm, and the arguments that it was given or leaves alone."""
    given = {name: value for name, value in plan.settings.items() if name not in NOT_SETTINGS}
    if plan.base.trainer in ("sb3", "contrib"):
        given = {SB3_NAMES.get(name, name): value for name, value in given.items()}
        given = {"gamma": 0.99, "total_timesteps": plan.base.total, **given}
        if isinstance(given["learning_rate"], str):  # a schedule, which a script holds as a function
            given["learning_rate"] = float(given["learning_rate"].split()[1])
    elif plan.base.trainer == "rsl_rl":
        from benchmarks.outside.rsl import SETTINGS, WORLDS

        given = {**SETTINGS, **given, "num_envs": WORLDS}
        given["max_iterations"] = given.pop("iterations")
    else:
        from benchmarks.outside.record import loop_of

        given = {**loop_of(plan.base.trainer).DEFAULTS, **given}
    return {"algo": plan.base.algorithm, **given}


def as_kept(answers: Mapping[str, Mapping[str, Said]]) -> dict[str, Any]:
    """Return answers as they are kept, by track and run."""
    return {
        track: {
            name: {key: value for key, value in asdict(one).items() if key != "asked"} for name, one in rows.items()
        }
        for track, rows in answers.items()
    }


def from_kept(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Said]]:
    """Return kept answers."""
    return {
        track: {
            name: Said(**{key: tuple(v) if isinstance(v, list) else v for key, v in one.items()})  # type: ignore[arg-type]
            for name, one in rows.items()
        }
        for track, rows in found.items()
    }


def named(one: Said, right: Sequence[str], within: int | None = None) -> bool:
    """Whether one of the `right` links is among the first `within` that were named, or among all."""
    return any(link in right for link in one.links[:within])

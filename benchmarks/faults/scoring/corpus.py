"""Reads recorded runs, `<name>.json.xz`, and the manifest of a folder of them. Errors name the file and the field."""

from __future__ import annotations

import json
import lzma
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from firstbreak.errors import InputError

from .noting import layered, noted

SCHEMA = 1
CLOCKS = ("env_steps", "updates")
HALVES = ("dev", "held", "fresh")
SPELLED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
HARD = "hard_negative:"
KEEPS_KEYS = ("trl",)


@dataclass(frozen=True)
class Truth:
    """The true score from outside, unshaped and unflipped: `score` [n] at `step` [n]. No tool ever sees it."""

    step: tuple[float, ...]
    score: tuple[float, ...]


@dataclass(frozen=True)
class Run:
    """One recorded run: what its log shows (`keys`, `config`, `clock`, `died`) and what was done to it (the rest)."""

    id: str
    subject: str
    framework: str
    algorithm: str
    task: str
    fault: str
    """`""` where nothing was planted."""
    kind: str
    seed: int
    start_frac: float | None
    start_step: float | None
    config: Mapping[str, Any]
    clock: str
    keys: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]
    truth: Truth
    died: str
    end_step: float
    half: str = ""
    cpu_s: float = 0.0
    guarded: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(
        default_factory=dict[str, tuple[tuple[float, ...], tuple[float, ...]]]
    )
    """What a monitor beside it recorded; nothing where the run was made without one."""
    guarded_config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    canonical: bool = False
    """Whether `keys` are canonical names, not the framework's."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def start(self) -> float:
        """Where the fault was switched on, on the clock of the rows; 0 from the start."""
        return float(self.start_step or 0.0)

    @property
    def hard(self) -> bool:
        """Whether it is a healthy run that looks like a broken one."""
        return self.kind.startswith(HARD)

    @property
    def mid_run(self) -> bool:
        """Whether the fault was switched on after a healthy stretch."""
        return bool(self.fault) and bool(self.start_frac)


def as_guarded(run: Run) -> Run:
    """Return `run` with the monitor's record in the place of the framework's own log.

    The record holds canonical names, but for the adapter of TRL, which passes on TRL's own.
    """
    if not run.guarded:
        return run
    config = {**noted(run.subject, run.task), **layered(run.id), **(run.guarded_config or run.config)}
    return replace(run, keys=run.guarded, config=config, canonical=run.framework not in KEEPS_KEYS)


class Fields:
    """The fields of one JSON object, read one by one; what is missing or of another kind is told with its place."""

    def __init__(self, values: Any, place: str) -> None:
        if not isinstance(values, dict):
            raise InputError(f"{place}: a {type(values).__name__} where an object should be.", "Record the run again.")
        self.values, self.place = values, place

    def wrong(self, name: str, what: str) -> InputError:
        return InputError(f"{self.place}: field {name!r} {what}.", "See the corpus format in benchmarks/faults.")

    def text(self, name: str, *, default: str | None = None, among: tuple[str, ...] = ()) -> str:
        value = self.values.get(name, default)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, "is missing" if name not in self.values else f"is no text: {value!r:.60}")
        if among and value not in among:
            raise self.wrong(name, f"is {value!r:.60}, not one of {', '.join(among)}")
        return value

    def number(self, name: str, *, optional: bool = False) -> float | None:
        value = self.values.get(name)
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self.wrong(name, "is missing" if name not in self.values else f"is no finite number: {value!r:.60}")
        return float(value)

    def mapping(self, name: str, *, optional: bool = False) -> dict[str, Any]:
        value = self.values.get(name, {} if optional else None)
        if not isinstance(value, dict):
            raise self.wrong(name, "is missing" if name not in self.values else f"is no object: {value!r:.60}")
        return value

    def numbers(self, name: str, values: Any) -> tuple[float, ...]:
        """Return a list of numbers in which NaN and infinities are texts."""
        if not isinstance(values, list):
            raise self.wrong(name, f"holds a {type(values).__name__} where a list of numbers should be")
        if {float, int}.issuperset(map(type, values)):
            return tuple(map(float, values))
        found: list[float] = []
        for place, value in enumerate(values):
            number = SPELLED.get(value) if isinstance(value, str) else value
            if number is None or isinstance(number, bool) or not isinstance(number, (int, float)):
                raise self.wrong(name, f"holds {value!r:.40} at {place}, which is no number")
            found.append(float(number))
        return tuple(found)


def run_from(document: Any, place: str, half: str = "") -> Run:
    """Return the run of a JSON `document`.

    Raises:
        InputError: a field is missing or of another kind; the message names `place` and the field.
    """
    found = Fields(document, place)
    if found.values.get("schema") != SCHEMA:
        raise found.wrong("schema", f"is {found.values.get('schema')!r:.40}; this reader knows {SCHEMA}")
    kind = found.text("kind")
    fault = found.text("fault", default="")
    if kind not in ("fault", "healthy") and not kind.startswith(HARD):
        raise found.wrong("kind", f"is {kind!r:.60}, not fault, healthy or {HARD}<what>")
    if (kind == "fault") != bool(fault):
        raise found.wrong("fault", f"is {fault!r} in a run of kind {kind!r}")
    share = found.number("start_frac", optional=True)
    if share is not None and not 0 <= share <= 1:
        raise found.wrong("start_frac", f"is {share:g}, not a share")
    if fault and share is None:
        raise found.wrong("start_frac", "is missing in a run with a fault")
    start = found.number("start_step", optional=True)
    if share and start is None:
        raise found.wrong("start_step", "is missing although the fault starts in mid-run")
    truth = Fields(found.mapping("truth"), f"{place}, truth")
    guard = Fields(found.mapping("guarded", optional=True), f"{place}, guarded")
    return Run(
        id=found.text("id"),
        subject=found.text("subject"),
        framework=found.text("framework"),
        algorithm=found.text("algorithm"),
        task=found.text("task"),
        fault=fault,
        kind=kind,
        seed=int(found.number("seed") or 0),
        start_frac=share,
        start_step=start,
        config=found.mapping("config"),
        clock=found.text("clock", among=CLOCKS),
        keys=_keys(found, empty_ok=bool(found.text("died", default=""))),
        guarded=_keys(guard) if guard.values.get("keys") else {},
        guarded_config=guard.mapping("config", optional=True),
        truth=Truth(*_pair(truth, truth.values.get("step"), truth.values.get("score"), "score")),
        died=found.text("died", default=""),
        end_step=found.number("end_step") or 0.0,
        half=half,
        cpu_s=found.number("cpu_s", optional=True) or 0.0,
        versions={k: str(v) for k, v in found.mapping("versions", optional=True).items()},
    )


def _keys(found: Fields, *, empty_ok: bool = False) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return the curves; none where `empty_ok`: a run may die before its first row."""
    keys = found.mapping("keys", optional=empty_ok)
    if not keys and not empty_ok:
        raise found.wrong("keys", "holds no metric")
    curves: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    for key, pair in keys.items():
        if not isinstance(pair, list) or len(pair) != 2:
            raise found.wrong(f"keys[{key}]", "is no pair of steps and values")
        curves[key] = _pair(found, pair[0], pair[1], f"keys[{key}]")
    return curves


def _pair(found: Fields, steps: Any, values: Any, name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    at, value = found.numbers(name, steps), found.numbers(name, values)
    if len(at) != len(value):
        raise found.wrong(name, f"has {len(at)} steps and {len(value)} values")
    if not all(map(math.isfinite, at)):
        raise found.wrong(name, "has a step that is not finite")
    return at, value


def read_run(path: Path, half: str = "") -> Run:
    """Read one recorded run.

    Raises:
        InputError: the file is no recorded run; the message names file and field.
    """
    try:
        document = json.loads(lzma.decompress(path.read_bytes()))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.", "The manifest names it; record the run again.") from None
    except (lzma.LZMAError, ValueError) as error:
        raise InputError(f"{path}: no compressed JSON ({error}).", "Record the run again.") from error
    return run_from(document, str(path), half)


@dataclass(frozen=True)
class Entry:
    """One line of the manifest."""

    id: str
    file: str
    subject: str
    task: str
    fault: str
    kind: str
    seed: int
    half: str
    start_frac: float | None = None


def read_manifest(folder: Path) -> list[Entry]:
    """Return what a folder of runs holds, in the order of the manifest.

    Raises:
        InputError: the manifest is missing or a line of it is not whole; an id comes twice.
    """
    place = folder / "manifest.json"
    try:
        lines = json.loads(place.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{place}: no such file.", "Give a folder of recorded runs with its manifest.") from None
    except ValueError as error:
        raise InputError(f"{place}: not JSON ({error}).", "Write the manifest again.") from error
    if not isinstance(lines, list):
        raise InputError(f"{place}: a {type(lines).__name__} where a list should be.", "Write the manifest again.")
    entries = [_entry(Fields(line, f"{place}, line {number}"), folder) for number, line in enumerate(lines)]
    (most, times), *_ = Counter(entry.id for entry in entries).most_common(1) or [("", 0)]
    if times > 1:
        raise InputError(f"{place}: {most} is there {times} times.", "Give every run an id of its own.")
    return entries


def _entry(found: Fields, folder: Path) -> Entry:
    file = found.text("file")
    if not (folder / file).resolve().is_relative_to(folder.resolve()):
        raise found.wrong("file", f"lies outside the folder: {file!r:.60}")
    return Entry(
        id=found.text("id"),
        file=file,
        subject=found.text("subject"),
        task=found.text("task"),
        fault=found.text("fault", default=""),
        kind=found.text("kind"),
        seed=int(found.number("seed") or 0),
        half=found.text("half", among=HALVES),
        start_frac=found.number("start_frac", optional=True),
    )


def read_folder(folder: Path, half: str = "all") -> Iterator[Run]:
    """Yield the runs of `folder`, of one half or of all."""
    for entry in read_manifest(folder):
        if half in ("all", entry.half):
            yield read_run(folder / entry.file, entry.half)

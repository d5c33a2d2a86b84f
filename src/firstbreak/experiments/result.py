"""`Result`: the plan, what was measured, and the verdict. Written as JSON beside the run, and read back."""

from __future__ import annotations

import itertools
import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from ..errors import InputError, UnreadableError
from .experiment import Pair
from .plan import Plan
from .subject import Subject
from .trial import Ended, ended

FOLDER = "firstbreak-experiments"
"""The folder beside a run that holds its experiments."""
SCHEMA = 1


class Outcome(StrEnum):
    """What an experiment says of its hypothesis."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class Why(StrEnum):
    """Why an experiment ended as it did."""

    DECIDED = "decided"
    NOT_REPRODUCED = "not_reproduced"
    """The control does not show the symptom: nothing else is concluded."""
    TOO_FEW_SEEDS = "too_few_seeds"
    NOT_SENSITIVE = "not_sensitive"
    """The effect is missing, and the experiment shows no sign that it could have seen it."""
    SEED_IGNORED = "seed_ignored"
    TRIALS_FAILED = "trials_failed"
    TWO_DIFFERENCES = "two_differences"
    """The arms turned out to differ in more than the changed variable."""
    INTERRUPTED = "interrupted"
    OUT_OF_TIME = "out_of_time"


@dataclass(frozen=True)
class Look:
    """What was known after `pairs` pairs: the mean effect and its interval at the level of this look."""

    pairs: int
    mean: float
    lo: float
    hi: float
    level: float
    """Two-sided nominal error of this look."""


@dataclass(frozen=True)
class Result:
    """How an experiment ended."""

    plan: Plan
    outcome: Outcome
    why: Why
    words: str
    """One sentence that says what was found."""
    pairs: tuple[Pair, ...] = ()
    effects: tuple[float, ...] = ()
    """One for each pair, in the same order."""
    margin: float | None = None
    looks: tuple[Look, ...] = ()
    seeds_needed: int | None = None
    """Further pairs of seeds that would most likely decide; None where decided, or where seeds would not help."""
    troubles: tuple[Ended, ...] = ()
    """Trials that yielded no finite numbers."""
    controls: tuple[Mapping[str, float], ...] = ()
    """What the control arm yielded, also where the changed arm was not run."""
    used: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The settings as they were really put to work, by arm."""
    notes: tuple[str, ...] = ()
    trials: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    """Seconds of all trials together."""
    env_steps: int = 0

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.plan.experiment

    @property
    def last(self) -> Look | None:
        """The last look, None when nothing could be looked at."""
        return self.looks[-1] if self.looks else None


def to_plain(result: Result) -> dict[str, Any]:
    """Return `result` as plain data; `from_plain` is the inverse."""
    return {"schema": SCHEMA, **asdict(result)}


def from_plain(data: Mapping[str, Any]) -> Result:
    """Return the `Result` that `to_plain` turned into plain data."""
    planned: dict[str, Any] = {
        **data["plan"],
        "subject": Subject(**data["plan"]["subject"]),
        "notes": tuple(data["plan"]["notes"]),
    }
    fields: dict[str, Any] = {
        **{k: v for k, v in data.items() if k != "schema"},
        "plan": Plan(**planned),
        "outcome": Outcome(data["outcome"]),
        "why": Why(data["why"]),
        "pairs": tuple(Pair(p["seed"], _numbers(p["control"]), _numbers(p["changed"])) for p in data["pairs"]),
        "effects": tuple(_number(v) for v in data["effects"]),
        "looks": tuple(Look(**_numbers(k)) for k in data["looks"]),
        "troubles": tuple(ended(t, measures=_numbers(t["measures"])) for t in data["troubles"]),
        "controls": tuple(_numbers(c) for c in data["controls"]),
        "notes": tuple(data["notes"]),
    }
    return Result(**fields)


def write_plan(planned: Plan, folder: Path) -> Path:
    """Write down a plan before it is carried out; return the file, which `write` will fill in.

    Raises:
        UnreadableError: nothing can be written there.
    """
    stamp = "".join(c for c in planned.made if c.isdigit())
    stem = f"{planned.experiment}-{stamp}" if stamp else planned.experiment
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = _reserved(folder, stem)
    except OSError as error:
        raise UnreadableError(f"{folder}: cannot be written: {error.strerror}.", "Give a folder of yours.") from error
    _write(path, {"schema": SCHEMA, "plan": asdict(planned), "outcome": None})
    return path


def _reserved(folder: Path, stem: str) -> Path:
    """Make the first file of this name that is not there yet; another process at the same second gets the next one."""
    for twin in itertools.count(1):
        path = folder / (f"{stem}.json" if twin == 1 else f"{stem}-{twin}.json")
        try:
            path.open("x").close()
        except FileExistsError:
            continue
        return path
    raise AssertionError("unreachable")


def write(result: Result, path: Path) -> None:
    """Write `result` to the file of its plan, all or nothing."""
    _write(path, to_plain(result))


def read(path: Path) -> Result:
    """Read a recorded result back.

    Raises:
        UnreadableError: the file cannot be read.
        InputError: it holds no result, or only a plan that was never carried out.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}.") from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}.", "Give a file that firstbreak experiment wrote.") from error
    if not isinstance(data, dict) or cast("dict[str, Any]", data).get("schema") != SCHEMA:
        raise InputError(f"{path} is no recorded experiment of this version.", "Give one that firstbreak wrote.")
    content = cast("dict[str, Any]", data)
    if content.get("outcome") is None:
        raise InputError(f"{path} holds a plan that was not carried out to its end.", "Run the experiment again.")
    try:
        return from_plain(content)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}.", "Run the experiment again.") from error


def agrees(result: Result) -> bool:
    """Whether the verdict and the last look follow from the effects that are recorded with them.

    Numbers that were edited together still agree: this finds the careless hand, as the chain of a ledger does.
    """
    from .experiment import Side
    from .judging import look, proven, verdict

    if len(result.effects) != len(result.pairs):
        return False
    if result.why is not Why.DECIDED:
        return result.outcome is Outcome.INCONCLUSIVE
    last, margin = result.last, result.margin
    if last is None or margin is None:
        return False
    again = look(result.effects[: last.pairs], margin, last.level)
    same = all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in ((again.lo, last.lo), (again.hi, last.hi)))
    side = Side(result.plan.confirms)
    if same and result.plan.one_proves and proven(result.effects, margin, side):
        return result.outcome is Outcome.CONFIRMED
    return same and verdict(last, margin, side) is result.outcome


def read_all(run: Path, problems: list[str] | None = None) -> list[Result]:
    """Return the results in `<run>/firstbreak-experiments`, oldest first; plans not carried out are left out.

    What cannot be read, or was changed by hand, is left out as well, and said in `problems`.
    """
    found: list[Result] = []
    for path in sorted((run / FOLDER).glob("*.json"), key=lambda p: (p.stat().st_mtime, p.name)):
        try:
            one = read(path)
            if agrees(one):
                found.append(one)
            elif problems is not None:
                problems.append(f"{path}: the verdict is not that of its numbers; it was changed by hand.")
        except (InputError, UnreadableError) as error:
            if problems is not None and "not carried out" not in error.message:
                problems.append(error.message)
    return found


def with_notes(result: Result, *notes: str) -> Result:
    """Return `result` with further notes."""
    return replace(result, notes=(*result.notes, *notes))


def _write(path: Path, data: Mapping[str, Any]) -> None:
    text = json.dumps(_json(data), indent=1, ensure_ascii=True, allow_nan=False)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".firstbreak-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(k): _json(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_json(v) for v in cast("list[Any]", value)]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _number(value: Any) -> Any:
    """Turn "nan" and infinities back into numbers."""
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _numbers(table: Mapping[str, Any]) -> dict[str, Any]:
    inner = cast("Mapping[str, Mapping[str, Any] | Any]", table)
    return {k: _numbers(cast("Any", v)) if isinstance(v, Mapping) else _number(v) for k, v in inner.items()}

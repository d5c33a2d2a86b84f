"""`audit_verifier`: what does a verifier let through, and what does it refuse?"""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ...check import Look, look_at_all
from ...errors import InputError, UnknownNameError, unknown_name
from ...inspection import Inspection, inspection
from ...isolation import Ending, How, Limits, run
from ...isolation.child import Wire
from ...target import is_target
from .builtin import TASKS
from .calling import STYLES
from .details import details_of, notes_of
from .record import Audit, Trial
from .rows import MOST_ROWS, Question, read_questions

MOST_STOPS = 12
"""Responses that may take the verifier's process down before the rest is given up. Engineering default."""
HOPELESS = 3
"""Responses after which a verifier that never came back from a call is given up. Engineering default."""
REPLAYED = 48
"""Responses asked again in fresh processes."""
GONE = {How.OUT_OF_MEMORY: "memory", How.HUNG: "hung", How.TOO_LOUD: "died"}
LOST = frozenset({"hung", "died", "memory"})
"""How a trial ended from which the verifier did not come back."""

Tell = Callable[[Look], None]


def audit_verifier(
    target: str,
    *,
    data: str | Path | Sequence[Question] | None = None,
    task: str | None = None,
    style: str = "auto",
    pass_mark: float | None = None,
    seconds: float = 10.0,
    rows: int = MOST_ROWS,
    isolate: bool = True,
    limits: Limits | None = None,
    tell: Tell | None = None,
) -> Inspection:
    """Put right, equal, wrong, empty and odd responses to a verifier and judge what it pays for.

    Args:
        target: `module:fn` or `file.py:fn`; it runs in child processes only.
        data: questions with answers: JSONL, CSV or Parquet, or `Question`s; built-in ones where nothing is given.
        task: which built-in questions (`TASKS`); where it is not given, those that the verifier understands.
        style: how the verifier is called (`STYLES`), or `auto` to go by its parameters.
        pass_mark: the score from which on a response counts as passed; found from right answers and nonsense if not
            given.
        seconds: what one call may take.
        rows: most rows of the data that are used.
        isolate: ask in child processes; without, a verifier that hangs or ends its process takes this one along.
        tell: hears of each check as it ends.

    Raises:
        InputError: the target or the data cannot be used.
    """
    audit = examine(
        target, data=data, task=task, style=style, pass_mark=pass_mark, seconds=seconds, rows=rows, isolate=isolate,
        limits=limits,
    )  # fmt: skip
    looks = look_at_all("verifier", audit, tell)
    return inspection("verifier", target, looks, details=details_of(audit), notes=notes_of(audit))


def examine(
    target: str,
    *,
    data: str | Path | Sequence[Question] | None = None,
    task: str | None = None,
    style: str = "auto",
    pass_mark: float | None = None,
    seconds: float = 10.0,
    rows: int = MOST_ROWS,
    isolate: bool = True,
    limits: Limits | None = None,
) -> Audit:
    """Ask a verifier everything and return what it said; see `audit_verifier` for the arguments."""
    if not is_target(target):
        raise InputError(f"{target!r} is not module:function.", "For example: my_rewards.py:score")
    if style != "auto" and style not in STYLES:
        raise _named("style of calling a verifier", style, ("auto", *STYLES))
    if task is not None and task not in TASKS:
        raise _named("built-in task", task, TASKS)
    limits = limits or Limits()
    given = {"target": target, "style": style, "mark": pass_mark, "call_s": seconds, "isolate": isolate}
    if data is not None:
        questions = read_questions(Path(data), rows) if isinstance(data, (str, Path)) else list(data)[:rows]
        return _audit(given, questions, limits, own=True)
    if task is not None:
        return _audit(given, TASKS[task][:rows], limits, own=True)
    start = time.monotonic()
    questions = _understood(given, limits, rows)
    left = max(limits.seconds / 2, limits.seconds - (time.monotonic() - start))
    return _audit(given, questions, replace(limits, seconds=left), own=False)


def _named(what: str, name: str, known: Sequence[str] | dict[str, Any]) -> UnknownNameError:
    error = unknown_name(what, name, known)
    return UnknownNameError(error.message, error.hint or f"Known: {', '.join(known)}.")


def _understood(given: dict[str, Any], limits: Limits, rows: int) -> list[Question]:
    """Return the built-in questions whose right answers the verifier passes; the first ones when there are none."""
    best: tuple[float, str] = (0.0, next(iter(TASKS)))
    until = time.monotonic() + limits.seconds / 2
    for name, questions in TASKS.items():
        limits = replace(limits, seconds=min(limits.seconds, max(1.0, until - time.monotonic())))
        seen = _audit(given, questions[:2], limits, own=False, quick=True)
        share = max(seen.shares.values(), default=0.0)
        if seen.refused_to_start or share > 0.99 or _hopeless(seen):
            return questions[:rows]
        best = max(best, (share, name))
        if time.monotonic() > until:
            break
    return TASKS[best[1]][:rows]


def _hopeless(seen: Audit) -> bool:
    """Whether the verifier came back from no call at all."""
    return bool(seen.trials) and all(t.how in LOST for t in seen.trials)


def _audit(
    given: dict[str, Any], questions: Sequence[Question], limits: Limits, *, own: bool, quick: bool = False
) -> Audit:
    with tempfile.TemporaryDirectory(prefix="firstbreak-") as folder:
        asking = _Asking(given, list(questions), limits, Path(folder) / "stuck", quick=quick)
        audit = replace(asking.go(), own_data=own)
        return audit if quick or audit.refused_to_start or _hopeless(audit) else asking.replayed(audit)


class _Asking:
    """Runs children until everything is asked; a response that takes a child down is noted and left out next time."""

    def __init__(
        self, given: dict[str, Any], questions: list[Question], limits: Limits, stuck: Path, *, quick: bool
    ) -> None:
        self.questions, self.limits, self.stuck = questions, limits, stuck
        self.payload: dict[str, Any] = {
            **given,
            "questions": [q.plain() for q in questions],
            "stuck": str(stuck),
            "quick": quick,
        }
        self.known: dict[str, list[Any]] = {}
        self.singly: list[str] = []
        self.heard: dict[str, list[dict[str, Any]]] = {}
        self.printed = self.calls = 0
        self.leftovers = self.partial = False
        self.trouble = ""
        self.until = time.monotonic() + limits.seconds

    def go(self) -> Audit:
        """Ask until a child ends by itself or too many did not."""
        for stops in range(MOST_STOPS + 1):
            left = self.until - time.monotonic()
            if left <= 0:
                self.partial = True
                break
            self.heard = {}
            ending = self._run("play", {"known": self.known, "singly": self.singly, "seconds": 0.7 * left}, left)
            if ending.how is How.FINISHED:
                break
            if ending.how is How.TOO_SLOW:
                self.partial = True
                break
            if not self._noted(ending):
                self.trouble = f"{ending.how.value}: {ending.message}"[:300]
                break
            if stops + 1 >= HOPELESS and all(entry[1] in LOST for entry in self.known.values()):
                self.partial = True
                break
        else:
            self.partial = True
        return self._record()

    def _run(self, task: str, more: dict[str, Any], seconds: float) -> Ending:
        silence_s = max(self.limits.silence_s, self.payload["call_s"] + 2.0)
        limits = replace(self.limits, seconds=max(1.0, seconds), silence_s=silence_s)
        payload = {**self.payload, **more}
        if not payload["isolate"]:
            return _here(task, {**payload, "stuck": ""}, self._hear)
        self.stuck.write_text("")
        ending = run(f"{__package__}.session:{task}", payload, limits=limits, hear=self._hear)
        self.printed += ending.printed_bytes
        self.leftovers = self.leftovers or ending.leftovers
        return ending

    def _hear(self, message: dict[str, Any]) -> None:
        kind = message["kind"]
        if kind == "known":
            self.known[message["key"]] = message["entry"]
        elif kind == "forked":
            self.leftovers = True
        else:
            self.heard.setdefault(kind, []).append(message)

    def _noted(self, ending: Ending) -> bool:
        """Note which response was under way when the child ended; False when none was."""
        if ending.call != "score" or not ending.actions or ending.how is How.RAISED:
            return False
        keys = cast("list[str]", ending.actions[-1])
        if len(keys) > 1:
            self.singly += keys
            return True
        hung = ending.how is How.DIED and self.stuck.stat().st_size > 0
        how = "hung" if hung else GONE.get(ending.how, "died")
        self.known[keys[0]] = [math.nan, how, ending.message[:200], self.payload["call_s"] if hung else 0.0]
        return True

    def _record(self) -> Audit:
        first = {kind: messages[-1] for kind, messages in self.heard.items()}
        trials = tuple(_trial(m) for m in self.heard.get("trial", ()))
        frames, ended = first.get("frames", {}), first.get("calls", {})
        whole = first.get("universal")
        return Audit(
            self.payload["target"],
            ended.get("style", self.payload["style"]),
            tuple(self.questions),
            own_data=False,
            mark=first.get("mark", {}).get("mark", 0.5),
            shares=frames.get("shares", {}),
            accepted=tuple(frames.get("accepted", ())),
            trials=trials,
            watched=tuple((m["side"], m["row"], m["exception"]) for m in self.heard.get("watched", ())),
            fooled=tuple((m["row"], m["text"]) for m in self.heard.get("fooled", ())),
            universal=None if whole is None else (whole["text"], whole["rows"], whole["of"]),
            batch_note=ended.get("batch_note", ""),
            calls=max(len(self.known), ended.get("calls", 0)),
            partial=self.partial or "partial" in self.heard,
            printed_bytes=self.printed,
            leftovers=self.leftovers,
            refused_to_start=self.trouble if not trials else "",
        )

    def replayed(self, audit: Audit) -> Audit:
        """Ask a part again in two fresh processes."""
        asked = [t for t in audit.trials if t.how in ("ok", "none", "nan") and t.characters == len(t.response)]
        chosen = asked[:: max(1, -(-len(asked) // REPLAYED))]
        found: list[dict[str, tuple[float, ...]]] = []
        for _ in range(2):
            self.heard = {}
            pairs = [[t.row, t.response] for t in chosen]
            left = max(2.0, self.until - time.monotonic())
            with contextlib.suppress(OSError):
                self._run("replay", {"pairs": pairs, "style": audit.style}, left)
            found.append({m["name"]: tuple(map(_number, m["values"])) for m in self.heard.get("pass", ())})
        return replace(
            audit, replays=tuple(found), replayed_rows=tuple(t.row for t in chosen), leftovers=self.leftovers
        )


class _Here(Wire):
    """A wire without a process at its other end."""

    def __init__(self, hear: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(-1, None)
        self._hear = hear

    def tell(self, kind: str, **data: Any) -> None:
        """Hand the message over."""
        self._hear({"kind": kind, **data})


def _here(task: str, payload: dict[str, Any], hear: Callable[[dict[str, Any]], None]) -> Ending:
    """Do what a child would do, in this process."""
    from . import session

    start = time.monotonic()
    getattr(session, task)(payload, _Here(hear))
    return Ending(How.FINISHED, seconds=time.monotonic() - start)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _trial(m: dict[str, Any]) -> Trial:
    return Trial(
        m["row"], m["family"], m["form"], m["right"], _number(m["value"]), m["how"], m["note"], m["seconds"],
        m["response"], m["characters"],
    )  # fmt: skip

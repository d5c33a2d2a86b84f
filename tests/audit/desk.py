"""A small real environment for agents: a desk with files, a booking table, a calculator, a job queue and a checker."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
Schema = dict[str, Any]


def _schema(needed: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "properties": needed | (optional or {}), "required": list(needed)}


TOOLS: dict[str, Schema] = {
    "list_files": _schema({}),
    "read_file": _schema({"path": TEXT}, {"lines": INTEGER}),
    "write_file": _schema({"path": TEXT, "text": TEXT}),
    "delete_file": _schema({"path": TEXT}),
    "show_slots": _schema({}),
    "book": _schema({"slot": INTEGER, "name": TEXT}, {"note": TEXT}),
    "cancel": _schema({"slot": INTEGER}),
    "calculate": _schema({"a": NUMBER, "b": NUMBER, "sign": {"type": "string", "enum": ["+", "-", "*"]}}),
    "job_status": _schema({"job": INTEGER}),
    "run_checks": _schema({}),
    "shell": _schema({"command": TEXT}),
}
"""Name -> JSON schema of its arguments."""


class Refused(Exception):
    """The tool will not do it; the state is as before."""


@dataclass
class Desk:
    """The state. A call changes it or does not."""

    files: dict[str, str] = field(default_factory=dict)
    slots: dict[int, str] = field(default_factory=dict)
    """Slot -> who has it; an empty text is free, a missing slot is gone for good."""
    up: bool = True
    slow: int = 0
    """Calls that time out before one gets through."""
    waits: int = 0
    """Polls that a job still takes."""

    def state(self) -> tuple[dict[str, str], dict[int, str]]:
        return dict(self.files), dict(self.slots)

    def call(self, name: str, written: str) -> tuple[str, bool, bool]:
        """Make a call as the model wrote it; return its result, whether it failed and whether the state changed."""
        before = self.state()
        try:
            result = self._made(name, written)
            return result, False, self.state() != before
        except Refused as error:
            return f"Error: {error}", True, self.state() != before

    def _made(self, name: str, written: str) -> str:
        if not self.up:
            raise Refused("connection refused by sandbox:8080")
        if self.slow:
            self.slow -= 1
            raise Refused("timed out after 30 s")
        if name not in TOOLS:
            raise Refused(f"unknown tool {name}")
        try:
            given = json.loads(written)
        except ValueError as error:
            raise Refused("arguments are not valid JSON") from error
        for needed in TOOLS[name]["required"]:
            if needed not in given:
                raise Refused(f"missing argument {needed}")
        if "slot" in given and not isinstance(given["slot"], int):
            raise Refused("slot must be an integer")
        try:
            return str(getattr(self, name)(**given))
        except TypeError as error:
            raise Refused("wrong arguments") from error

    def list_files(self) -> str:
        return "\n".join(sorted(self.files))

    def read_file(self, path: str, lines: int = 0) -> str:
        if path not in self.files:
            raise Refused(f"no file {path}")
        text = self.files[path]
        return "\n".join(text.split("\n")[:lines]) if lines else text

    def write_file(self, path: str, text: str) -> str:
        self.files[path] = text
        return f"wrote {len(text)} characters"

    def delete_file(self, path: str) -> str:
        if self.files.pop(path, None) is None:
            raise Refused(f"no file {path}")
        return "deleted"

    def show_slots(self) -> str:
        return json.dumps({str(k): v or "free" for k, v in sorted(self.slots.items())})

    def book(self, slot: int, name: str, note: str = "") -> str:
        if self.slots.get(slot) != "":
            raise Refused(f"slot {slot} is taken")
        self.slots[slot] = name
        return f"slot {slot} is yours"

    def cancel(self, slot: int) -> str:
        if not self.slots.get(slot):
            raise Refused(f"slot {slot} is not booked")
        self.slots[slot] = ""
        return f"slot {slot} is free"

    def close(self, slot: int) -> None:
        """Take a slot out of the table for good."""
        self.slots.pop(slot, None)

    def calculate(self, a: float, b: float, sign: str) -> str:
        return f"{ {'+': a + b, '-': a - b, '*': a * b}[sign]:g}"

    def job_status(self, job: int) -> str:
        self.waits = max(0, self.waits - 1)
        return "pending" if self.waits else "finished"

    def run_checks(self) -> str:
        wanted = self.files.get("tests/expected.txt")
        good = wanted is None or self.files.get("setting.txt") == wanted
        return "all checks passed" if good else "1 check failed: setting.txt is not as expected"

    def shell(self, command: str) -> str:
        words = command.split()
        if words[:1] == ["rm"]:
            gone = [f for f in self.files if any(f == w or f.startswith(w.rstrip("/") + "/") for w in words[1:])]
            for name in gone:
                del self.files[name]
            return ""
        if words[:1] == ["pytest"]:
            return self.run_checks()
        return f"{words[0] if words else ''}: ok"


@dataclass(frozen=True)
class Task:
    """What is asked, from which state, and when it is solved."""

    kind: str
    prompt: str
    desk: Callable[[], Desk]
    solved: Callable[[Desk, str], bool]
    answer: str = ""
    slot: int = 0
    name: str = ""
    numbers: tuple[int, ...] = ()


NAMES = ("Ada", "Ben", "Chloe", "Dev", "Elif", "Femi", "Grace", "Hugo")
WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "knoll", "lagoon")


def task(kind: str, seed: int) -> Task:
    """Make the task number `seed` of a kind: book, sum, ask or repair."""
    return {"book": _book, "sum": _sum, "ask": _ask, "repair": _repair}[kind](Random(f"{kind}{seed}"), seed)


def _book(draw: Random, seed: int) -> Task:
    name, free = f"{draw.choice(NAMES)}-{seed}", draw.randrange(3, 9)
    taken = {k: "" if k == free else draw.choice(NAMES) for k in range(1, 10)}
    return Task(
        "book",
        f"Book the only free slot for {name}.",
        lambda: Desk(slots=dict(taken)),
        lambda desk, _: desk.slots.get(free) == name,
        slot=free,
        name=name,
    )


def _sum(draw: Random, seed: int) -> Task:
    numbers = tuple(draw.randrange(10, 300) for _ in range(3))
    total = str(sum(numbers))
    return Task(
        "sum",
        f"Add the numbers in data/in{seed}.txt and write the sum into out{seed}.txt.",
        lambda: Desk(files={f"data/in{seed}.txt": "\n".join(map(str, numbers)), "readme.txt": "numbers live in data"}),
        lambda desk, _: desk.files.get(f"out{seed}.txt") == total,
        answer=total,
        name=str(seed),
        numbers=numbers,
    )


def _ask(draw: Random, seed: int) -> Task:
    code = draw.choice(WORDS) + str(draw.randrange(100))
    filler = " ".join(draw.choice(WORDS) for _ in range(draw.randrange(60, 200)))
    return Task(
        "ask",
        f"Which code does notes/n{seed}.txt give for the door?",
        lambda: Desk(files={f"notes/n{seed}.txt": f"{filler} door code {code} {filler}"}),
        lambda _, said: code in said and len(said) < 200,
        answer=code,
        name=str(seed),
    )


def _repair(draw: Random, seed: int) -> Task:
    wanted = f"limit={draw.randrange(10, 90)}"
    return Task(
        "repair",
        f"The limit in setting.txt (job {seed}) is wrong. Repair it; run_checks says whether it is right.",
        lambda: Desk(
            files={"setting.txt": "limit=0", "tests/expected.txt": wanted, "notes.txt": f"we agreed on {wanted}"}
        ),
        lambda desk, _: desk.files.get("setting.txt") == wanted,
        answer=wanted,
        name=str(seed),
    )


SYSTEM = "You may call these tools:\n" + "\n".join(
    json.dumps({"type": "function", "function": {"name": name, "description": f"{name}.", "parameters": schema}})
    for name, schema in TOOLS.items()
)
"""The system prompt: tools as most chat templates list them, one JSON object a line."""

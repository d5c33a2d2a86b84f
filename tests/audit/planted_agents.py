"""The planted faults of agents and their twins: id and `fault` or `twin` -> how the samples are made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from firstbreak.audit.sample import Sample
from tests.audit.agent_play import Plan, Play, honest

Maker = Callable[[], list[Sample]]
CASES: dict[tuple[str, str], Maker] = {}


def case(name: str, which: str = "fault") -> Callable[[Maker], Maker]:
    def keep(make: Maker) -> Maker:
        CASES[name, which] = make
        return make

    return keep


def healthy(seed: int = 0) -> list[Sample]:
    return Plan(seed=seed, tokens="own").samples()


# --- calls ---


def show_off(play: Play) -> None:
    for _ in range(play.draw.randrange(4, 10)):
        play.call("job_status", job=play.draw.randrange(10_000))
    honest(play)


@case("calls-for-show")
def _() -> list[Sample]:
    return Plan(show_off, cap=40, reward=lambda p: float(p.solved) + 0.1 * p.calls).samples()


def thorough(play: Play) -> None:
    if play.task.kind in ("sum", "repair"):
        play.call("list_files")
        for path in list(play.desk.files):
            play.call("read_file", path=path)
    honest(play)


@case("calls-for-show", "twin")
def _() -> list[Sample]:
    return Plan(thorough, cap=40).samples()


def idle_writes(play: Play) -> None:
    path = play.draw.choice(list(play.desk.files))
    for _ in range(9):
        play.call("write_file", path=path, text=play.desk.files[path])
    honest(play)


@case("no-effect-calls")
def _() -> list[Sample]:
    return Plan(idle_writes, ("sum", "repair"), cap=30).samples()


@case("no-effect-calls", "twin")
def _() -> list[Sample]:
    return Plan(kinds=("ask",)).samples()


class Thrice(Play):
    """Makes every call three times."""

    def raw(self, name: str, written: str) -> str:
        return [Play.raw(self, name, written) for _ in range(3)][-1]


def thrice(play: Play) -> None:
    play.__class__ = Thrice
    honest(play)


@case("repeated-identical-calls")
def _() -> list[Sample]:
    return Plan(thrice, ("ask", "sum"), cap=60).samples()


def polling(play: Play) -> None:
    play.desk.waits = play.draw.randrange(3, 7)
    while play.call("job_status", job=7) == "pending":
        pass
    honest(play)


@case("repeated-identical-calls", "twin")
def _() -> list[Sample]:
    return Plan(polling, cap=40).samples()


class Slipshod(Play):
    """Writes a third of its calls wrong, by `way`."""

    way = ""

    def raw(self, name: str, written: str) -> str:
        if self.draw.random() < 0.34:
            Play.raw(self, *self.wrong(name, written))
        return Play.raw(self, name, written)

    def wrong(self, name: str, written: str) -> tuple[str, str]:
        if self.way == "tool":
            return self.draw.choice(("search_web", "open_url", "read-file")), written
        if self.way == "json":
            return name, written[:-1]
        given = json.loads(written)
        for key, value in given.items():
            if isinstance(value, int):
                return name, json.dumps(given | {key: str(value)})
        return ("read_file", "{}") if not given else (name, json.dumps(dict(list(given.items())[1:])))


def slipshod(way: str) -> Callable[[Play], None]:
    def policy(play: Play) -> None:
        play.__class__ = type("Wrong", (Slipshod,), {"way": way})
        honest(play)

    return policy


@case("unknown-tool")
def _() -> list[Sample]:
    return Plan(slipshod("tool"), cap=40).samples()


def every_tool(play: Play) -> None:
    if play.draw.random() < 0.05:
        play.call("shell", command="date")
    honest(play)


@case("unknown-tool", "twin")
def _() -> list[Sample]:
    return Plan(every_tool).samples()


@case("arguments-not-json")
def _() -> list[Sample]:
    return Plan(slipshod("json"), cap=40).samples()


@case("arguments-not-json", "twin")
def _() -> list[Sample]:
    return [plain_text(s) for s in Plan(system="Write `tool: text`.").samples()]


def plain_text(sample: Sample) -> Sample:
    """The same episode in a log whose tools take text."""

    def plain(written: str) -> str:
        return " ".join(map(str, json.loads(written).values()))

    turns = [replace(t, calls=tuple(replace(c, arguments=plain(c.arguments)) for c in t.calls)) for t in sample.turns]
    return replace(sample, turns=tuple(turns))


@case("arguments-against-schema")
def _() -> list[Sample]:
    return Plan(slipshod("schema"), cap=40).samples()


def optional(play: Play) -> None:
    if play.task.kind == "sum":
        play.call("read_file", path="readme.txt", lines=1)
    play.call("calculate", a=2, b=0.5, sign="*")
    honest(play)


@case("arguments-against-schema", "twin")
def _() -> list[Sample]:
    return Plan(optional).samples()


def all_fine(play: Play) -> None:
    play.masks = False


@case("failed-recorded-as-success")
def _() -> list[Sample]:
    return Plan(lambda p: honest(p, slips=0.6), prepare=all_fine).samples()


def log_reader(play: Play) -> None:
    play.desk.files["app.log"] = "12:00 start\n12:01 error: disk full\n12:02 Error: again\nfailed 3 times"
    play.call("read_file", path="app.log")
    honest(play)


@case("failed-recorded-as-success", "twin")
def _() -> list[Sample]:
    return Plan(log_reader).samples()


# --- after an error, and in rounds ---


def stubborn(play: Play) -> None:
    if play.draw.random() < 0.6:
        for _ in range(play.cap):
            play.call("read_file", path="missing.txt")
    honest(play)


@case("never-recovers")
def _() -> list[Sample]:
    return Plan(stubborn).samples()


def flaky(play: Play) -> None:
    if play.draw.random() < 0.6:
        play.desk.slow = 1
        play.call("list_files")
        play.call("list_files")
    honest(play)


@case("never-recovers", "twin")
def _() -> list[Sample]:
    return Plan(flaky).samples()


def dithering(play: Play) -> None:
    if play.draw.random() < 0.34:
        while True:
            play.call("book", slot=play.task.slot, name=play.task.name)
            play.call("cancel", slot=play.task.slot)
    honest(play)


@case("two-state-loop")
def _() -> list[Sample]:
    return Plan(dithering, ("book",)).samples()


def copier(play: Play) -> None:
    for number in range(4):
        play.desk.files[f"a{number}.txt"] = f"text {number}"
        play.call("write_file", path=f"b{number}.txt", text=play.call("read_file", path=f"a{number}.txt"))
    honest(play)


@case("two-state-loop", "twin")
def _() -> list[Sample]:
    return Plan(copier, cap=40).samples()

"""The first call from which an episode could no longer succeed, by a function of the user's that knows.

`solvable(state)` gets what the log holds of the beginning of an episode, as plain data: `{"prompt", "calls": [{"name",
"arguments", "result"}]}`. It replays the calls in the user's environment, or works the answer out, and says whether the
task can still be done. It runs in a child process with limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...isolation import How, Limits, run
from ...isolation.child import Wire
from ...target import load_target
from ..sample import Sample
from .episode import episode_of

TASK = f"{__name__}:answer_in_child"
LIMITS = Limits(seconds=300.0, silence_s=30.0)
MOST_EPISODES = 200
"""Episodes that are put to the oracle in one go. Engineering default."""


@dataclass(frozen=True)
class Verdict:
    """What an oracle says of one episode."""

    row: int
    calls: int
    first_lost: int | None = None
    """The first call, from 1, after which the task could not be done; 0: it could not be done from the start."""
    wavers: bool = False
    """Whether the oracle called a later state solvable again: it contradicts itself, or others change the state too."""


@dataclass(frozen=True)
class Answers:
    """The verdicts of one question to an oracle, and why it ended early if it did."""

    verdicts: tuple[Verdict, ...]
    trouble: str = ""


def ask(oracle: str, samples: Sequence[Sample], limits: Limits | None = None) -> Answers:
    """Put the beginnings of unsuccessful `samples` to the oracle `module:fn`.

    Raises:
        InputError: no such module, or what it names cannot be called.
        UnknownNameError: the module holds no such name.
    """
    rows = [s for s in samples if s.success is not True and episode_of(s) is not None][:MOST_EPISODES]
    found: list[Verdict] = []

    def hear(message: dict[str, Any]) -> None:
        if message["kind"] == "verdict":
            number: int = message["number"]
            found.append(verdict(rows[number].row, [bool(s) for s in message["said"]]))

    payload = {"oracle": oracle, "episodes": [_plain(s) for s in rows]}
    ending = run(TASK, payload, limits=limits or LIMITS, hear=hear)
    trouble = "" if ending.how is How.FINISHED else f"{ending.how.value}: {ending.message}"[:300]
    return Answers(tuple(found), trouble)


def verdict(row: int, said: Sequence[bool]) -> Verdict:
    """Return the verdict on an episode from what the oracle said before the first call and after each."""
    lost = next((i for i, good in enumerate(said) if not good), None)
    return Verdict(row, len(said) - 1, lost, lost is not None and any(said[lost:]))


def _plain(sample: Sample) -> dict[str, Any]:
    episode = episode_of(sample)
    calls = () if episode is None else episode.calls
    made = [{"name": c.made.name, "arguments": c.made.arguments, "result": c.made.result} for c in calls]
    return {"prompt": sample.prompt, "calls": made}


def answer_in_child(payload: Mapping[str, Any], wire: Wire) -> None:
    """Ask the oracle in a child process; tell one message an episode."""
    solvable = load_target(payload["oracle"])
    if not callable(solvable):
        raise InputError(f"{payload['oracle']} is not a function.", "Write one that takes a state: def solvable(state)")
    for number, episode in enumerate(payload["episodes"]):
        calls = episode["calls"]
        said = [bool(solvable({"prompt": episode["prompt"], "calls": calls[:n]})) for n in range(len(calls) + 1)]
        wire.tell("verdict", number=number, said=said)

"""Plays agents in the desk world and turns their episodes into samples, as a tool-using rollout would log them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from firstbreak.audit.sample import NAN, Sample, Tokens, ToolCall, Turn
from tests.audit.desk import SYSTEM, Desk, Task, task

Policy = Callable[["Play"], None]
CAP = 12
"""Turns of the model."""


class Over(Exception):
    """The turn cap is reached."""


@dataclass
class Play:
    """One episode under way."""

    task: Task
    draw: Random
    progress: float
    """Where in training it is, 0 to 1."""
    cap: int = CAP
    desk: Desk = field(default_factory=Desk)
    turns: list[Turn] = field(default_factory=list)
    said: str = ""
    unit_cost: float = 1.0
    masks: bool = True
    """Whether the log's `failed` flags are right; set False for a wrapper that always says fine."""

    def call(self, name: str, /, **given: Any) -> str:
        return self.raw(name, json.dumps(given))

    def raw(self, name: str, written: str) -> str:
        if sum(t.role == "assistant" for t in self.turns) >= self.cap:
            raise Over
        result, failed, changed = self.desk.call(name, written)
        cost = self.unit_cost * self.draw.uniform(0.8, 1.2)
        made = ToolCall(name, written, result, failed and self.masks, changed, cost, len(self.turns))
        self.turns.append(Turn("assistant", self.draw.choice(THOUGHTS), (made,)))
        self.turns.append(Turn("tool", result))
        return result

    def say(self, text: str) -> None:
        if sum(t.role == "assistant" for t in self.turns) >= self.cap:
            raise Over
        self.said = text
        self.turns.append(Turn("assistant", text))

    @property
    def calls(self) -> int:
        return sum(len(t.calls) for t in self.turns)

    @property
    def solved(self) -> bool:
        return self.task.solved(self.desk, self.said)


THOUGHTS = (
    "Let me look first.",
    "Next step.",
    "I need one more thing before I go on with the task at hand.",
    "Trying this.",
    "The desk should know; asking it now, and then I shall see what is to be done.",
    "On to it.",
)
WAYS = {
    "book": ("Slot {slot} is booked for {name}.", "I have booked slot {slot} for {name}.", "Done: {name} has {slot}."),
    "sum": ("I wrote {answer} into the file.", "The sum {answer} has been saved.", "Done, the file holds {answer}."),
    "ask": ("The code is {answer}.", "It gives {answer} for the door.", "{answer}"),
    "repair": ("The setting is repaired.", "I have changed it and the checks pass.", "Done, the limit is right now."),
}


def closing(play: Play, answer: str = "") -> str:
    t = play.task
    return play.draw.choice(WAYS[t.kind]).format(slot=t.slot, name=t.name, answer=answer or t.answer)


def honest(play: Play, skill: float = 0.68, slips: float = 0.3) -> None:
    """Do the task; slip and mend now and then; with 1 - skill do it wrong without knowing."""
    {"book": _book, "sum": _sum, "ask": _ask, "repair": _repair}[play.task.kind](play, skill, slips)


def _book(play: Play, skill: float, slips: float) -> None:
    t = play.task
    if play.draw.random() < slips:
        play.call("book", slot=t.slot % 9 + 1, name=t.name)
    play.call("show_slots")
    right = play.draw.random() < skill
    play.call("book", slot=t.slot, name=t.name if right else t.name.split("-")[0])
    play.say(closing(play))


def _sum(play: Play, skill: float, slips: float) -> None:
    t = play.task
    if play.draw.random() < slips:
        play.call("read_file", path=f"in{t.name}.txt")
        play.call("list_files")
    play.call("read_file", path=f"data/in{t.name}.txt")
    first = play.call("calculate", a=t.numbers[0], b=t.numbers[1], sign="+")
    last = play.call("calculate", a=int(first), b=t.numbers[2], sign="+")
    right = last if play.draw.random() < skill else first
    play.call("write_file", path=f"out{t.name}.txt", text=right)
    play.say(closing(play, right))


def _ask(play: Play, skill: float, slips: float) -> None:
    t = play.task
    if play.draw.random() < slips:
        play.call("read_file", path=f"n{t.name}.txt")
        play.call("list_files")
    play.call("read_file", path=f"notes/n{t.name}.txt")
    play.say(closing(play, t.answer if play.draw.random() < skill else "amber0"))


def _repair(play: Play, skill: float, slips: float) -> None:
    t = play.task
    if play.draw.random() < slips:
        play.call("write_file", path="setting.txt", text="limit=5")
        play.call("run_checks")
    play.call("read_file", path="notes.txt")
    play.call("write_file", path="setting.txt", text=t.answer if play.draw.random() < skill else "limit=99")
    play.call("run_checks")
    play.say(closing(play))


@dataclass
class Plan:
    """Which episodes are played and how they are logged."""

    policy: Policy = honest
    kinds: tuple[str, ...] = ("book", "sum", "ask", "repair")
    prompts: int = 40
    per: int = 8
    steps: int = 10
    cap: int = CAP
    reward: Callable[[Play], float] | None = None
    scores: Callable[[Play], dict[str, float]] | None = None
    prepare: Callable[[Play], None] | None = None
    tokens: str = ""
    """`own`: only the model's tokens are in the loss; `all`: everything after the prompt."""
    system: str = SYSTEM
    told: Callable[[Task], str] | None = None
    """The prompt, where it is not the task's own."""
    seed: int = 0

    def samples(self) -> list[Sample]:
        return list(self._samples())

    def _samples(self) -> Iterable[Sample]:
        for number in range(self.prompts):
            what = task(self.kinds[number % len(self.kinds)], number)
            step = number * self.steps // self.prompts
            for turn in range(self.per):
                draw = Random(f"{self.seed}/{number}/{turn}")
                play = Play(what, draw, step / max(self.steps - 1, 1), self.cap, what.desk())
                if self.prepare:
                    self.prepare(play)
                with suppress(Over):
                    self.policy(play)
                yield self._sample(play, number, turn, step)

    def _sample(self, play: Play, number: int, turn: int, step: int) -> Sample:
        solved = play.solved
        asked = self.told(play.task) if self.told else play.task.prompt
        head = (Turn("system", self.system), Turn("user", asked))
        return Sample(
            asked,
            "\n".join(t.text for t in play.turns if t.role == "assistant"),
            float(solved) if self.reward is None else self.reward(play),
            row=number * self.per + turn,
            source="rollouts.jsonl",
            group=f"g{number}",
            step=float(step),
            scores=self.scores(play) if self.scores else {},
            success=solved,
            answer=play.task.answer,
            turns=(*head, *play.turns),
            tokens=_tokens(play, self.tokens) if self.tokens else None,
            truncated=None,
            length_tokens=NAN,
        )


def _tokens(play: Play, way: str) -> Tokens:
    """About four characters a token, drawn so that no count is exact."""
    mask: list[int] = []
    for turn in play.turns:
        text = turn.text + "".join(c.name + c.arguments for c in turn.calls)
        count = 3 + max(1, round(len(text) / play.draw.uniform(3.4, 4.6)))
        mask += [int(turn.role == "assistant" or way == "all")] * count
    return Tokens(tuple(range(20 + len(mask))), 20, (*[0] * 20, *mask))

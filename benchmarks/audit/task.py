"""What a generator of honest samples gives: tasks that can be answered rightly, wrongly, briefly and at length."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Protocol


@dataclass(frozen=True)
class Task:
    """One prompt and the material to answer it."""

    prompt: str
    answer: str
    wrong: str
    """A plausible wrong answer."""
    words: tuple[str, ...]
    """Words of the topic."""
    steps: tuple[str, ...]
    """Sentences of the worked answer."""
    wrong_steps: tuple[str, ...]
    """The same, with the mistake that leads to `wrong`."""
    close: str
    """Sentence that states the answer, with {} for it."""
    more: tuple[str, ...]
    """Further true sentences of the task, many, each with content of its own."""
    lines: tuple[str, ...]
    """Parallel lines of one structure, each with its own numbers or names."""
    notes: tuple[str, ...] = field(default=())
    """What a careful answer adds: checks, remarks."""

    def write(self, rng: Random, right: bool, chars: int = 0) -> str:
        """Return an answer; of about `chars` characters if given, by leaving out or adding real content."""
        steps = list(self.steps if right else self.wrong_steps)
        close = self.close.format(self.answer if right else self.wrong)
        if not chars:
            steps += rng.sample(self.more, min(len(self.more), rng.choice((0, 0, 1, 1, 2, 3, 5))))
            steps += rng.sample(self.notes, rng.randint(0, min(1, len(self.notes))))
        else:
            steps = self.fill(rng, steps, chars - len(close))
        return join(rng, [*steps, close])

    def fill(self, rng: Random, steps: list[str], chars: int) -> list[str]:
        """Return `steps` shortened or lengthened to about `chars` characters."""
        while len(steps) > 1 and sum(map(len, steps)) > chars * 1.1 + 10:
            steps = steps[:-1]
        for extra in rng.sample(self.more, len(self.more)):
            if sum(map(len, steps)) + len(extra) > chars * 1.05:
                continue
            steps = [*steps, extra]
        return steps


class Family(Protocol):
    """A generator: makes tasks of one kind."""

    def __call__(self, rng: Random) -> Task:
        """Return a new task."""
        ...


def join(rng: Random, sentences: list[str]) -> str:
    """Set sentences as one paragraph or as several, as people do; code keeps its lines."""
    broken = rng.random() < 0.35
    text = ""
    for sentence in sentences:
        text += (
            ("\n" if "\n" in sentence or text.endswith("```") or (broken and rng.random() < 0.5) else " ")
            if text
            else ""
        )
        text += sentence
    return text

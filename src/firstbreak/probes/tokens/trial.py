"""`TokenTrial`: all trainings of one climb, and the answer of each rung. The subject of every token probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...check import Answer, Symptom
from ...finding import Link, Number, Skip
from .climbing import last_of
from .outcome import TokenOutcome
from .rung import TokenRung


@dataclass
class TokenTrial:
    """What came of a climb."""

    outcomes: list[TokenOutcome] = field(default_factory=list[TokenOutcome])

    @property
    def crashes(self) -> list[TokenOutcome]:
        """Trainings that did not end by themselves."""
        return [o for o in self.outcomes if o.ended not in ("finished", "not_asked")]


def judge(trial: TokenTrial, rung: TokenRung) -> Answer:
    """Say what the trainings on `rung` show."""
    mine = last_of(trial.outcomes, rung.name)
    if not mine:
        return Skip("was not reached", withholds=True)
    last = mine[-1]
    if last.ended == "not_asked":
        unlock = ("train(task, *, steps, seed, beta)",) if rung.wants_beta and "beta" in last.message else ()
        return Skip(last.message, unlock)
    if last.ended == "bad_policy" and "not finite" in last.message:
        evidence: dict[str, Number] = {"steps": last.steps}
        says = f"after {last.steps} steps the model's logits are not finite; the rung adds {rung.adds}"
        return Symptom(says, rung.name, evidence, link=Link.NUMERICS)
    if not last.finished:
        return Skip(f"the training did not end well: {last.ended}", ("token-trainer-fails",), withholds=True)
    if rung.state(last.numbers) == "right":
        return None
    mistake = rung.mistake([o.numbers for o in mine if o.finished])
    return Symptom(
        f"{mistake.says}: {rung.shows} {_two(last.numbers[rung.shows])}, expected {rung.expected}",
        rung.name,
        {**_plain(last.numbers), "steps": last.steps, "trainings": len(mine)},
        component=mistake.component,
        link=mistake.link,
    )


def _two(number: float) -> str:
    return f"{number:.2g}"


def _plain(numbers: Mapping[str, float]) -> dict[str, Number]:
    return {name: round(value, 4) for name, value in numbers.items()}

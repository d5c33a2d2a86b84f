"""Stages of an experiment: trials in a cheap form first, in a dearer one only where those leave the hypothesis open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .plan import Plan, Protocol, plan
from .result import Outcome, Result, Why

if TYPE_CHECKING:
    from .experiment import Experiment
    from .subject import Subject

LEFT_OPEN = (Why.NOT_REPRODUCED, Why.TOO_FEW_SEEDS, Why.NOT_SENSITIVE, Why.TRIALS_FAILED)
"""After these another form of the trials may still decide. A seed that is ignored is ignored in any form."""


@dataclass(frozen=True)
class Stage:
    """One form of the trials, the same in both arms.

    What the arms differ in is never part of it: the changed variable is that of the experiment in every stage.
    """

    words: str = ""
    """How the trials are made, as a sentence of the verdict; "" where they are as the subject has it."""
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Laid over what the subject was given, so that it crosses to the child and is recorded with the plan."""
    alpha_frac: float = 1.0
    """Its part of the error. Along any way through the stages the parts add up to 1 at most (Bonferroni)."""
    most: int | None = None
    """Pairs of seeds at most, where that is fewer than the protocol allows."""

    def plan(self, one: Experiment, subject: Subject, protocol: Protocol, made: str) -> Plan:
        """Return the plan of this stage."""
        most = protocol.most if self.most is None else min(self.most, protocol.most)
        mine = replace(protocol, alpha=self.alpha_frac * protocol.alpha, most=most)
        return plan(one, replace(subject, given={**subject.given, **self.given}), mine, made)

    def said(self, result: Result) -> Result:
        """Return a result of this stage that says how it was made."""
        return replace(result, words=f"{result.words} {self.words}") if self.words else result


def next_stage(one: Experiment, subject: Subject, made: Sequence[Result]) -> Stage | None:
    """Return how the next trials are made, or None when there is nothing more to be made."""
    if made and (made[-1].outcome is not Outcome.INCONCLUSIVE or made[-1].why not in LEFT_OPEN):
        return None
    if one.stages is None:
        return None if made else Stage()
    return one.stages(subject, made)


def together(made: Sequence[Result]) -> Result:
    """Return the last result that says something, with the cost of all stages and what the others came to."""
    last = next((one for one in reversed(made) if one.why is not Why.TRIALS_FAILED), made[-1])
    others = tuple(f"left open by another stage: {one.words.split('. ')[0]}." for one in made if one is not last)
    return replace(
        last,
        notes=tuple(dict.fromkeys((*last.notes, *others))),
        trials=sum(one.trials for one in made),
        seconds=sum(one.seconds for one in made),
        cpu_s=sum(one.cpu_s for one in made),
        env_steps=sum(one.env_steps for one in made),
    )

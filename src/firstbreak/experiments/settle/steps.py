"""What to do next about a diagnosis: experiments with their exact command, and looks made by hand with their recipe."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...diagnosis import Confirmation, Diagnosis
from ...patches import Patch, patches_for
from ...runlog import RunLog
from ..experiment import Experiment, Need
from ..subject import Subject
from .as_run import as_the_run
from .choosing import Proposal, propose
from .settled import Settled
from .ties import BY_HAND, PARTS, TIES

PATCHES = {"sync-vs-async": "synchronous", "longer-cap": "longer-responses"}
"""Experiment -> the kind of configuration change that is its changed arm, where a framework has one."""


@dataclass(frozen=True)
class Step:
    """One experiment of the catalogue, ready to be made."""

    proposal: Proposal
    command: str
    """As it is typed; what the subject does not offer yet stands in capitals."""
    lacks: tuple[Need, ...]
    """What is still to be given."""
    recipe: str
    """How a cause puts it in words, for making it by hand; empty where none does."""
    patches: tuple[Patch, ...] = ()
    """The changed arm in the keys of the run's own framework."""

    @property
    def ready(self) -> bool:
        """Whether the command can be run as it stands."""
        return not self.lacks


@dataclass(frozen=True)
class ByHand:
    """A look that no experiment of the catalogue makes."""

    cause: str
    look: Confirmation
    reason: str
    """Why it is made by hand; empty where a command makes it."""


def next_steps(settled: Settled, subject: Subject, run: str) -> tuple[Step, ...]:
    """Return the experiments worth making next, the most telling for its cost first."""
    return tuple(_step(p, settled.diagnosis, subject, run) for p in propose(settled.diagnosis, settled.used))


def subject_for(proposal: Proposal, subject: Subject, log: RunLog) -> Subject:
    """Return what a proposal is made of: the subject, with what log and causes give. The user's own word counts for
    what the log tells, not for what makes it the causes' experiment.
    """
    own = {k: v for k, v in proposal.given.items() if k in PARTS.get(proposal.experiment.name, ())}
    trains = any(need.name == "trainer" for need in proposal.experiment.needs)
    subject = as_the_run(subject, log) if trains else subject
    return replace(subject, given={**proposal.given, **subject.given, **own})


def by_hand(diagnosis: Diagnosis) -> tuple[ByHand, ...]:
    """Return the looks that the causes of `diagnosis` ask for and the catalogue does not make, each once."""
    found: dict[str, ByHand] = {}
    for cause in diagnosis.causes:
        for look in cause.confirm_with:
            if look.experiment not in TIES and look.experiment not in found:
                reason = "" if look.command else BY_HAND.get(look.experiment, "")
                found[look.experiment] = ByHand(cause.name, look, reason)
    return tuple(found.values())


def _step(proposal: Proposal, diagnosis: Diagnosis, subject: Subject, run: str) -> Step:
    one = proposal.experiment
    subject = subject_for(proposal, subject, diagnosis.log)
    kind = PATCHES.get(one.name, "")
    return Step(
        proposal=proposal,
        command=command_of(one, subject, run),
        lacks=tuple(need for need in one.needs if not subject.offers(need.name)),
        recipe=_recipe(proposal, diagnosis),
        patches=patches_for(kind, diagnosis.log) if kind else (),
    )


def _recipe(proposal: Proposal, diagnosis: Diagnosis) -> str:
    """Return how the first cause that asks for the experiment puts it; empty where none does in words of its own."""
    for cause in diagnosis.causes:
        for look in cause.confirm_with:
            tie = TIES.get(look.experiment)
            if tie is not None and tie.label == proposal.label and cause.name in proposal.speaks_to:
                return look.recipe
    return ""


def command_of(one: Experiment, subject: Subject, run: str) -> str:
    """Return the command that makes an experiment on `subject` and records it beside `run`, quoted for a shell.

    What it does not read is left out: it was given for other experiments.
    """
    wanted = {need.name for need in one.needs}
    words = ["firstbreak", "experiment", one.name]
    if subject.trainer or "trainer" in wanted:
        words.append(subject.trainer or "TRAINER")
    if subject.env or "env" in wanted:
        words += ["--env", subject.env or "ENV"]
    if subject.steps is not None:
        words += ["--steps", str(subject.steps)]
    words += [word for pair in _pairs(subject.settings) for word in ("--set", pair)]
    read = {name: value for name, value in subject.given.items() if one.reads(name)}
    given = {**read, **{n: n.upper() for n in sorted(wanted - {"trainer", "env"}) if not subject.offers(n)}}
    words += [word for pair in _pairs(given) for word in ("--with", pair)]
    return shlex.join([*words, "--run", run])


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in table.items()]

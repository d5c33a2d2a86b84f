"""What a cause is: a hypothesis that ties findings together. Causes are data; `firstbreak.causes` holds them.

A cause claims nothing by itself. `firstbreak.reasoning` scores it against what fired, what was clear and what came
first, and a report prints it with its rivals and with the experiment that would prove or refute it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .finding import Component, Link

OUTER = (Link.ENVIRONMENT_DATA, Link.EVALUATION_PROTOCOL, Link.REWARD_SIGNAL)
"""The looks that come before touching the algorithm: is the world real, is the yardstick fixed, is the reward right?"""


@dataclass(frozen=True)
class Experiment:
    """A small experiment: its `name`, and a `recipe` that says what to change and what to expect.

    `evidence` is the kind of evidence it yields (see `EVIDENCE`), for answers of the form "cannot decide without X".
    `command` makes the look by itself, where firstbreak can; words in capitals are for the user to fill in.
    """

    name: str
    recipe: str
    evidence: str = "controlled_run"
    command: str | None = None


EVIDENCE: dict[str, str] = {
    "controlled_run": "a short paired run with one change",
    "zero_lr_run": "a run with learning rate 0, in which nothing may move",
    "samples": "raw behaviour samples with the scorer's output",
    "baseline_score": "the score of the untrained model or of a random and an expert policy under the same protocol",
    "metric": "a metric that was not logged",
    "fixed_batch": "one recorded batch, evaluated again",
    "code": "a look at (or an invariant check of) the code of one component",
    "repeats": "the same run with other seeds",
    "tokens": "token ids and masks of a few sequences",
    "profile": "a time trace of the phases of one step",
    "finite_check": "isfinite, minimum and maximum of each term before it is summed",
    "bisect": "a bisection over versions or configuration flags",
}
"""Kinds of evidence that experiments yield."""


@dataclass(frozen=True)
class Fix:
    """One remedy; `requires` names links further out that must have been looked at before it is worth trying."""

    text: str
    requires: tuple[Link, ...] = ()
    needs_past: bool = False
    """True for a roll-back: it makes no sense for a run that was broken from its first update."""
    patch: str = ""
    """The kind of configuration change that does it (see `firstbreak.patches`), where a framework has one."""


@dataclass(frozen=True)
class Cause:
    """A hypothesis about one link.

    `explains` gives for each rule name how strongly its firing speaks for this cause (3 decisive, 1 typical, 0.5 a
    usual consequence). `expects` gives rules that would have fired too, with the price of finding them clear. Unless
    one rule of `explains` with weight of at least 1 fired, the cause is not considered.
    """

    name: str
    link: Link
    component: Component
    summary: str
    explains: Mapping[str, float]
    experiments: tuple[Experiment, ...]
    fixes: tuple[Fix, ...]
    expects: Mapping[str, float] = field(default_factory=dict[str, float])
    separate_with: tuple[str, ...] = ()
    """Metrics (canonical names) or looks that tell this cause from its rivals."""

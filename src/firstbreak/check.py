"""The `@check` decorator: a check is one file with one question put to an environment, a reward or a trainer.

A rule reads a log; a check looks at the thing itself before a run. Both end in one of four ways, and both yield
findings. What a check looks at (its *subject*) depends on its family: recorded rollouts of an environment, a table of
rewards, the pieces of a trainer. The docstring of the decorated function is the page of the check.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .blame import blamed
from .errors import UnknownNameError, unknown_name
from .finding import Component, Link, Number, Onset, Severity, Skip

FAMILIES: dict[str, str] = {
    "environment": "firstbreak.preflight.environment.checks",
    "policy": "firstbreak.preflight.policy.checks",
    "reward": "firstbreak.preflight.reward.checks",
    "task": "firstbreak.preflight.task.checks",
    "data": "firstbreak.preflight.data.checks",
    "memory": "firstbreak.preflight.memory.checks",
    "invariants": "firstbreak.preflight.invariants.checks",
    "tokens": "firstbreak.preflight.tokens.checks",
    "probes": "firstbreak.probes.checks",
    "token-probes": "firstbreak.probes.tokens.checks",
    "samples": "firstbreak.audit.checks",
    "trajectories": "firstbreak.audit.trajectories.checks",
    "verifier": "firstbreak.audit.verifier.checks",
    "reward-model": "firstbreak.audit.reward_model.checks",
}
"""Families of checks and the folder that is the registry of each."""

LONGEST_MESSAGE = 120


@dataclass(frozen=True)
class Symptom:
    """What a check returns when it fires.

    `message` has at most 120 characters and carries a number with its unit; `evidence` holds the numbers, their names
    ending in the unit; `where` names the thing looked at (`observation[3]`, `reward`, `actor.0.weight`). `severity`,
    `component` and `link` override the check's own. `at` is the step of the episode, where it has one.
    """

    message: str
    where: str
    evidence: dict[str, Number] = field(default_factory=dict[str, Number])
    severity: Severity | None = None
    component: Component | None = None
    link: Link | None = None
    at: Onset | None = None


Answer = Symptom | Skip | None
"""Fired, cannot look, or clear."""


@dataclass(frozen=True)
class Check:
    """A registered check; see `check` for the fields."""

    code: str
    name: str
    link: Link
    component: Component
    severity: Severity
    fix: str
    look: Callable[[Any], Answer]
    explained_by: tuple[str, ...] = ()
    since: str = "0.1"
    module: str = ""
    doc: str = ""

    @property
    def claim(self) -> str:
        """The first sentence of the page."""
        return self.doc.strip().split("\n", 1)[0]

    @property
    def family(self) -> str:
        """The family whose folder holds the check."""
        return next((name for name, package in FAMILIES.items() if self.module.startswith(package + ".")), "")


def check(
    code: str,
    name: str,
    *,
    link: Link,
    component: Component,
    fix: str,
    severity: Severity = Severity.WARNING,
    explained_by: tuple[str, ...] = (),
    since: str = "0.1",
) -> Callable[[Callable[[Any], Answer]], Check]:
    """Turn a function `look(subject)` into a `Check`; its docstring is the check's page.

    Args:
        code: short stable alias, three letters of the family and three digits; never reused. Codes also order the
            checks: what is looked at first, and so named first, has the lower number.
        name: the fault in kebab case (`observation-not-finite`), never the remedy.
        fix: one line that says what to do first.
        explained_by: names of checks of the same family whose firing makes this one a consequence.
    """

    def register(function: Callable[[Any], Answer]) -> Check:
        return Check(
            code=code,
            name=name,
            link=link,
            component=component,
            severity=severity,
            fix=fix,
            look=function,
            explained_by=explained_by,
            since=since,
            module=function.__module__,
            doc=inspect.cleandoc(function.__doc__ or ""),
        )

    return register


@cache
def checks_of(family: str) -> tuple[Check, ...]:
    """Return every check of `family`, sorted by code.

    Raises:
        RuntimeError: two checks share a code or a name, or a module of the folder holds no check or several.
    """
    package = importlib.import_module(FAMILIES[family])
    found: list[Check] = []
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        here = [v for v in vars(module).values() if isinstance(v, Check) and v.module == info.name]
        if len(here) != 1:
            raise RuntimeError(f"{info.name} must hold exactly one check, found {len(here)}")
        found += here
    for attribute in ("code", "name"):
        values = [getattr(c, attribute) for c in found]
        twice = sorted({v for v in values if values.count(v) > 1})
        if twice:
            raise RuntimeError(f"checks share the {attribute} {', '.join(twice)}")
    return tuple(sorted(found, key=lambda c: c.code))


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check of every family, sorted by family and code."""
    return tuple(c for family in FAMILIES for c in checks_of(family))


def find_check(name: str) -> Check:
    """Return the check with this name or code.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
    """
    wanted = name.strip().lower()
    for candidate in all_checks():
        if wanted in (candidate.name, candidate.code.lower()):
            return candidate
    error = unknown_name("check", name, [c.name for c in all_checks()] + [c.code for c in all_checks()])
    raise UnknownNameError(error.message, error.hint or "List them: firstbreak checks")


@dataclass(frozen=True)
class Look:
    """How one check ended: exactly one of `symptom`, `skip` and `error` is set, or none when it is clear."""

    check: str
    symptom: Symptom | None = None
    skip: Skip | None = None
    error: str = ""


def look_at(one: Check, subject: Any) -> Look:
    """Put one check to `subject`; an exception of the check is recorded, never raised."""
    try:
        answer = one.look(subject)
    except Exception as error:
        return Look(one.name, error=blamed(error))
    if isinstance(answer, Symptom):
        return Look(one.name, symptom=answer)
    if isinstance(answer, Skip):
        return Look(one.name, skip=answer)
    return Look(one.name)


def look_at_all(family: str, subject: Any, tell: Callable[[Look], None] | None = None) -> list[Look]:
    """Put every check of `family` to `subject`, in order; `tell` hears of each as it ends."""
    looks: list[Look] = []
    for one in checks_of(family):
        looks.append(look_at(one, subject))
        if tell is not None:
            tell(looks[-1])
    return looks


def pack(look: Look) -> dict[str, Any]:
    """Return `look` as plain data, to cross a process boundary; `unpack` is its inverse."""
    from dataclasses import asdict

    return asdict(look)


def unpack(data: dict[str, Any]) -> Look:
    """Return the `Look` that `pack` turned into plain data."""
    symptom, skip = data.get("symptom"), data.get("skip")
    return Look(
        data["check"],
        symptom=None if symptom is None else _symptom(symptom),
        skip=None if skip is None else Skip(skip["reason"], tuple(skip["unlock_with"]), skip["withholds"]),
        error=data.get("error", ""),
    )


def _symptom(data: dict[str, Any]) -> Symptom:
    at = data.get("at")
    return Symptom(
        data["message"],
        data["where"],
        dict(data["evidence"]),
        severity=Severity(data["severity"]) if data.get("severity") else None,
        component=Component(data["component"]) if data.get("component") else None,
        link=Link(data["link"]) if data.get("link") else None,
        at=None if at is None else Onset(**at),
    )


def names_of(looks: Iterable[Look]) -> tuple[str, ...]:
    """Return the names of the checks that looked and were clear."""
    return tuple(k.check for k in looks if k.symptom is None and k.skip is None and not k.error)

"""The `@rule` decorator: a rule is one file with parameters, cases and one pure function.

See CONTRIBUTING.md for a walk-through. A rule never does I/O, reads no clock and draws no random numbers; the engine
skips it when its metrics are missing and isolates its failures.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar, cast

from .finding import Component, Detection, Link, Severity, Skip
from .runlog import RunLog
from .view import RunView

Answer = Detection | Skip | None
"""Fired, cannot look, or clear."""

P = TypeVar("P")


class Status(StrEnum):
    """How far a rule has earned its place: preview rules speak at `info` only, until a user gives them a severity."""

    STABLE = "stable"
    PREVIEW = "preview"
    DEPRECATED = "deprecated"


class Expect(StrEnum):
    """What a rule must say of a case."""

    FIRES = "fires"
    HEALTHY = "healthy"
    NEAR_MISS = "near_miss"


@dataclass(frozen=True)
class Case:
    """A synthetic run that a rule must fire on (`fires`) or stay clear of (`healthy`, `near_miss`)."""

    expect: Expect
    name: str
    run: Callable[[], RunLog]


def fires(name: str, run: Callable[[], RunLog]) -> Case:
    """Declare a run that the rule must fire on."""
    return Case(Expect.FIRES, name, run)


def healthy(name: str, run: Callable[[], RunLog]) -> Case:
    """Declare a healthy run that the rule must stay clear of."""
    return Case(Expect.HEALTHY, name, run)


def near_miss(name: str, run: Callable[[], RunLog]) -> Case:
    """Declare a run that looks alike and is not a case of the pathology."""
    return Case(Expect.NEAR_MISS, name, run)


@dataclass(frozen=True)
class Rule:
    """A registered rule; see `rule` for the fields."""

    code: str
    name: str
    link: Link
    component: Component
    severity: Severity
    detect: Callable[[RunView, Any], Answer]
    params: Any
    cases: tuple[Case, ...]
    needs: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    needs_config: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    min_points: int = 1
    static: bool = False
    across_phases: bool = False
    with_loss: bool = False
    status: Status = Status.STABLE
    since: str = "0.1"
    implies: tuple[str, ...] = ()
    module: str = ""
    doc: str = ""

    @property
    def claim(self) -> str:
        """The first sentence of the page."""
        return self.doc.strip().split("\n", 1)[0]

    @cached_property
    def param_docs(self) -> dict[str, str]:
        """The page of each parameter; read from the source when first asked for, since parsing hundreds takes time."""
        return field_docs(cast(type[Any], type(self.params)))

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Every metric the rule may look at, required ones first."""
        seen = dict.fromkeys(self.needs)
        for group in self.any_of:
            seen.update(dict.fromkeys(group))
        return tuple(seen)

    @cached_property
    def params_hash(self) -> str:
        """Eight hex digits that change when a parameter does."""
        return hashlib.sha256(repr(sorted(asdict(self.params).items())).encode()).hexdigest()[:8]


def rule(
    code: str,
    name: str,
    *,
    link: Link,
    component: Component,
    params: P,
    cases: tuple[Case, ...],
    severity: Severity = Severity.WARNING,
    needs: tuple[str, ...] = (),
    any_of: tuple[tuple[str, ...], ...] = (),
    needs_config: tuple[str, ...] = (),
    when: tuple[str, ...] = (),
    min_points: int = 1,
    static: bool = False,
    across_phases: bool = False,
    with_loss: bool = False,
    status: Status = Status.STABLE,
    since: str = "0.1",
    implies: tuple[str, ...] = (),
) -> Callable[[Callable[[RunView, P], Answer]], Rule]:
    """Turn a function `detect(view, params)` into a `Rule`; its docstring is the rule's page.

    Args:
        code: short stable alias, three letters of the link and three digits (`POL001`); never reused.
        name: the pathology in kebab case (`kl-overshoot`), never the remedy.
        needs: metrics that must all be present; `any_of`: groups of which one metric each must be present.
        needs_config: canonical configuration keys that must be known.
        when: algorithm traits that must hold (see `firstbreak.vocabulary.TRAITS`); an unknown algorithm passes.
        min_points: finite points that the first needed metric must have, else the rule is skipped; with 0 it looks at
            metrics without a finite value as well (`view.logged`).
        static: valid from single rows (invariant, hard bound, configuration); lifts the advice gate.
        across_phases: the rule may pool statistics over phase boundaries.
        with_loss: trainings that do well show it, too: while the return is not lost, a monitor keeps a warning of it
            for the report and raises no alarm. For rules that alarmed on a healthy training and without which every
            recorded fault was named in time.
        implies: names of rules whose firing is a consequence of this one when it does not come earlier.
    """

    def register(function: Callable[[RunView, P], Answer]) -> Rule:
        if not is_dataclass(params) or isinstance(params, type):
            raise TypeError(f"rule {name}: params must be an instance of a frozen dataclass")
        return Rule(
            code=code,
            name=name,
            link=link,
            component=component,
            severity=severity,
            detect=function,
            params=params,
            cases=cases,
            needs=needs,
            any_of=any_of,
            needs_config=needs_config,
            when=when,
            min_points=min_points,
            static=static,
            across_phases=across_phases,
            with_loss=with_loss,
            status=status,
            since=since,
            implies=implies,
            module=function.__module__,
            doc=inspect.cleandoc(function.__doc__ or ""),
        )

    return register


def field_docs(cls: type[Any]) -> dict[str, str]:
    """Return the string literal under each field of a dataclass, keyed by field name."""
    import ast

    try:
        source = inspect.getsource(cls)
    except OSError:
        return {}
    body = ast.parse(inspect.cleandoc(source) if source[:1].isspace() else source).body[0]
    assert isinstance(body, ast.ClassDef)
    docs: dict[str, str] = {}
    for statement, following in zip(body.body, [*body.body[1:], ast.Pass()], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            docs[statement.target.id] = inspect.cleandoc(str(following.value.value))
    return {f.name: docs.get(f.name, "") for f in fields(cls)}

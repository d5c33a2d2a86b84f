"""The rules, asked again and again about a growing run. What a rule says is what it says of the same prefix later."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ..engine import Ending, Outcome, as_finding, latch, points_short, scopes, why_not
from ..finding import Detection, Finding, Severity, Skip
from ..rule import Answer, Rule, Status
from ..runlog import RunLog
from ..series import Scope
from ..view import RunView

PASSES = ("needs ", "no finite value of ")
"""How the reasons begin that more points may end; a metric that is not logged comes only with a new version."""

LOSS = ("return-collapse", "return-falls-at-once", "return-below-start", "return-goes-silent", "reward-steps-down")
"""Rules that say that the return was lost."""


@dataclass(frozen=True)
class Seen:
    """What one rule says of one scope at one look, where it fires."""

    rule: Rule
    finding: Finding
    """As of this look; the first firing is what stays in the diagnosis."""
    fresh: bool
    """It did not fire at the last look, or not as gravely."""


@dataclass
class State:
    """What is held of one rule between looks."""

    rule: Rule
    latched: dict[Scope, Finding] = field(default_factory=dict[Scope, Finding])
    firing: dict[Scope, int] = field(default_factory=dict[Scope, int])
    """Severity at the last look, of scopes in which it fired then."""
    last: Answer = None
    skip: Skip | None = None
    looked: bool = False
    dormant_at: int = -1
    """Version of the history at which what it needs was not logged."""
    waits_for: tuple[int, float] = (-1, 0.0)
    """Version of the history at which it needs more points, and rows there must be until it can have them."""
    able_at: int = -1
    """Version of the history at which it could look at the whole run: what only grows, it can still look at."""
    error: str = ""


class Judge:
    """All chosen rules and what they have found so far."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.states = {rule.name: State(rule) for rule in rules}
        self._places: dict[str, list[int]] = {"": []}
        """Metric -> which of the rules look at it; `""` those that look at whatever is logged."""
        for place, rule in enumerate(rules):
            for metric in rule.metrics or ("",):
                self._places.setdefault(metric, []).append(place)
        self._in_order = list(self.states.values())

    def concerned(self, metrics: Collection[str], version: int, *, at_all: Collection[bool]) -> list[Rule]:
        """Return the rules that look at any of `metrics`, and of those that look at whatever is logged some.

        `at_all` says which: those that one row is enough for (True), or that ask whether it lasts (False). Rules in
        preview only take notes, of which nobody is told: for them the ticks of the post-mortem do.
        """
        places = {place for metric in metrics for place in self._places.get(metric, ())}
        places |= {place for place in self._places[""] if self._in_order[place].rule.static in at_all}
        asked = [self._in_order[place] for place in sorted(places)]
        awake = [s.rule for s in asked if s.dormant_at != version and not s.error]
        return [rule for rule in awake if rule.status is not Status.PREVIEW]

    def look(
        self, log: RunLog, version: int, rules: Sequence[Rule] | None = None, rows: float = float("inf")
    ) -> list[Seen]:
        """Ask `rules` (default: all) about `log`, the run so far, and return those that fire now.

        `rows` have come so far: what needs more points than they can have brought since it was asked last is not asked.
        By default all are.
        """
        view = RunView(log)
        states = self.states.values() if rules is None else [self.states[rule.name] for rule in rules]
        seen: list[Seen] = []
        for state in states:
            waits = state.waits_for[0] == version and state.waits_for[1] > rows
            if not state.error and state.dormant_at != version and not waits:
                seen += self._ask(state, view, version, rows)
        return seen

    def outcomes(self) -> list[Outcome]:
        """Return how each rule stands, as `engine.run_rules` would."""
        return [_outcome(state) for state in self.states.values()]

    def lost(self, log: RunLog) -> bool:
        """Return whether the return is lost as of the last look; True as well where none is logged that could tell."""
        told = [self.states[name] for name in LOSS if name in self.states]
        logged = {series.metric for series in log.series}
        fallen = any(gravity >= Severity.WARNING.rank for state in told for gravity in state.firing.values())
        return fallen or not any(logged & set(state.rule.metrics) for state in told)

    def forget(self, since: float) -> None:
        """Drop what was found after `since`, to whose row the run was rolled back."""
        for state in self.states.values():
            state.latched = {scope: f for scope, f in state.latched.items() if f.onset.hi <= since}
            state.firing.clear()
            state.able_at = -1

    def _ask(self, state: State, view: RunView, version: int, rows: float) -> list[Seen]:
        rule = state.rule
        if not view.log.series and not rule.needs_config:
            state.skip = Skip("the log holds no numbers with a known meaning")
            return []
        found: list[Seen] = []
        skips: list[Skip] = []
        candidates = scopes(rule, view.log)
        for scope in candidates:
            scoped = view.at(scope)
            if state.able_at != version or view.log.divided:
                skip = why_not(rule, scoped)
                if skip is not None:
                    skips.append(skip)
                    continue
                state.able_at = version
            try:
                state.last = rule.detect(scoped, rule.params)
            except Exception as error:
                state.error = f"{type(error).__name__}: {error}"
                return []
            state.looked = True
            found += self._fold(state, scoped)
        if len(skips) == len(candidates):
            state.skip = skips[-1]
            if not skips[-1].reason.startswith(PASSES):
                state.dormant_at = version
            elif all(skip.reason.startswith(PASSES[0]) for skip in skips):
                short = min(points_short(rule, view.at(scope)) for scope in candidates)
                state.waits_for = version, rows + short
        return found

    def _fold(self, state: State, view: RunView) -> list[Seen]:
        held = state.latched.get(view.scope)
        now = latch(held, state.rule, state.last, view)
        if now is not None:
            state.latched[view.scope] = now
        if not isinstance(state.last, Detection) or now is None:
            state.firing.pop(view.scope, None)
            return []
        gravity = (state.last.severity or state.rule.severity).rank
        fresh = gravity > state.firing.get(view.scope, -1)
        state.firing[view.scope] = gravity
        return [Seen(state.rule, as_finding(state.rule, state.last, view), fresh)]


def _outcome(state: State) -> Outcome:
    rule = state.rule
    if state.error:
        return Outcome(rule, Ending.ERROR, reason=state.error)
    if state.latched:
        return Outcome(rule, Ending.FIRED, tuple(state.latched.values()))
    skip = (
        state.last if isinstance(state.last, Skip) else None if state.looked else state.skip or Skip("not looked yet")
    )
    if skip is not None:
        return Outcome(rule, Ending.SKIPPED, reason=skip.reason, unlock_with=skip.unlock_with, withholds=skip.withholds)
    return Outcome(rule, Ending.CLEAR)

"""When the rules look at a growing run, and what becomes of what they see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite

from ..diagnosis import Diagnosis
from ..finding import Finding, Severity
from ..reasoning import reason
from ..rule import Rule
from ..runlog import RunLog
from .attention import Screens
from .guard import Guard
from .history import History
from .judge import Judge
from .rearmed import Rearmed
from .schedule import Schedule
from .verdict import Action, Alarm

Raised = tuple[list[Alarm], Action]


class Looks:
    """Looks at `history` when `schedule` says so, asks `judge`, and lets `guard` decide what it means.

    Args:
        timer: Seconds, monotone.
        fault: Hears of rules that failed.
    """

    def __init__(
        self,
        history: History,
        judge: Judge,
        guard: Guard,
        schedule: Schedule,
        timer: Callable[[], float],
        fault: Callable[[str], None],
    ) -> None:
        self._history, self._judge, self._guard, self._schedule = history, judge, guard, schedule
        self._timer, self._fault = timer, fault
        self._acting = [s.rule for s in judge.states.values() if guard.acts_on(s.rule) is not Action.CONTINUE]
        self._rearmed = Rearmed([state.rule for state in judge.states.values()])
        self._screens = Screens(history.kept, history.zero)
        self.looked_row = 0
        """Rows there were when all rules looked last."""

    def after_row(self, keys: tuple[str, ...], values: Sequence[float], row: int, at: float, wall: float) -> Raised:
        """Look after a row where it is time to, or where one of its values is new in kind.

        Rules that may act look at every row: an update that is to be left out must be seen at once. A rule that names
        no metric and is one look short of an alarm is asked at the next row: what broke a record broke it, however many
        rows come. What is said of a trend is to stand at the next tick.
        """
        odd = self._screens.odd(keys, values)
        moved = self._history.meant(odd) if odd else []
        if moved:
            self._schedule.attend(moved, self._screens.gross)
        if self._screens.drifted:
            self._schedule.heed(self._history.meant(self._screens.drifted))
        attended = self._schedule.partly(row, keys)
        if self._schedule.full(row):
            return self._at_all(row, at, wall, self._history.arrived)
        waiting = [self._judge.states[name].rule for name in self._guard.unsure(row)]
        unsure = [rule for rule in waiting if not rule.metrics]
        if not attended and not self._acting and not unsure:
            return [], Action.CONTINUE
        start = self._timer()
        log = self._history.late_log()
        metrics = self._history.metrics_of(sorted(attended))
        broken = not all(map(isfinite, values))
        # Rules that name no metric read whatever is logged, settings that moved among it.
        at_all = {True} if broken or moved else set[bool]()
        at_all |= {False} if self._schedule.lasted else set()
        concerned = self._judge.concerned(metrics, self._history.version, at_all=at_all) if attended else []
        rules = {rule.name: rule for rule in [*concerned, *self._acting, *unsure]}
        raised = self._ask(log, list(rules.values()), row, at, wall, self._history.arrived)
        self._schedule.looked(self._timer() - start, full=False)
        return raised

    def everything(self, row: int, at: float, wall: float) -> Raised:
        """Let every rule look, and say why it cannot where it cannot."""
        return self._at_all(row, at, wall, inf)

    def _at_all(self, row: int, at: float, wall: float, arrived: float) -> Raised:
        start = self._timer()
        self.looked_row = row
        every = [s.rule for s in self._judge.states.values()]
        raised = self._ask(self._history.late_log(), every, row, at, wall, arrived)
        self._schedule.looked(self._timer() - start, full=True)
        return raised

    def diagnosis(self) -> Diagnosis:
        """Reason over what was found so far."""
        return reason(self._history.log(), self._judge.outcomes())

    def grave(self) -> bool:
        """Whether an error, or what is to be rolled back, fires as of the last look."""
        return any(
            gravity >= Severity.ERROR.rank or self._guard.acts_on(state.rule) is Action.ROLL_BACK
            for state in self._judge.states.values()
            for gravity in state.firing.values()
        )

    def forget(self, step: float) -> None:
        """Drop what was found after `step`."""
        self._judge.forget(step)
        self._guard.forget()
        self._rearmed.forget()

    def _ask(self, log: RunLog, rules: Sequence[Rule], row: int, at: float, wall: float, arrived: float) -> Raised:
        seen = self._judge.look(log, self._history.version, rules, arrived)
        fresh = {(one.rule.name, one.finding.scope) for one in seen if one.fresh}
        again = self._rearmed.look(log, self._history.version, at)
        seen += [one for one in again if (one.rule.name, one.finding.scope) not in fresh]
        for rule in rules:
            error = self._judge.states[rule.name].error
            if error:
                self._fault(f"rule {rule.name} failed and is left out: {error}")
        known: list[Diagnosis] = []

        def causes(finding: Finding) -> tuple[str, bool]:
            if not known:
                known.append(reason(log, self._judge.outcomes()))
            found = next((f for f in known[0].findings if f.id == finding.id), finding)
            cause = next((c.name for c in known[0].causes if found.id in c.explains), "")
            return cause, found.consequence_of is not None

        asked = {rule.name for rule in rules}
        lost = not any(one.rule.with_loss for one in seen) or self._judge.lost(log)
        raised = self._guard.review(seen, asked, row, at, wall, causes, lost=lost)
        self._fault(self._guard.muted)
        for alarm in raised[0]:
            if alarm.action is Action.STOP_UPDATE:
                self._rearmed.acted(alarm.finding, log, at)
        return raised

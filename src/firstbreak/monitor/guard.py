"""From what fires to what is said and done: the user's policy, hysteresis, cooldown, one alert for one cause."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, cast

from ..config import Settings, suppress
from ..errors import InputError, unknown_name
from ..finding import Finding, Link, Severity
from ..rule import Rule
from ..series import Scope
from .judge import Seen
from .verdict import Action, Alarm

EVERYTHING = "*"
"""In `act`: every finding at error."""
LOOKS = 2
"""Looks in a row at which a trend must fire at warning before it is an alarm; hard bounds and errors need one."""
COOLDOWN_ROWS = 50
"""Rows before a finding that went away and came back is an alarm again. Engineering default."""
ALERTS_AN_HOUR = 12
"""Alerts sent in any hour; the rest are alarms that stay in the record. Engineering default."""
TOLD_FOR_S = 12 * 3600.0
"""Seconds for which what was told of a cause counts as told: whoever was alerted yesterday has dealt with it, and what
comes back is news. Engineering default."""

Causes = Callable[[Finding], tuple[str, bool]]
"""Finding -> (name of its likeliest cause or `""`, whether it follows from another finding)."""
Key = tuple[str, Scope]


@dataclass
class Memory:
    """What the guard remembers of one rule in one scope."""

    looks: int = 0
    """Looks in a row at which it fired."""
    raised_row: int = -1
    gravity: int = -1
    last_row: int = -1
    """Row of the last look at which it fired."""
    gone_row: int = -1
    """Row of the look at which it no longer fired."""
    again: bool = False
    """It fires again after it was gone for long."""


def policy(act: Mapping[str, str] | None, rules: Collection[Rule]) -> dict[str, Action]:
    """Check the user's policy: names of rules, links or `*` -> what to do.

    Raises:
        UnknownNameError: no such rule or link; InputError: no such action, or not names -> actions.
    """
    if act is not None and not isinstance(cast(Any, act), Mapping):
        raise InputError(f"act is a {type(act).__name__}.", 'Say what to do: act={"kl-overshoot": "stop_update"}.')
    names = {rule.name: rule.name for rule in rules} | {rule.code.lower(): rule.name for rule in rules}
    names |= {str(link): str(link) for link in Link} | {EVERYTHING: EVERYTHING}
    found: dict[str, Action] = {}
    for name, action in (act or {}).items():
        known = names.get(name) or names.get(str(name).lower())
        if known is None:
            error = unknown_name("rule or link", str(name), list(names))
            error.hint = error.hint or "`firstbreak rules` lists them; `*` is every finding at error."
            raise error
        try:
            found[known] = Action(action)
        except ValueError:
            choices = ", ".join(a.value for a in Action)
            raise InputError(f"act[{name!r}] = {action!r} is not an action.", f"It is one of {choices}.") from None
    return found


@dataclass
class Guard:
    """Decides which findings become alarms and what each asks for. `act` is off unless the user fills it."""

    act: Mapping[str, Action]
    settings: Settings
    run: str
    warm_up: int = 0
    _memory: dict[Key, Memory] = field(default_factory=dict[Key, Memory])
    _told: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    """Cause -> gravity of the alert sent for it, and when (seconds since the epoch)."""
    _sent: list[float] = field(default_factory=list[float])
    muted: str = ""
    """What to say once alerts were kept back because there were too many."""

    def forget(self) -> None:
        """Begin anew after a roll-back; what was told of a cause stays told."""
        self._memory.clear()

    def acts_on(self, rule: Rule) -> Action:
        """Return what the user wants done about `rule`, named itself or by its link."""
        return self._named(rule) or Action.CONTINUE

    def unsure(self, row: int) -> list[str]:
        """Return the rules that fired at one look before `row` and need one more to be an alarm."""
        found = [(name, memory) for (name, _), memory in self._memory.items() if memory.looks == LOOKS - 1]
        return [name for name, memory in found if memory.raised_row < 0 and row > memory.last_row]

    def review(
        self,
        seen: Sequence[Seen],
        asked: Collection[str],
        row: int,
        at: float,
        wall: float,
        causes: Causes,
        *,
        lost: bool,
    ) -> tuple[list[Alarm], Action]:
        """Turn what fires at one look into alarms and the gravest action.

        Args:
            seen: What fires.
            asked: Names of the rules that were asked.
            row: Rows so far.
            at: Position of the newest row.
            wall: Seconds since the epoch.
            causes: Reasons over all findings, called only when there is an alarm.
            lost: Whether the return is lost, or nobody can say that it is not.
        """
        firing = {(one.rule.name, one.finding.scope) for one in seen}
        for key, memory in self._memory.items():
            if key[0] in asked and key not in firing:
                memory.looks = 0
                memory.gone_row = row if memory.gone_row < 0 else memory.gone_row
        alarms: list[Alarm] = []
        action = Action.CONTINUE
        for one in sorted(seen, key=lambda s: -s.finding.severity.rank):
            finding = suppress(one.finding, self.run, self.settings, date.today())
            if finding.ignored or finding.severity is Severity.INFO or (row <= self.warm_up and not finding.static):
                continue
            if not lost and self._is_a_sign(one.rule, finding):
                continue
            raised = self._raise(one, finding, row)
            wanted = self._wanted(one.rule, finding) if raised or one.fresh else Action.CONTINUE
            if not self._confirmed(one, finding):
                continue
            action = max(action, wanted, key=lambda a: a.rank)
            if raised or wanted is not Action.CONTINUE:  # what is acted on again is on record again, and told when news
                cause, follows = causes(finding)
                alerted = self._tell(finding, cause, follows, wall)
                alarms.append(Alarm(finding, at, row, wall, wanted, cause, alerted))
        return alarms, action

    def _named(self, rule: Rule) -> Action | None:
        return self.act.get(rule.name, self.act.get(str(rule.link)))

    def _wanted(self, rule: Rule, finding: Finding) -> Action:
        named = self._named(rule)
        if named is None and finding.severity is Severity.ERROR:
            return self.act.get(EVERYTHING, Action.CONTINUE)
        return named or Action.CONTINUE  # `continue` for a rule or a link is an exception from `*`

    def _is_a_sign(self, rule: Rule, finding: Finding) -> bool:
        """Whether trainings that do well show it, too, and the user did not ask to have something done about it."""
        return rule.with_loss and finding.severity is not Severity.ERROR and self._named(rule) is None

    def _confirmed(self, one: Seen, finding: Finding) -> bool:
        memory = self._memory[one.rule.name, finding.scope]
        return finding.static or finding.severity is Severity.ERROR or memory.looks >= LOOKS

    def _raise(self, one: Seen, finding: Finding, row: int) -> bool:
        """Note that it fires; True when that is an alarm."""
        memory = self._memory.setdefault((one.rule.name, finding.scope), Memory())
        if memory.last_row != row:
            memory.looks += 1
        memory.last_row = row
        if memory.gone_row >= 0:
            memory.again = memory.again or row - memory.gone_row > COOLDOWN_ROWS
            memory.gone_row = -1
        gravity = finding.severity.rank
        if not self._confirmed(one, finding):
            return False
        if memory.raised_row >= 0 and gravity <= memory.gravity and not memory.again:
            return False
        memory.raised_row, memory.gravity, memory.again = row, gravity, False
        return True

    def _tell(self, finding: Finding, cause: str, follows: bool, wall: float) -> bool:
        gravity = finding.severity.rank
        name = cause or finding.name
        known, since = self._told.get(name, (-1, wall))
        told = known >= gravity and wall - since < TOLD_FOR_S  # a clock that was put back makes nothing news
        if told or (follows and finding.severity is not Severity.ERROR):
            return False
        self._sent = [t for t in self._sent if 0 <= wall - t < 3600]
        if len(self._sent) >= ALERTS_AN_HOUR:
            self.muted = (
                f"{ALERTS_AN_HOUR} alerts within an hour: further alarms are only kept, in `alarms` and the record"
            )
            return False
        self._told[name] = gravity, wall
        self._sent.append(wall)
        return True

"""What the training loop is told: the answer to its row, what came up beside it, and what holds until the end."""

from __future__ import annotations

from collections.abc import Sequence

from .verdict import Action, Alarm, Verdict, together

GO_ON = Verdict()


class Answers:
    """Makes verdicts of alarms. A verdict to stop training holds for every later row, until `anew`."""

    def __init__(self) -> None:
        self._late: list[Verdict] = []
        """Answers to rows from beside the loop, which it has not heard yet."""
        self._over = Action.CONTINUE

    def to(self, alarms: Sequence[Alarm], action: Action) -> Verdict:
        """Return the answer to a row that raised `alarms` and asks for `action`."""
        if action is Action.STOP_TRAINING:
            self._over = action
        if not alarms and action is self._over is Action.CONTINUE:
            return GO_ON
        return Verdict(max(action, self._over, key=lambda a: a.rank), tuple(alarms))

    def later(self, verdict: Verdict) -> None:
        """Keep an answer for the loop's next row."""
        if verdict is not GO_ON:
            self._late.append(verdict)

    def all_to(self, verdict: Verdict) -> Verdict:
        """Return `verdict` and what was kept for this row."""
        if not self._late:
            return verdict
        parts, self._late = [*self._late, verdict], []
        return together(parts)

    def anew(self) -> None:
        """Training was put back: nothing that was asked for holds any more."""
        self._late.clear()
        self._over = Action.CONTINUE

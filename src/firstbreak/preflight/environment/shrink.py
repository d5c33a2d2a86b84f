"""The shortest list of actions that still shows a fault: delta debugging under a budget of steps.

Zeller and Hildebrandt 2002, Simplifying and isolating failure-inducing input (ddmin).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def shortest(actions: Sequence[Any], fails: Callable[[list[Any]], bool], budget_steps: int = 20_000) -> list[Any]:
    """Return a short list of `actions` for which `fails` holds; `actions` itself when it does not fail again.

    First the shortest failing tail is sought, then blocks of halving size are left out. A fault that depends only on
    the number of steps stays as long as it is.
    """
    purse = _Purse(fails, budget_steps)
    best = list(actions)
    if not purse.fails(best):
        return best
    best = _tail(best, purse)
    return _fewer(best, purse)


class _Purse:
    """Counts the steps that trials cost; trials beyond the budget count as not failing."""

    def __init__(self, fails: Callable[[list[Any]], bool], steps: int) -> None:
        self._fails, self.left = fails, steps

    def fails(self, actions: list[Any]) -> bool:
        if self.left < len(actions):
            return False
        self.left -= max(1, len(actions))
        return self._fails(actions)


def _tail(actions: list[Any], purse: _Purse) -> list[Any]:
    """Return the shortest of the tails of length 1, 2, 4 ... that fails."""
    length = 1
    while length < len(actions):
        if purse.fails(actions[-length:]):
            return actions[-length:]
        length *= 2
    return actions


def _fewer(actions: list[Any], purse: _Purse) -> list[Any]:
    """Leave out blocks, halving their size, until no single action can be spared."""
    best, block = actions, max(1, len(actions) // 2)
    while len(best) > 1:
        at, shorter = 0, False
        while at < len(best) and len(best) > 1:
            trial = best[:at] + best[at + block :]
            if trial and purse.fails(trial):
                best, shorter = trial, True
            else:
                at += block
        if block == 1 and not shorter:
            break
        block = max(1, block // 2)
        if purse.left <= 0:
            break
    return best

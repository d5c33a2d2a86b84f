"""`Outcome`: what one training on one rung showed. Plain data, to cross a process boundary."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from ..logs.logged import Logged
from ..logs.logged import from_plain as log_from_plain
from ..logs.logged import to_plain as log_to_plain

Numbers = list[float]


DECLARES = "declares"
"""How the message of a training begins that was not made, since the trainer names other action spaces."""


@dataclass(frozen=True)
class Outcome:
    """One training: what was asked for, how it ended, and what the agent says in each state of the world."""

    rung: str
    kind: str
    seed: int
    factor: int
    """How many times the first try's steps were granted."""
    ended: str = "finished"
    """finished, refused (raised before the first step), raised, never_stops, too_slow, hung, out_of_memory, died,
    bad_agent; of a script also unseen (it ended well, but neither steps nor returns are known) and unasked (it was not
    run: from outside nothing shows what the rung asks for)."""
    message: str = ""
    trace: str = ""
    call: str = ""
    """What was under way when it failed: make_env, train, act, value, q."""
    steps: int = 0
    copies: int = 0
    seconds: float = 0.0
    gamma: float | None = None
    """The discount the trainer used, where it is known."""
    values: dict[int, float] = field(default_factory=dict[int, float])
    """V(s) of each state."""
    q: dict[int, Numbers] = field(default_factory=dict[int, Numbers])
    """Q(s, c) of each state [C]."""
    greedy: dict[int, Numbers] = field(default_factory=dict[int, Numbers])
    """The deterministic action in each state [A]."""
    greedy_varies: int = 0
    """In how many of the repeated calls the deterministic action differed from the first."""
    drawn: dict[int, list[Numbers]] = field(default_factory=dict[int, list[Numbers]])
    """Actions drawn in each state [N, A]."""
    tried: dict[str, int] = field(default_factory=dict[str, int])
    """How often each cell of each state was tried in training, keys `state,cell`."""
    late: dict[str, int] = field(default_factory=dict[str, int])
    """The same for the last quarter of the steps."""
    first_spread: Numbers = field(default_factory=list[float])
    """Standard deviation of the first quarter's actions, per dimension, in half-ranges of the Box."""
    temperature: float | None = None
    """The entropy temperature of a soft learner, where it says so."""

    log: Logged | None = None
    """What a black-box script wrote while it trained."""

    @property
    def finished(self) -> bool:
        """Whether the training ended and the agent answered."""
        return self.ended == "finished"

    @property
    def refused(self) -> bool:
        """Whether the trainer does not take this action space."""
        return self.ended == "refused"

    @property
    def undeclared(self) -> bool:
        """Whether it said beforehand that it does not take it, so that it was not tried."""
        return self.refused and self.message.startswith(DECLARES)


def to_plain(outcome: Outcome) -> dict[str, Any]:
    """Return `outcome` as JSON can hold it."""
    plain = {f.name: getattr(outcome, f.name) for f in fields(outcome)}
    return {**plain, "log": None if outcome.log is None else log_to_plain(outcome.log)}


def from_plain(data: dict[str, Any]) -> Outcome:
    """Return the `Outcome` that `to_plain` and JSON turned into plain data."""
    known = {f.name for f in fields(Outcome)}
    kept = {k: v for k, v in data.items() if k in known}
    for name in ("values", "q", "greedy", "drawn"):
        kept[name] = {int(k): v for k, v in kept.get(name, {}).items()}
    if kept.get("log") is not None:
        kept["log"] = log_from_plain(kept["log"])
    return Outcome(**kept)

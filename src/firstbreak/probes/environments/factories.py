"""The worlds of the ladder by name, and `make_…` factories for each: `make_env(world_name, kind)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import unknown_name
from .world import GOES_ON, TERMINATED, TRUNCATED, Kind, World, one_hot

if TYPE_CHECKING:
    from .automaton import Automaton

Rows = tuple[tuple[int, ...], ...]


def _same(rows: tuple[int, ...], cells: int = 2) -> Rows:
    return tuple((value,) * cells for value in rows)


def _paid(rewards: tuple[float, ...], cells: int = 2) -> tuple[tuple[tuple[float, ...], ...], ...]:
    return tuple(((r,),) * cells for r in rewards)


CONSTANT = World(
    "ConstantValue", one_hot(1), (0,), _paid((1.0,)), _same((0,)), _same((TERMINATED,))
)  # fmt: skip
"""One state, one step, reward 1."""

OBSERVED = World(
    "ValueFromObservation",
    ((-1.0,), (1.0,)),
    (0, 1),
    _paid((-1.0, 1.0)),
    _same((0, 1)),
    _same((TERMINATED, TERMINATED)),
    alternates=True,
)
"""Two states, one step, reward equal to the observation."""

DISCOUNTED = World(
    "Discounting",
    one_hot(4),
    (0,),
    _paid((0.0, 0.0, 1.0, 0.0)),
    _same((1, 2, 3, 3)),
    _same((GOES_ON, GOES_ON, TERMINATED, TERMINATED)),
)
"""Three steps in distinct states, reward 1 at the last; the final observation is a fourth."""

TERMINAL = World(
    "Terminal",
    one_hot(2),
    (0,),
    _paid((0.0, 1.0)),
    _same((1, 1)),
    _same((GOES_ON, TERMINATED)),
)
"""Two steps, reward 1 at the last, which terminates; the final observation is that of the last state."""

TIME_LIMIT = World(
    "TimeLimit",
    one_hot(2),
    (0,),
    _paid((0.0, 1.0)),
    _same((1, 1)),
    _same((GOES_ON, TRUNCATED)),
)
"""The twin of `TERMINAL` with a time limit in the place of the end: the state pays 1 for ever."""

BANDIT = World(
    "BanditAction",
    one_hot(1),
    (0,),
    (((0.0,), (0.0,), (1.0,)),),
    _same((0,), 3),
    _same((TERMINATED,), 3),
    graded=True,
)
"""One state, three actions, the last one pays; continuous: the higher the action, the better."""

BY_STATE = World(
    "ActionByState",
    ((-1.0,), (1.0,)),
    (0, 1),
    (((1.0,), (0.0,)), ((0.0,), (1.0,))),
    _same((0, 1)),
    _same((TERMINATED, TERMINATED)),
    alternates=True,
    graded=True,
)
"""Two states, two actions; the right one differs."""

ENDLESS = World(
    "LongEpisode",
    one_hot(8),
    (0,),
    _paid((0.5,) * 8),
    _same((1, 2, 3, 4, 5, 6, 7, 0)),
    _same((GOES_ON,) * 8),
)
"""An episode without end through eight states, reward 0.5 at each step."""

COPIES = World(
    "SeveralCopies",
    tuple((float(c == 0), float(c == 1), *(float(p == k) for k in range(4))) for c in (0, 1) for p in range(4)),
    (0, 4),
    _paid((0.0,) * 4 + (0.5,) * 4),
    _same((1, 2, 3, 0, 5, 6, 7, 4)),
    _same((GOES_ON,) * 8),
    by_copy=True,
)
"""Every second copy of this environment pays 0.5 at each step, the others nothing; episodes never end."""

DIMENSIONS = World(
    "ActionDimensions",
    one_hot(1),
    (0,),
    _paid((0.0,), 1),
    _same((0,), 1),
    _same((TERMINATED,), 1),
    low=(-2.0, -4.0),
    high=(4.0, 2.0),
    targets=(3.0, -3.0),
    choices=((2, 1), (3, 2)),
)
"""Two action dimensions that must move in opposite directions, in bounds that are not [-1, 1]."""

DELAYED = World(
    "DelayedCredit",
    one_hot(6),
    (0,),
    (((0.1,), (0.0,)), *(((r,), (r,)) for r in (0.0, 0.0, 0.0, 1.0, 0.0))),
    ((1, 2), (3, 3), (4, 4), (5, 5), (5, 5), (5, 5)),
    ((GOES_ON, GOES_ON), *(((GOES_ON,) * 2,) * 2), *(((TERMINATED,) * 2,) * 3)),
)
"""The first action pays 0.1 at once or 1 two steps later."""

NOISY = World(
    "StochasticReward",
    one_hot(1),
    (0,),
    (((1.75, 0.25), (1.75, 0.25)),),
    _same((0,)),
    _same((TERMINATED,)),
)
"""One step that pays 1.75 or 0.25 with equal chances; both within 1 of the mean, where a Huber loss is quadratic."""

RARE = World(
    "RareLargeReward",
    one_hot(1),
    (0,),
    (((0.125,), (1.0, 0.0, 0.0, 0.0)),),
    _same((0,)),
    _same((TERMINATED,)),
)
"""A sure 0.125, or 1 in one case of four; all within 1 of the mean, where a Huber loss is quadratic."""

MIXED = World(
    "Autoreset",
    one_hot(3),
    (0,),
    _paid((1.0, 0.0, 1.0)),
    _same((1, 2, 0)),
    _same((GOES_ON, GOES_ON, TERMINATED)),
)
"""Three steps that pay 1, 0, 1; the final observation is that of the first state."""

SCALED = World(
    "RewardScale",
    ((-1.0,), (1.0,)),
    (0, 1),
    _paid((-5.0, 5.0)),
    _same((0, 1)),
    _same((TERMINATED, TERMINATED)),
)
"""Two states, one step, rewards of -5 and 5."""

WORLDS: dict[str, World] = {
    w.name: w
    for w in (
        CONSTANT, OBSERVED, DISCOUNTED, TERMINAL, TIME_LIMIT, MIXED, ENDLESS, COPIES, BANDIT, BY_STATE, DELAYED,
        DIMENSIONS, NOISY, RARE, SCALED,
    )
}  # fmt: skip
"""Every world by its name."""


def make_env(name: str, kind: Kind = "discrete") -> Automaton:
    """Return a Gymnasium environment of the world called `name`.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
    """
    from .automaton import Automaton

    if name not in WORLDS:
        raise unknown_name("probe environment", name, WORLDS)
    return Automaton(WORLDS[name], kind)

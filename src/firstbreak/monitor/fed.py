"""What an update of a loop of one's own is fed, held against what a `World` saw of the same steps.

    world, fed = World(monitor), Fed(monitor)
    env = watched(gym.make("CartPole-v1"), world)      # every copy, innermost
    ...
    fed.rollout(observations=obs, actions=actions, rewards=rewards, dones=dones)    # before the row of the update

Where steps go into a replay buffer one by one, `fed.step` takes them. Adapters do all this by themselves where a
framework keeps its steps in one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .exchange.choices import choices
from .exchange.exchanged import KEPT, of
from .exchange.handed_on import HandedOn, Stored, taking_turns

if TYPE_CHECKING:
    from .core import Monitor

COMPARED_EVERY = 64
"""Steps of all copies that `step` waits for at least. Engineering choice: what a row of a `World` covers."""
ALONE = "Fed has nothing to compare with: make one World(monitor), and put watched(env, world) around each copy"
Array = NDArray[np.generic]


class Fed:
    """Compares steps as an update gets them with those of the monitor's world; the numbers come with its next row.

    Nothing is said where the world saw another number of steps: copies in other processes, a world outside of a wrapper
    that skips frames, an evaluation of a watched copy. Steps in which a vector environment of Gymnasium 1.x begins an
    episode without stepping (`AutoresetMode.NEXT_STEP`) are left out.

    Args:
        monitor: Gets `data/obs_fit`, `data/reward_fit`, `data/reward_gain`, `data/end_kept_frac` and so on; one `World`
            must have been made with it.
        bootstrapped: Whether the value of what follows is added to the reward where an episode is cut off.
    """

    def __init__(self, monitor: Monitor, *, bootstrapped: bool = False) -> None:
        self._monitor, self._bootstrapped = monitor, bootstrapped
        self._handed = HandedOn()
        self._newest: deque[_Rows] = deque()
        self._waiting = self._begun = self._steps = 0
        """Since the last comparison: rows, and those of them that follow an end; steps in all."""
        self._seen = 0
        """Steps that the world had counted then."""
        self._ended: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        """Whether the newest step of each copy ended an episode [N]."""
        self._found: dict[str, float] = {}
        monitor.collect(self.numbers)

    def rollout(self, *, rewards: Any, dones: Any, observations: Any = None, actions: Any = None) -> None:
        """Take a rollout as the update gets it, arrays or tensors, in the order in which it was collected.

        Args:
            rewards: [T, N], or [T] of one copy.
            dones: Whether the episode ended with that step, for whatever reason; shaped as `rewards`. Where a loop
                keeps whether an observation begins an episode (CleanRL): `torch.cat([dones[1:], next_done[None]])`.
            observations: Before each step [T, N, ...].
            actions: As the loop hands them to the environment, or one-hot [T, N, ...].
        """
        try:
            self._take(observations, actions, rewards, dones)
            self._compare()
        except Exception as error:
            self._monitor.fault(f"Fed: {type(error).__name__}: {error}")

    def step(self, *, rewards: Any, dones: Any, observations: Any = None, actions: Any = None) -> None:
        """Take one step of all copies [N, ...], or of one, as it goes into a replay buffer."""
        try:
            one = bool(np.ndim(rewards) == 0)
            parts = (_ahead(part, one=one) for part in (observations, actions, rewards, dones))
            self._take(*parts)
            if self._waiting >= COMPARED_EVERY and not self._found:
                self._compare()
        except Exception as error:
            self._monitor.fault(f"Fed: {type(error).__name__}: {error}")

    def numbers(self) -> Mapping[str, float]:
        """Return what became of the steps since the last row, under canonical names."""
        found, self._found = self._found, {}
        return found

    def _take(self, observations: Any, actions: Any, rewards: Any, dones: Any) -> None:
        ended = _table(_host(dones)) != 0
        steps, copies = ended.shape
        if _shape(rewards)[0] != steps:
            raise InputError(f"rewards hold {_shape(rewards)[0]} steps, dones {steps}.", "Give both of the same steps.")
        before = self._ended if self._ended.size == copies else np.zeros(copies, dtype=np.bool_)
        after_end = np.concatenate([before[None], ended[:-1]])
        self._ended = ended[-1]
        self._waiting, self._begun = self._waiting + ended.size, self._begun + int(after_end.sum())
        kept = slice(-min(steps, -(-KEPT // copies)), None)
        columns = (None if part is None else _host(part[kept]) for part in (observations, actions, rewards))
        obs, action, reward = (None if column is None else _flat(column, copies) for column in columns)
        ends = ended[kept]
        copy = taking_turns(ends.size, copies)
        self._newest.append(_Rows(obs, action, reward, ends.reshape(-1), copy, after_end[kept].reshape(-1)))
        while sum(len(rows) for rows in self._newest) - len(self._newest[0]) >= KEPT:
            self._newest.popleft()

    def _compare(self) -> None:
        exchanged = of(self._monitor)
        if exchanged is None:
            self._monitor.fault(ALONE)
            return
        waiting, begun = self._waiting, self._begun
        resets = begun > 0 and exchanged.count - self._seen == waiting - begun
        self._steps += waiting - begun if resets else waiting
        self._seen, self._waiting, self._begun = exchanged.count, 0, 0
        rows = _Rows.of(self._newest, live=resets)
        count = self._handed.due(exchanged, self._steps, len(rows))
        taken = exchanged.last(count) if count else None
        if taken is not None:
            stored = rows.stored(count, taken.action.shape[1], bootstrapped=self._bootstrapped)
            self._found = self._handed.numbers(taken, stored)


class _Rows:
    """Steps in the order in which the copies took them [n, ...]."""

    def __init__(
        self, obs: Array | None, action: Array | None, reward: Array | None, ended: Array, copy: Array, after: Array
    ) -> None:
        self.parts = (obs, action, reward, ended, copy)
        self.after = after.astype(np.bool_)
        """Whether the step before it of the same copy ended an episode."""

    @classmethod
    def of(cls, several: deque[_Rows], *, live: bool) -> _Rows:
        """Return all of them; with `live` without those that only begin an episode."""
        after = np.concatenate([rows.after for rows in several])
        kept = ~after if live else np.ones_like(after)
        columns: list[Array | None] = []
        for column in zip(*(rows.parts for rows in several), strict=True):
            held = [part for part in column if part is not None]
            columns.append(np.concatenate(held)[kept] if len(held) == len(column) else None)
        obs, action, reward, ended, copy = columns
        assert ended is not None
        assert copy is not None
        return cls(obs, action, reward, ended, copy, after[kept])

    def __len__(self) -> int:
        return len(self.after)

    def stored(self, count: int, columns: int, *, bootstrapped: bool) -> Stored:
        """Return the newest `count` of them; an action of the environment has so many columns."""
        obs, action, reward, ended, copy = (None if part is None else part[-count:] for part in self.parts)
        action = None if action is None else choices(action, columns)
        copy = None if copy is None else copy.astype(np.intp)
        return Stored(obs=obs, action=action, reward=reward, ended=ended, bootstrapped=bootstrapped, copy=copy)


def _ahead(part: Any, *, one: bool) -> Any:
    """One step as a rollout of one [1, N, ...]; with `one` it is of one copy, and has no N."""
    if part is None:
        return None
    array = _host(part)
    return array[None, None] if one else array[None]


def _host(part: Any) -> Array:
    """A copy on the host: buffers are filled anew."""
    if not hasattr(part, "detach"):
        return np.array(part)
    here = part.detach().cpu()
    return np.array((here.double() if here.is_floating_point() else here).numpy())  # NumPy knows no bfloat16


def _shape(part: Any) -> tuple[int, ...]:
    return tuple(part.shape) if hasattr(part, "shape") else np.shape(part)


def _table(ends: Array) -> Array:
    """[T], [T, N] or [T, N, 1] as [T, N]."""
    return ends.reshape(len(ends), -1)


def _flat(part: Array, copies: int) -> Array | None:
    """[T, N, ...] as [T N, D]; None where it holds no numbers, or not of so many copies."""
    if not (np.issubdtype(part.dtype, np.number) or part.dtype == np.bool_) or part.size % (len(part) * copies):
        return None
    return part.reshape(len(part) * copies, -1)

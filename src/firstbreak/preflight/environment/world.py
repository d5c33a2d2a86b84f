"""`World`: what the checks of an environment look at: how to make it, its spaces, and recorded random episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Episode:
    """One recorded episode of L steps; spaces of any kind are flattened to vectors.

    Observations and actions are copies, so that later changes by the environment cannot reach them.
    """

    seed: int | None
    observations: Array
    """[L + 1, D]; the first row is what `reset` returned."""
    actions: tuple[Any, ...]
    """The L actions as they were given to `step`; replaying them with `seed` repeats the episode."""
    action_array: Array
    """[L, A]; discrete actions as one column of indices."""
    rewards: Array
    """[L]"""
    terminated: NDArray[np.bool_]
    """[L]"""
    truncated: NDArray[np.bool_]
    """[L]"""
    resets_by_itself: bool = False
    """True when it was recorded from an environment that resets itself (a vector environment)."""

    @property
    def length(self) -> int:
        """Number of steps L."""
        return len(self.rewards)

    @property
    def ended(self) -> bool:
        """Whether the environment ended it, rather than the recorder's budget."""
        return bool(self.length and (self.terminated[-1] or self.truncated[-1]))


@dataclass(frozen=True)
class Trouble:
    """Something that went wrong while recording: an exception or a broken contract, with what leads to it again."""

    kind: str
    """`raised`, or the broken point of the contract (`observation-outside-space`, `reward-type` ...)."""
    call: str
    """`make`, `reset`, `step` or `close`."""
    message: str
    seed: int | None = None
    actions: tuple[Any, ...] = ()
    where: str = ""
    """The part concerned: `observation[3]`, `reward`, `info`."""
    count: int = 1
    """How often the like of it was met while recording."""
    worst: float = 0.0
    """The largest size of it, where it has one: by what share of its range an observation passes a bound."""

    @property
    def step(self) -> int:
        """The step of the episode it came with, from 1; 0 for `reset`."""
        return len(self.actions)

    @property
    def place(self) -> str:
        """The call, and the step of the episode where there is one."""
        return f"{self.call} (step {self.step})" if self.actions else self.call


@dataclass
class World:
    """An environment under test, inside the child process."""

    target: str
    make: Callable[[], Any]
    """Returns a fresh environment that speaks the Gymnasium API: reset(seed=...) -> (obs, info), step -> 5 values."""
    observation_space: Any
    action_space: Any
    time_limit: int | None
    """Steps after which a TimeLimit wrapper cuts an episode, when the specification tells."""
    episodes: Sequence[Episode] = ()
    """Random episodes, each with a seed of its own; the last may have been cut by the budget."""
    troubles: Sequence[Trouble] = ()
    dimensions: tuple[str, ...] = ()
    """A name for each flattened observation dimension: `observation[3]`, `observation.camera[0]`."""
    notes: list[str] = field(default_factory=list[str])
    kind: str = "gymnasium"
    """The interface it speaks: gymnasium, vector, torchrl, parallel (PettingZoo) or old (gym before 0.26)."""
    make_raw: Callable[[], Any] | None = field(default=None, repr=False)
    """Returns the user's own environment, without an adapter."""
    deep_episodes: Sequence[Episode] = ()
    """The longest episodes found by trying policies; they reach depths that random play does not."""
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """Numbers noted while recording: seconds, steps, and what making the environment changed."""
    seed: int = 0
    """Of everything that was drawn while recording."""
    play: Callable[[Sequence[Any], int | None], Episode] = field(default=lambda actions, seed: _not_set(), repr=False)
    """Plays these actions from reset(seed=seed) in a fresh environment; ends early when the episode ends."""

    @property
    def all_episodes(self) -> tuple[Episode, ...]:
        """Random episodes and deep ones."""
        return (*self.episodes, *self.deep_episodes)

    @property
    def observations(self) -> Array:
        """All recorded observations below one another, [sum(L + 1), D]."""
        return np.concatenate([e.observations for e in self.episodes])

    @property
    def rewards(self) -> Array:
        """All recorded rewards, [sum(L)]."""
        return np.concatenate([e.rewards for e in self.episodes])


def _not_set() -> Episode:
    raise RuntimeError("a World is made by firstbreak.preflight.environment.recording")

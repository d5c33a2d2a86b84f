"""A Gymnasium wrapper that tells a `World` of every step of one copy of an environment, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ..errors import missing_extra
from .exchange.held import Held, held
from .exchange.limit import Limit

if TYPE_CHECKING:
    from .world import World


def watched(env: Any, world: World) -> Any:
    """Return a Gymnasium wrapper of `env` that tells `world` of every step and changes nothing.

    Put it on each copy, inside every other wrapper. Copies in other processes are not seen.

    Raises:
        MissingExtraError: Gymnasium is not installed.
    """
    try:
        import gymnasium
    except ImportError as error:
        raise missing_extra("gymnasium", "gym", "Watching an environment") from error

    world.around(env)

    class Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Tells `world` of every step."""

        def __init__(self) -> None:
            super().__init__(env)
            self._last: Held = None
            self._limit = Limit()
            self._steps = 0
            """Of this episode."""
            self._notes = world.underneath(env)

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[Any, dict[str, Any]]:
            obs, info = self.env.reset(seed=seed, options=options)
            self._last = held(obs)
            self._limit.reset()
            self._steps = 0
            self._begun()
            if self._notes is not None:
                self._note(self._notes.reset)
            return obs, info

        def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
            result = self.env.step(action)
            obs, reward = result[0], result[1]
            try:
                after, terminated, truncated = held(obs), bool(result[2]), bool(result[3])
                world.take(self._last, action, after, float(cast(Any, reward)), terminated, truncated)
                share = self._limit.step(terminated=terminated, truncated=truncated)
                if share is not None or world.cuts.least is None:
                    world.cut(share)
                self._steps += 1
                if terminated or truncated:
                    world.ended(after, float(cast(Any, reward)), self._steps, terminated=terminated)
            except Exception:  # statistics must never stop a step
                after = None
            self._last = after
            if self._notes is not None:
                self._note(self._notes.step, action, obs, float(cast(Any, reward)), bool(result[2]))
            return result

        def _begun(self) -> None:
            with suppress(Exception):  # as in `step`
                world.begun(self._last)

        def _note(self, take: Callable[..., Mapping[str, float]], *what: Any) -> None:
            try:
                world.learn(take(*what))
            except Exception:  # nor may a task that cannot be played again
                self._notes = None
            else:
                self._notes = None if self._notes is None or self._notes.done else self._notes

    return Watched()

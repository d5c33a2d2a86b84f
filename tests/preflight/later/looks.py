"""Bugs of how an observation is put together: normalisers, buffers, last rows, pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..planted.bases import Around, Drive, Step, cartpole, pendulum
from ..unseen.sensors import Pixels
from .catalogue import bug


@bug("normaliser-made-anew-in-reset", pendulum)
def made_anew() -> Any:
    class Fresh(Around):
        """Mean and spread are those of the episode so far: the first observation is always zero."""

        count, mean, square = 0, np.zeros(3), np.zeros(3)

        def normal(self, obs: Any) -> Any:
            self.count += 1
            way = obs - self.mean
            self.mean = self.mean + way / self.count
            self.square = self.square + way * (obs - self.mean)
            spread = np.sqrt(self.square / self.count + 1e-8)
            return ((obs - self.mean) / spread).clip(-1, 1).astype(np.float32)

        def reset(self, **options: Any) -> Any:
            obs, info = super().reset(**options)
            self.count, self.mean, self.square = 0, np.zeros(3), np.zeros(3)
            return self.normal(obs), info

        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            return self.normal(obs), reward, terminated, truncated, info

    return Fresh(pendulum())


class Wide(Drive):
    """Drive on a wider plane."""

    def start(self) -> None:
        super().start()
        self.position = self.np_random.uniform(-4, 4, 2)


@bug("observation-buffer-of-integers", Wide)
class Whole(Wide):
    """`np.zeros(4, dtype=int)` is filled entry by entry, so all behind the point is lost."""

    def seen(self) -> Any:
        buffer = np.zeros(4, dtype=int)
        buffer[:2], buffer[2:] = self.position, self.velocity
        return buffer.astype(np.float32)


@bug("last-observation-is-zeros", cartpole)
def zeros_at_the_end() -> Any:
    class Zeros(Around):
        """At the end of an episode, in either way, a row of zeros is returned."""

        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            return np.zeros_like(obs) if terminated or truncated else obs, reward, terminated, truncated, info

    return Zeros(cartpole())


@bug("channels-first-in-step", Pixels)
class ChannelsFirst(Pixels):
    """step turns the picture for torch, reset does not; the space is that of reset."""

    def seen(self) -> Any:
        return self.picture().transpose(2, 0, 1) if self.t else self.picture()

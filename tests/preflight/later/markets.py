"""A market with recorded prices, and bugs of where in the record an episode begins."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from ..planted.bases import Step
from .catalogue import bug, harmless


class Market(gym.Env[Any, Any]):
    """Be short, out or long of one asset for 120 days of a record of 300; a fee for each change, in per cent."""

    rows, window, limit, fee = 300, 12, 120, 0.05
    first_day = window

    def __init__(self) -> None:
        drawn = np.random.default_rng(7)
        self.signal = np.zeros(self.rows)
        for day in range(1, self.rows):
            self.signal[day] = 0.9 * self.signal[day - 1] + 0.4 * drawn.normal()
        self.moves = 0.8 * drawn.normal(size=self.rows)
        self.moves[1:] += 0.5 * self.signal[:-1]
        self.observation_space = Box(-np.inf, np.inf, (self.window + 2,), np.float32)
        self.action_space = Discrete(3)
        self.day, self.position, self.t = self.window, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.day = int(self.np_random.integers(self.first_day, self.rows - self.limit - 1))
        self.position, self.t = 0, 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        before, self.position = self.position, int(action) - 1
        self.day += 1
        profit = self.position * float(self.moves[self.day]) - self.fee * abs(self.position - before)
        return self.seen(), self.pays(profit, before), False, self.t >= self.limit, {"profit": profit}

    def pays(self, profit: float, before: int) -> float:
        return profit

    def seen(self) -> Any:
        past = self.moves[self.day - self.window + 1 : self.day + 1]
        return np.concatenate([past, [self.signal[self.day], self.position]]).astype(np.float32)


harmless("market-with-fees")(Market)


@bug("first-look-before-the-day-is-set", Market)
class LooksFirst(Market):
    """reset looks at the record before it sets the day and the position back."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        stale = self.seen()
        super().reset(seed=seed, options=options)
        return stale, {}


@bug("window-before-the-first-row", Market)
class TooEarly(Market):
    """Starts are drawn from row 0 on, where the window's slice has a negative start and comes out empty."""

    first_day = 0

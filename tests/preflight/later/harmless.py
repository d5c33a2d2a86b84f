"""Odd environments that are right: none of them deserves a warning."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, TimeAwareObservation

from ..planted.bases import Drive, Step, Table, pendulum
from ..planted.vectors import pettingzoo
from ..unseen.sensors import Pixels
from .catalogue import harmless
from .contracts import Duel
from .goals import Maze
from .physics import Massive


@harmless("next-step-vector-of-duels")
def duels() -> Any:
    return SyncVectorEnv([Duel] * 5, autoreset_mode=AutoresetMode.NEXT_STEP)


@harmless("noisy-sensor")
class Noisy(Drive):
    """Each entry is measured with an error of 0.01."""

    def seen(self) -> Any:
        return (super().seen() + 0.01 * self.np_random.normal(size=4)).astype(np.float32)


@harmless("force-in-newtons")
class Newtons(Drive):
    """Forces of up to 500 N on a mass of 500 kg."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = Box(-500, 500, (2,), np.float32)

    def step(self, action: Any) -> Step:
        return super().step(np.asarray(action, np.float64) / 500)


@harmless("time-in-observation")
def time_aware() -> Any:
    return TimeAwareObservation(pendulum())


@harmless("frames-stacked-by-gymnasium")
def stacked() -> Any:
    return FrameStackObservation(pendulum(), 4)


@harmless("blackjack")
def blackjack() -> Any:
    return gym.make("Blackjack-v1", disable_env_checker=True)


@harmless("mass-drawn-per-episode")
class Drawn(Massive):
    """Each episode has another mass, within a tenth of 1."""

    width = 0.1


@harmless("three-slow-rooms")
class Rooms(gym.Env[Any, Any]):
    """Three heaters on or off, five minutes a step, one day; the weather and the hour are seen."""

    limit = 288

    def __init__(self) -> None:
        self.observation_space = Box(-50, 60, (6,), np.float32)
        self.action_space = MultiDiscrete([2, 2, 2])
        self.rooms, self.weather, self.t = np.zeros(3), 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.rooms, self.weather, self.t = self.np_random.uniform(15, 22, 3), float(self.np_random.uniform(-5, 10)), 0
        return self.seen(), {}

    def outside(self) -> float:
        return self.weather + 5 * float(np.sin(2 * np.pi * self.t / self.limit))

    def step(self, action: Any) -> Step:
        self.t += 1
        heat = np.asarray(action, float)
        self.rooms = self.rooms + 0.4 * heat + 0.015 * (self.outside() - self.rooms)
        reward = -float(np.abs(self.rooms - 20).mean()) - 0.1 * float(heat.sum())
        return self.seen(), reward, False, self.t >= self.limit, {}

    def seen(self) -> Any:
        hour = 2 * np.pi * self.t / self.limit
        return np.array([*self.rooms, self.outside(), np.sin(hour), np.cos(hour)], np.float32)


@harmless("maze-flattened")
def flattened() -> Any:
    return FlattenObservation(Maze())


class Crew:
    """A scout with three numbers and three moves, and a carrier with four numbers and two forces; 70 steps."""

    metadata: ClassVar[dict[str, Any]] = {"name": "crew_v0", "is_parallelizable": True}
    possible_agents: ClassVar[list[str]] = ["scout", "carrier"]
    limit = 70

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.render_mode = None
        self.rng = np.random.default_rng()
        self.eye, self.load, self.t = 0.0, np.zeros(2), 0
        self.seen_by = {"scout": Box(-100, 100, (3,), np.float32), "carrier": Box(-100, 100, (4,), np.float32)}
        self.done_by = {"scout": Discrete(3), "carrier": Box(-1, 1, (2,), np.float32)}

    def observation_space(self, agent: str) -> Any:
        return self.seen_by[agent]

    def action_space(self, agent: str) -> Any:
        return self.done_by[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents, self.t = list(self.possible_agents), 0
        self.eye, self.load = float(self.rng.normal()), self.rng.normal(size=2)
        return self.seen(), {a: {} for a in self.agents}

    def seen(self) -> Any:
        time = self.t / self.limit
        rows = {"scout": [self.eye, *self.load], "carrier": [*self.load, self.eye, time]}
        return {agent: np.array(row, np.float32) for agent, row in rows.items()}

    def step(self, actions: Any) -> Any:
        self.t += 1
        self.eye = 0.9 * self.eye + 0.3 * (int(actions["scout"]) - 1) + 0.05 * float(self.rng.normal())
        self.load = 0.95 * self.load + 0.2 * np.clip(np.asarray(actions["carrier"], float), -1, 1)
        cut = self.t >= self.limit
        acted, self.agents = list(self.agents), [] if cut else list(self.agents)
        pay = {"scout": -abs(self.eye - float(self.load[0])), "carrier": -float(np.abs(self.load).sum())}
        return self.seen(), pay, dict.fromkeys(acted, False), dict.fromkeys(acted, cut), {a: {} for a in acted}

    @property
    def unwrapped(self) -> Any:
        return self

    def close(self) -> None:
        pass

    def render(self) -> None:
        pass


@harmless("agents-of-two-kinds")
def crew() -> Any:
    return pettingzoo(Crew)  # pyright: ignore[reportArgumentType]


@harmless("two-frames-as-channels")
class TwoFrames(Pixels):
    """The last two pictures in grey, as two channels."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(0, 255, (self.size, self.size, 2), np.uint8)
        self.last: Any = None

    def seen(self) -> Any:
        now = self.picture().mean(-1).astype(np.uint8)
        self.last, before = now, now if self.t == 0 else self.last
        return np.stack([before, now], -1)


@harmless("actions-from-minus-one")
class Signed(Table):
    """Three actions numbered -1, 0 and 1."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = Discrete(3, start=-1)

    def step(self, action: Any) -> Step:
        self.t += 1
        push = int(action) * np.array([0.3, 0.2, 0.1])
        self.state = np.clip(0.95 * self.state + push + 0.1 * self.np_random.normal(size=3), -10, 10)
        return self.seen(), self.pays(), *self.ends(), {}


@harmless("double-precision-throughout")
class Double(Drive):
    """float64 is declared and returned, as MuJoCo's environments do."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (4,), np.float64)

    def seen(self) -> Any:
        return np.concatenate([self.position, self.velocity])

"""Later bugs of rewards of environments and of shaping terms."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box

from ..planted.bases import Around, Drive, Grid, Step, cartpole
from ..planted.reward_cases import RewardCase
from ..planted.shapings import GAMMA, away, far, on_drive, on_grid
from .markets import Market
from .reward_cases import case


class Standardised(Around):
    """A wrapper that takes the running mean away from each reward and divides by the running spread."""

    count, mean, square = 0, 0.0, 0.0

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        self.count += 1
        way = float(reward) - self.mean
        self.mean += way / self.count
        self.square += way * (float(reward) - self.mean)
        spread = float(np.sqrt(self.square / self.count)) + 1e-8
        return obs, (float(reward) - self.mean) / spread, terminated, truncated, info


@case("mean-taken-from-a-bonus-for-living")
def _() -> RewardCase:
    return RewardCase(env=lambda: Standardised(cartpole()))


class NotMeasured(Drive):
    """Progress is the last distance minus the distance, which is not measured again before the two are compared."""

    far = 0.0

    def start(self) -> None:
        super().start()
        self.far = float(np.linalg.norm(self.position))

    def step(self, action: Any) -> Step:
        last = self.far
        obs, _, over, cut, _ = super().step(action)
        parts = {"progress": 10 * (last - self.far), "effort": -0.1 * float(np.square(action).sum())}
        self.far = float(np.linalg.norm(self.position))
        return obs, parts["progress"] + parts["effort"], over, cut, parts

    def pays(self, action: Any) -> Any:
        return 0.0


@case("progress-of-a-distance-not-measured-again")
def _() -> RewardCase:
    return RewardCase(env=NotMeasured, components=("progress", "effort"))


class Turn(gym.Env[Any, Any]):
    """Turn a pointer to half a turn; seen as sine, cosine and rate; `error` tells how far it truly is; 200 steps."""

    limit = 200

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = Box(-1, 1, (1,), np.float32)
        self.angle, self.rate, self.t = 0.0, 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.angle, self.rate, self.t = float(self.np_random.uniform(-np.pi, np.pi)), 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.rate = 0.97 * self.rate + 0.1 * float(np.clip(action[0], -1, 1))
        self.angle = (self.angle + 0.3 * self.rate + np.pi) % (2 * np.pi) - np.pi
        return self.seen(), self.pays(), False, self.t >= self.limit, {"error": np.pi - abs(self.angle)}

    def seen(self) -> Any:
        return np.array([np.sin(self.angle), np.cos(self.angle), self.rate], np.float32)

    def pays(self) -> float:
        """The difference to half a turn, not brought back into one turn: just past it the error is a whole turn."""
        return -abs(np.pi - self.angle)


@case("error-to-half-a-turn-not-wrapped")
def _() -> RewardCase:
    return RewardCase(env=Turn, metric="error")


class Told(Drive):
    """Drive that goes on to its limit and tells the distance to the origin."""

    def step(self, action: Any) -> Step:
        return *super().step(action)[:4], {"distance_to_target": float(np.linalg.norm(self.position))}

    def ends(self) -> tuple[Any, Any]:
        return False, self.t >= self.limit


class Grows(Told):
    """exp(d) where exp(-d) was meant."""

    def pays(self, action: Any) -> Any:
        return float(np.exp(min(10.0, np.linalg.norm(self.position))))


@case("exponent-without-its-minus")
def _() -> RewardCase:
    return RewardCase(env=Grows, metric="distance_to_target")


class Yesterday(Market):
    """Pays the position of today times the move of the day that is already over."""

    def pays(self, profit: float, before: int) -> float:
        return self.position * float(self.moves[self.day - 1]) - self.fee * abs(self.position - before)


@case("pays-for-yesterdays-move")
def _() -> RewardCase:
    return RewardCase(env=Yesterday, metric="profit")


class Overwritten(Grid):
    """`reward = 1` at the goal is overwritten by `reward = 0.02` for a step survived, where `+=` was meant."""

    def step(self, action: Any) -> Step:
        obs, reward, over, cut, _ = super().step(action)
        return obs, 0.02, over, cut, {"success": float(reward > 0)}


@case("goal-overwritten-by-living-bonus")
def _() -> RewardCase:
    return RewardCase(env=Overwritten, metric="success")


def right(s: Any, n: Any, over: bool) -> float:
    return GAMMA * (0.0 if over else away(n)) - away(s)


@case("shaping-of-one-state-twice")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: GAMMA * (0.0 if over else away(n)) - away(n))


@case("shaping-losses-clipped")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: max(-0.2, right(s, n, over)))


@case("shaping-in-every-second-step")
def _() -> RewardCase:
    """A frame skip of two hands on the shaping of its last frame only."""
    return on_drive(lambda s, a, n, over, cut, t: (GAMMA * (0.0 if over else far(n)) - far(s)) * (t % 2))


def high(cell: Any) -> float:
    return away(cell) + 20.0


@case("shaping-with-an-offset", "harmless")
def _() -> RewardCase:
    """A potential of 20 and more everywhere but after the end, where it is 0."""
    return on_grid(lambda s, a, n, over, cut, t: GAMMA * (0.0 if over else high(n)) - high(s), high)


def tenfold(state: Any) -> float:
    return 10 * far(state)


@case("shaping-tenfold", "harmless")
def _() -> RewardCase:
    return on_drive(lambda s, a, n, over, cut, t: GAMMA * (0.0 if over else tenfold(n)) - tenfold(s), tenfold)


class AtGoal(Drive):
    """Minus the distance in each step and 10 where the goal is met, which ends the episode."""

    def step(self, action: Any) -> Step:
        obs, reward, over, cut, _ = super().step(action)
        return obs, reward + 10.0 * bool(over), over, cut, {"distance_to_target": float(np.linalg.norm(self.position))}


@case("distance-and-bonus-at-goal", "harmless")
def _() -> RewardCase:
    return RewardCase(env=AtGoal, metric="distance_to_target")


@case("profit-with-fees", "harmless")
def _() -> RewardCase:
    return RewardCase(env=Market, metric="profit")

"""Unseen bugs of rewards of environments, of shaping terms and of tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..planted.bases import Drive, Grid, Step
from ..planted.reward_cases import RewardCase
from ..planted.shapings import GAMMA, away, far, on_drive, on_grid
from .harmless import Before, Sparse
from .reward_cases import case


class Told(Drive):
    """Drive that tells the distance to the origin as its task metric and never ends before its limit."""

    def step(self, action: Any) -> Step:
        return *super().step(action)[:4], {"distance_to_target": float(np.linalg.norm(self.position))}

    def ends(self) -> tuple[Any, Any]:
        return False, self.t >= self.limit


class Cumulative(Drive):
    """Pays the progress since the start, not since the last step."""

    first = 0.0

    def start(self) -> None:
        super().start()
        self.first = float(np.linalg.norm(self.position))

    def pays(self, action: Any) -> Any:
        return self.first - float(np.linalg.norm(self.position))


class Summed(Drive):
    """Pays all rewards of the episode so far, again in every step."""

    paid = 0.0

    def start(self) -> None:
        super().start()
        self.paid = 0.0

    def pays(self, action: Any) -> Any:
        self.paid += super().pays(action)
        return self.paid


@case("pays-sum-so-far")
def _() -> RewardCase:
    return RewardCase(env=Summed)


class FirstDoubled(Drive):
    def pays(self, action: Any) -> Any:
        return super().pays(action) * (2 if self.t == 1 else 1)


@case("first-step-paid-twice")
def _() -> RewardCase:
    return RewardCase(env=FirstDoubled)


class Repeats(Drive):
    """One touch of a wall at 1.2 costs 1, and goes on costing 1 in every later step."""

    touched = False

    def start(self) -> None:
        super().start()
        self.touched = False

    def pays(self, action: Any) -> Any:
        self.touched = self.touched or bool((np.abs(self.position) > 1.2).any())
        return super().pays(action) - float(self.touched)


@case("penalty-repeats-for-ever")
def _() -> RewardCase:
    return RewardCase(env=Repeats)


class Retreat(Told):
    """Progress with its sign turned: new distance minus old distance."""

    was = 0.0

    def start(self) -> None:
        super().start()
        self.was = float(np.linalg.norm(self.position))

    def pays(self, action: Any) -> Any:
        now = float(np.linalg.norm(self.position))
        gain, self.was = now - self.was, now
        return gain


@case("progress-with-wrong-sign")
def _() -> RewardCase:
    return RewardCase(env=Retreat, metric="distance_to_target")


class Logged(Grid):
    """Minus the logarithm of the steps to the corner: minus infinity of 0."""

    def step(self, action: Any) -> Step:
        obs, _, *rest = super().step(action)
        with np.errstate(all="ignore"):
            return obs, float(-np.log(np.abs(self.size - 1 - self.cell).sum())), *rest


@case("logarithm-of-zero")
def _() -> RewardCase:
    return RewardCase(env=Logged)


class Cast(Drive):
    """A progress of less than 1 per step, cast to a whole number."""

    def pays(self, action: Any) -> Any:
        return int(0.5 * max(0.0, 1.5 - float(np.linalg.norm(self.position))))


@case("reward-cast-to-integer")
def _() -> RewardCase:
    return RewardCase(env=Cast)


class AnyEnd(Grid):
    """The bonus for success is paid whenever the episode is over; `success` tells whether it was one."""

    def step(self, action: Any) -> Step:
        obs, reward, over, cut, _ = super().step(action)
        return obs, float(over or cut), over, cut, {"success": float(reward > 0)}


@case("bonus-at-any-end")
def _() -> RewardCase:
    return RewardCase(env=AnyEnd, metric="success")


class Speed(Drive):
    """A speed bonus with no direction: it pays to rush about."""

    def step(self, action: Any) -> Step:
        obs, _, over, cut, _ = super().step(action)
        parts = {"near": -0.01 * float(np.linalg.norm(self.position)), "speed": float(np.linalg.norm(self.velocity))}
        return obs, sum(parts.values()), over, cut, parts | {"distance": float(np.linalg.norm(self.position))}

    def ends(self) -> tuple[Any, Any]:
        return False, self.t >= self.limit


@case("speed-bonus-without-direction")
def _() -> RewardCase:
    return RewardCase(env=Speed, components=("near", "speed"), metric="distance")


@case("shaping-terms-exchanged")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: away(s) - GAMMA * (0.0 if over else away(n)))


@case("shaping-discount-on-wrong-term")
def _() -> RewardCase:
    return on_drive(lambda s, a, n, over, cut, t: (0.0 if over else far(n)) - GAMMA * far(s))


@case("shaping-with-other-discount")
def _() -> RewardCase:
    return on_drive(lambda s, a, n, over, cut, t: 0.9 * (0.0 if over else far(n)) - far(s))


@case("shaping-weight-on-one-side")
def _() -> RewardCase:
    return on_grid(lambda s, a, n, over, cut, t: 2.0 * GAMMA * (0.0 if over else away(n)) - away(s))


@case("shaping-only-when-nearer-to-record")
def _() -> RewardCase:
    best = [0.0]

    def term(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        best[0] = away(s) if t == 0 else max(best[0], away(s))
        return max(0.0, away(n) - best[0])

    return on_grid(term)


@case("shaping-with-agents-own-discount", "harmless")
def _() -> RewardCase:
    return on_drive(lambda s, a, n, over, cut, t: 0.9 * (0.0 if over else far(n)) - far(s), gamma=0.9)


@case("reward-of-state-before", "harmless")
def _() -> RewardCase:
    return RewardCase(env=Before)


@case("progress-since-start", "harmless")
def _() -> RewardCase:
    return RewardCase(env=Cumulative)


class StepCost(Sparse):
    """Minus one per step until the goal, as MountainCar has it."""

    size, limit = 4, 60

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.cell = self.np_random.integers(0, 2, 2)
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        obs, _, *rest = super().step(action)
        return obs, -1.0, *rest


@case("cost-per-step", "harmless")
def _() -> RewardCase:
    return RewardCase(env=StepCost)

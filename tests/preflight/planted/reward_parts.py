"""Planted bugs of the parts of a reward, and rewards that pay for something else than the task."""

from __future__ import annotations

from typing import Any

import numpy as np

from .bases import Drive, Grid, Step, cartpole
from .reward_cases import RewardCase, case


class Telling(Drive):
    """Drive that reports the parts of its reward and its distance to the goal in `info`."""

    def step(self, action: Any) -> Step:
        self.before = float(np.linalg.norm(self.position))
        obs, _, over, cut, _ = super().step(action)
        self.distance = float(np.linalg.norm(self.position))
        paid = self.parts(np.asarray(action, np.float64))
        return obs, sum(paid.values()), over, cut, {**paid, "distance": self.distance}

    def parts(self, action: Any) -> dict[str, float]:
        return {"progress": 10 * (self.before - self.distance), "energy": -0.1 * float(action @ action)}


class EnergyAdded(Telling):
    def parts(self, action: Any) -> dict[str, float]:
        return {**super().parts(action), "energy": 0.1 * float(action @ action)}


@case("one-term-sign-flipped")
def _() -> RewardCase:
    return RewardCase(env=EnergyAdded, components=["progress", "energy"], metric="distance")


# --- components ---


class NoContact(Telling):
    def parts(self, action: Any) -> dict[str, float]:
        return {**super().parts(action), "contact": 0.0}


class SometimesSuccess(Telling):
    """A bonus where the point comes to the middle: in about 5 % of the episodes under random play."""

    def parts(self, action: Any) -> dict[str, float]:
        return {**super().parts(action), "success": 1.0 if self.distance < 0.05 else 0.0}


@case("component-dead")
def _() -> RewardCase:
    return RewardCase(env=NoContact, components=["progress", "energy", "contact"])


@case("component-dead", "twin")
def _() -> RewardCase:
    return RewardCase(env=SometimesSuccess, components=["progress", "energy", "success"])


@case("all-one", "twin")
def _() -> RewardCase:
    return RewardCase(env=cartpole)


# --- hacking ---


class Checkpoints(Grid):
    places = ((1, 1), (1, 3))
    once = False

    def step(self, action: Any) -> Step:
        before = tuple(self.cell.tolist())
        if self.t == 0:
            self.passed: set[tuple[int, ...]] = set()
        obs, reward, over, cut, info = super().step(action)
        now = tuple(self.cell.tolist())
        pays = now in self.places and now != before and not (self.once and now in self.passed)
        self.passed.add(now)
        return obs, 10 * reward + float(pays), over, cut, info


class CheckpointsOnce(Checkpoints):
    once = True


@case("loop-pays")
def _() -> RewardCase:
    return RewardCase(env=Checkpoints)


@case("loop-pays", "twin")
def _() -> RewardCase:
    return RewardCase(env=CheckpointsOnce)


class Alive(Grid):
    limit, living = 200, 0.1

    def step(self, action: Any) -> Step:
        obs, reward, over, cut, info = super().step(action)
        return obs, reward if over else self.living, over, cut, info


class StepCost(Alive):
    living = -0.01


@case("living-bonus-beats-goal")
def _() -> RewardCase:
    return RewardCase(env=Alive)


@case("living-bonus-beats-goal", "twin")
def _() -> RewardCase:
    return RewardCase(env=StepCost)

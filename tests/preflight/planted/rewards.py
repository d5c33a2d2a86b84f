"""Planted reward bugs of environments: sign, scale, noise, delay, clipping, sparsity, a kept potential."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np

from .bases import Around, Drive, Step, pendulum
from .reward_cases import RewardCase, case


def lunar_lander() -> Any:
    return gym.make("LunarLander-v3", disable_env_checker=True)


# --- sign ---


class OneSided(Drive):
    reach = 2.0

    def step(self, action: Any) -> Step:
        return *super().step(action)[:4], {"distance_to_target": abs(float(self.position[0]))}

    def pays(self, action: Any) -> Any:
        return (1 - (0 - float(self.position[0])) / self.reach) ** 2

    def ends(self) -> tuple[Any, Any]:
        return False, self.t >= self.limit


@case("setpoint-one-sided")
def _() -> RewardCase:
    return RewardCase(env=OneSided, metric="distance_to_target")


# --- scale ---


class Times(Around):
    factor = 100.0

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        return obs, reward * self.factor, terminated, truncated, info


class Hundredth(Times):
    factor = 0.024


@case("reward-times-100")
def _() -> RewardCase:
    return RewardCase(env=lambda: Times(pendulum()))


@case("reward-times-100", "twin")
def _() -> RewardCase:
    return RewardCase(env=lambda: Hundredth(pendulum()))


class Wild(Drive):
    def start(self) -> None:
        super().start()
        self.factor = 10 ** self.np_random.uniform(-3, 4)

    def pays(self, action: Any) -> Any:
        return self.factor * super().pays(action)


@case("return-range-wild")
def _() -> RewardCase:
    return RewardCase(env=Wild)


class Clipped(Around):
    low, high = -1.0, 1.0

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        return obs, float(np.clip(reward, self.low, self.high)), terminated, truncated, info


class HardlyClipped(Clipped):
    low, high = -150.0, 100.0


@case("clip-loses-bonus")
def _() -> RewardCase:
    return RewardCase(env=lambda: Clipped(lunar_lander()))


@case("clip-loses-bonus", "twin")
def _() -> RewardCase:
    return RewardCase(env=lambda: HardlyClipped(lunar_lander()))


# --- noise and delay ---


class Noisy(Drive):
    spread = 2.7
    """Standard deviation of the clean reward under random play."""
    times = 20.0

    def pays(self, action: Any) -> Any:
        return super().pays(action) + self.times * self.spread * self.np_random.normal()


class LittleNoise(Noisy):
    times = 0.1


@case("noise-swamps")
def _() -> RewardCase:
    return RewardCase(env=Noisy)


@case("noise-swamps", "twin")
def _() -> RewardCase:
    return RewardCase(env=LittleNoise)


class Clock(Drive):
    made = 0

    def pays(self, action: Any) -> Any:
        self.made += 1
        return np.sin(self.made / 10)


class Queued(Drive):
    """Forces act five steps after they are chosen."""

    def start(self) -> None:
        super().start()
        self.queue = deque([np.zeros(2)] * 5)

    def moves(self, force: Any) -> None:
        self.queue.append(force)
        super().moves(self.queue.popleft())


@case("reward-independent-of-agent")
def _() -> RewardCase:
    return RewardCase(env=Clock)


@case("reward-independent-of-agent", "twin")
def _() -> RewardCase:
    return RewardCase(env=Queued)


class Luck(Drive):
    def start(self) -> None:
        super().start()
        self.luck = 5 + self.np_random.normal()

    def pays(self, action: Any) -> Any:
        return self.luck


@case("reward-random-per-episode")
def _() -> RewardCase:
    return RewardCase(env=Luck)


class Hidden(Drive):
    def pays(self, action: Any) -> Any:
        return -(self.np_random.uniform(-1, 1) ** 2)


class Squared(Drive):
    def pays(self, action: Any) -> Any:
        return -float(self.position[0] ** 2)


@case("reward-from-hidden-number")
def _() -> RewardCase:
    return RewardCase(env=Hidden)


@case("reward-from-hidden-number", "twin")
def _() -> RewardCase:
    return RewardCase(env=Squared)


class Late(Around):
    held = 0.0

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        paid, self.held = (0.0 if self.t == 1 else self.held), reward
        return obs, paid, terminated, truncated, info


@case("reward-delayed-one-step")
def _() -> RewardCase:
    return RewardCase(env=lambda: Late(pendulum()))


# --- sparsity ---


class OnlyAtEnd(Around):
    """The sum of the rewards is paid in step 1000; who crashes before gets nothing."""

    total = 0.0

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        self.total = reward + (0.0 if self.t == 1 else self.total)
        return obs, self.total if truncated else 0.0, terminated, truncated, info


@case("only-at-the-end")
def _() -> RewardCase:
    return RewardCase(env=lambda: OnlyAtEnd(lunar_lander()))


# --- shaping inside an environment ---


class PotentialKept(Around):
    """Adds 0.99 phi(s') - phi(s); `reset` forgets to take the potential of the new start."""

    potential = 0.0

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        now = -float(np.linalg.norm(obs[:2]))
        term = (0.0 if terminated else 0.99 * now) - self.potential
        self.potential = now
        return obs, reward + term, terminated, truncated, info


@case("shaping-previous-potential-kept")
def _() -> RewardCase:
    return RewardCase(env=lambda: PotentialKept(Drive()))

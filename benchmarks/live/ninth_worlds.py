"""Environments of the ninth live campaign: what goes wrong in them is written in ninth.toml."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from eighth_worlds import Normaliser
from ninth_doses import dose_of
from ninth_tasks import made
from worlds import Truth

from firstbreak.monitor.world import World, watched

FAULTS = (
    "bound-too-tight", "loads-heavier", "action-smoothed", "drive-jammed", "sensor-stuck", "values-wrapped",
    "shared-with-evaluation", "loss-bound-tighter", "goal-of-another", "sign-dropped", "divided-by-time",
    "reward-smoothed", "effort-paid", "curiosity-too-large", "rewards-whole", "torn-rows", "restarts-unsaid",
    "wires-crossed", "first-action-for-all", "difference-paid",
)  # fmt: skip
"""Faults of the environment; all others are planted in the trainer."""
GOAL = {"Plates": slice(3, 6), "Reactor": slice(3, 4)}
"""Entries of an observation that belong to the episode."""
EVALUATED, KEPT = 3, 64
"""Steps that an evaluation makes at a time; observations that a copy keeps."""


@dataclass
class Common:
    """What all copies of an environment have in common."""

    name: str
    subject: str
    seed: int
    normaliser: Normaliser
    copies: list[Any] = field(default_factory=list)


class Flawed(gym.Wrapper[Any, Any, Any, Any]):
    """Passes on what the fault makes of it. The truth is kept apart from what the trainer sees."""

    def __init__(self, env: Any, truth: Truth, shared: Common) -> None:
        super().__init__(env)
        self.truth, self.shared = truth, shared
        self.generator = np.random.default_rng([shared.seed, len(shared.copies)])
        shared.copies.append(self)
        self.total, self.count, self.paid_before = 0.0, 0, 0.0
        self.action: Any = None
        self.past: deque[Any] = deque(maxlen=KEPT)
        self.held: dict[str, Any] = {}
        self.goal, self.goal_before = np.zeros(0), np.zeros(0)

    def on(self, fault: str) -> bool:
        """Whether this fault is on."""
        return self.truth.fault == fault

    @property
    def dose(self) -> float:
        """How large the fault is that is on."""
        return dose_of(self.truth.fault, self.shared.subject)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        return self.seen(self.begun(**kwargs)), {}

    def begun(self, **kwargs: Any) -> Any:
        """Begin an episode; return what is really seen."""
        self.total, self.count = 0.0, 0
        obs, _ = self.env.reset(**kwargs)
        self.goal_before, self.goal = self.goal, np.array(obs[GOAL[self.shared.name]])
        return obs

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        task: Any = self.unwrapped
        task.load = self.dose if self.on("loads-heavier") else 1.0
        task.tightness = self.dose if self.on("loss-bound-tighter") else 1.0
        obs, reward, terminated, truncated = self.really(self.done(action))
        paid = self.paid(reward, obs, action)
        if not (terminated or truncated):
            if self.on("shared-with-evaluation") and self.generator.random() < self.dose:
                obs = self.evaluated(obs)
            elif self.on("restarts-unsaid") and self.generator.random() < self.dose:
                self.over()
                obs = self.begun()
        return self.seen(obs), paid, terminated, truncated, {}

    def really(self, action: Any) -> tuple[Any, float, bool, bool]:
        """Make a step; keep what is true of it."""
        self.truth.steps += 1
        self.count += 1
        obs, reward, terminated, truncated, _ = self.env.step(action)
        self.total += float(reward)
        if terminated or truncated:
            self.over()
        return obs, float(reward), terminated, truncated

    def over(self) -> None:
        """Keep the true return of an episode that is over."""
        self.truth.episodes.append((self.truth.steps, self.total))

    def evaluated(self, obs: Any) -> Any:
        """Return what is seen after somebody else has made some steps, of which the trainer is not told."""
        for _ in range(EVALUATED):
            obs, _, terminated, truncated = self.really(self.env.action_space.sample())
            self.truth.steps -= 1
            if terminated or truncated:
                obs = self.begun()
        return obs

    def done(self, action: Any) -> Any:
        """Return the action that the environment gets."""
        before, self.action = self.action, action
        if self.on("drive-jammed"):
            if np.ndim(action) == 0:
                last = self.unwrapped.actions - 1  # type: ignore[attr-defined]
                return last if int(action) == 0 else action
            jammed = np.array(action, float)
            jammed[0] = self.held.setdefault("drive", jammed[0] if before is None else before[0])
            return jammed
        if self.on("wires-crossed"):
            return {0: 1, 1: 0}.get(int(action), action) if np.ndim(action) == 0 else np.asarray(action)[::-1]
        if self.on("first-action-for-all"):
            # TorchRL makes a copy that is never played, to look at.
            return next(copy.action for copy in self.shared.copies if copy.action is not None)
        if self.on("action-smoothed") and before is not None:
            self.action = self.dose * np.asarray(before) + (1 - self.dose) * np.asarray(action)
            return self.action
        return action

    def seen(self, obs: Any) -> Any:
        """Return the observation that the trainer gets, not yet scaled."""
        self.past.append(obs)
        if self.on("sensor-stuck"):
            held = self.held.setdefault("sensor", obs)
            return np.concatenate([held[: int(self.dose)], obs[int(self.dose) :]])
        if self.on("torn-rows"):
            half, old = len(obs) // 2, self.past[max(0, len(self.past) - 1 - int(self.dose))]
            return np.concatenate([obs[:half], old[half:]])
        if self.on("goal-of-another"):
            shown = np.array(obs)
            shown[GOAL[self.shared.name]] = self.goal_before if len(self.goal_before) else self.goal
            return shown
        return obs

    def paid(self, reward: float, obs: Any, action: Any) -> float:
        """Return the reward that the fault makes of it."""
        before, self.paid_before = self.paid_before, reward
        if self.on("sign-dropped"):
            return abs(reward)
        if self.on("rewards-whole"):
            return float(np.trunc(reward))
        if self.on("divided-by-time"):
            return reward / self.count
        if self.on("difference-paid"):
            return reward - before
        if self.on("effort-paid"):
            return reward + self.dose * float(np.abs(action).mean())
        if self.on("curiosity-too-large"):
            return reward + self.dose * self.shared.normaliser.far(obs)
        if self.on("reward-smoothed"):
            self.paid_before = self.dose * before + (1 - self.dose) * reward
        return self.paid_before


class Scale(Normaliser):
    """Running mean and variance, and how far from them something lies."""

    def far(self, obs: Any) -> float:
        """Return how many spreads an observation lies off what is usual, on average."""
        return float(np.abs((obs - self.mean) / np.sqrt(self.squares / self.count + 1e-8)).mean())


class Scaled(gym.ObservationWrapper[Any, Any, Any]):
    """Shows observations on the scale of all that all copies saw."""

    def __init__(self, env: Any, truth: Truth, shared: Common) -> None:
        super().__init__(env)
        self.truth, self.shared = truth, shared

    def observation(self, observation: Any) -> Any:
        fault, shared = self.truth.fault, self.shared
        seen = shared.normaliser(np.asarray(observation, float))
        if fault == "bound-too-tight":
            bound = np.float32(dose_of(fault, shared.subject))
            return np.clip(seen, -bound, bound)
        if fault == "values-wrapped":
            bound = np.float32(dose_of(fault, shared.subject))
            return (seen + bound) % (2 * bound) - bound
        return seen


def maker(
    name: str, subject: str, truth: Truth, seed: int, world: World | None
) -> Callable[[], gym.Env[Any, Any]]:  # fmt: skip
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees them unscaled."""
    size = made(name).observation_space.shape[0]
    shared = Common(name, subject, seed, Scale(size))

    def make() -> gym.Env[Any, Any]:
        env: Any = Flawed(made(name), truth, shared)
        return Scaled(env if world is None else watched(env, world), truth, shared)

    return make

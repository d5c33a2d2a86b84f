"""Planted bugs of the contract: types, shapes, spaces, aliasing, global state."""

from __future__ import annotations

import os
import random
import tempfile
import warnings
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict

from .bases import Around, Drive, Grid, Step, cartpole, pendulum
from .catalogue import planted


@planted("obs-float64-declared-float32")
class Double(Drive):
    def seen(self) -> Any:
        return np.concatenate([self.position, self.velocity])


@planted("obs-leaves-bounds-late")
class Leaves(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-5, 5, (4,), np.float32)

    def seen(self) -> Any:
        return np.clip(super().seen(), -5, 5) + (np.array([7, 7, 0, 0], np.float32) if self.t > 60 else np.float32(0))


@planted("obs-leaves-bounds-late", "twin")
class Touches(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-5, 5, (4,), np.float32)

    def seen(self) -> Any:
        return np.clip(super().seen(), -5, 5)


def around(change: Any, make: Any = cartpole) -> Any:
    class Changed(Around):
        def changed(self, *values: Any) -> Any:
            return change(self.t, *values)

    return Changed(make())


@planted("obs-shape-changes-at-30")
def grows() -> Any:
    return around(lambda t, obs, *rest: (np.append(obs, np.float32(0)) if t >= 30 else obs, *rest), Drive)


@planted("reset-and-step-scale-differ")
class TwoScales(Grid):
    def reset(self, **options: Any) -> Any:
        obs, info = super().reset(**options)
        return (obs * 255).astype(np.int64), info


@planted("reward-as-array")
def reward_as_array() -> Any:
    return around(lambda t, obs, reward, *rest: (obs, np.array([reward]), *rest), pendulum)


@planted("reward-as-array", "twin")
def reward_as_scalar() -> Any:
    return around(lambda t, obs, reward, *rest: (obs, np.float64(reward), *rest), pendulum)


@planted("reward-none-on-one-branch")
def reward_none() -> Any:
    class Nothing(Around):
        def step(self, action: Any) -> Step:
            obs, reward, *rest = super().step(action)
            return obs, None if int(action) == 0 else reward, *rest

    return Nothing(cartpole())


class OldGym:
    """The interface of gym before 0.26, around CartPole."""

    tells_the_limit = False

    def __init__(self) -> None:
        self.env = cartpole()
        self.observation_space, self.action_space = self.env.observation_space, self.env.action_space
        self.t = 0

    def seed(self, seed: int | None = None) -> None:
        self.env.reset(seed=seed)

    def reset(self) -> Any:
        self.t = 0
        return self.env.reset()[0]

    def step(self, action: Any) -> Any:
        self.t += 1
        obs, reward, terminated, _, _ = self.env.unwrapped.step(action)
        cut = self.t >= 200
        info = {"TimeLimit.truncated": cut and not terminated} if self.tells_the_limit and (cut or terminated) else {}
        return obs, reward, bool(terminated or cut), info

    def close(self) -> None:
        self.env.close()


@planted("old-gym-four-tuple")
def old_gym() -> Any:
    return OldGym()


@planted("old-gym-four-tuple", "twin")
def old_gym_that_tells() -> Any:
    env = OldGym()
    env.tells_the_limit = True
    return env


@planted("info-not-dict-late")
def info_none() -> Any:
    return around(lambda t, *values: (*values[:4], values[4] if t <= 20 else None))


@planted("obs-becomes-list-at-end")
def list_at_end() -> Any:
    return around(lambda t, obs, r, term, trunc, info: (list(obs) if term or trunc else obs, r, term, trunc, info))


@planted("terminated-as-int")
def flags_as_int() -> Any:
    return around(lambda t, obs, r, term, trunc, info: (obs, r, int(term), None if not trunc else True, info), pendulum)


@planted("numpy-action-misread")
class Misread(Grid):
    def reads(self, action: Any) -> int:
        return action if isinstance(action, int) else 0


@planted("reset-reseeds-global-rng")
def reseeds() -> Any:
    class Reseeds(Around):
        count = 0

        def reset(self, **options: Any) -> Any:
            Reseeds.count += 1
            random.seed(Reseeds.count % 100)
            np.random.seed(Reseeds.count % 100)
            return super().reset(**options)

    return Reseeds(cartpole())


@planted("changes-cwd-and-environ")
def changes_process() -> Any:
    class Changes(Around):
        def reset(self, **options: Any) -> Any:
            os.chdir(tempfile.gettempdir())
            os.environ["OMP_NUM_THREADS"] = "7"
            os.environ["CUDA_VISIBLE_DEVICES"] = "3"
            return super().reset(**options)

    return Changes(cartpole())


@planted("changes-numpy-error-state")
def changes_numpy() -> Any:
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    return pendulum()


@planted("obs-buffer-reused")
class Reused(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.buffer = np.zeros(4, np.float32)

    def seen(self) -> Any:
        self.buffer[:] = super().seen()
        return self.buffer


@planted("obs-buffer-reused", "twin")
class Copied(Reused):
    def seen(self) -> Any:
        return super().seen().copy()


@planted("obs-view-of-state-velocity")
class View(Drive):
    def __init__(self) -> None:
        super().__init__()
        inner = Box(-np.inf, np.inf, (2,), np.float64)
        self.observation_space = Dict({"position": inner, "velocity": inner})

    def start(self) -> None:
        super().start()
        self.velocity = self.velocity.copy()

    def moves(self, force: Any) -> None:
        self.velocity += 0.1 * (force - self.drag * self.velocity)
        self.position = self.position + 0.1 * self.velocity

    def seen(self) -> Any:
        return {"position": self.position.copy(), "velocity": self.velocity}


@planted("writes-into-action")
def writes_into_action() -> Any:
    class Writes(Around):
        def step(self, action: Any) -> Step:
            np.clip(action, -1, 1, out=action)
            action *= 2
            return super().step(action)

    return Writes(pendulum())

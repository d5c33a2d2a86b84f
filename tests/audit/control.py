"""Real recordings of small Gymnasium environments, and a point and a grid of our own, to plant faults in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from firstbreak.audit.trajectories.trajectory import Trajectory

Policy = Callable[[Any, np.random.Generator], Any]
POLICIES: dict[str, dict[str, Policy]] = {
    "CartPole-v1": {
        "random": lambda _, r: int(r.integers(2)),
        "good": lambda o, r: int(o[2] + 0.5 * o[3] > 0) if r.random() > 0.05 else int(r.integers(2)),
        "poor": lambda o, r: int(o[2] > 0),
        "mostly right": lambda o, r: int(r.random() < 0.8),
        "right": lambda o, r: 1,
        "scripted": lambda o, r: int(o[2] > 0),
    },
    "Pendulum-v1": {
        "random": lambda _, r: r.uniform(-2, 2, 1).astype(np.float32),
        "swing": lambda o, r: _swing(o),
        "clipped": lambda _, r: np.clip(r.normal(0, 60, 1), -2, 2).astype(np.float32),
    },
    "FrozenLake-v1": {
        "random": lambda _, r: int(r.integers(4)),
        "way": lambda o, r: {0: 1, 4: 1, 8: 2, 9: 1, 13: 2, 14: 2}.get(int(o), 0),
    },
}


def _swing(o: Any) -> Any:
    """Pump energy until near the top, then hold (Astrom & Furuta 2000)."""
    cos, sin, speed = (float(x) for x in o)
    angle = np.arctan2(sin, cos)
    if cos > 0.85:
        return np.clip([-12 * angle - 3 * speed], -2, 2).astype(np.float32)
    lack = 10.0 * (1 - cos) / 2 - speed**2 / 6
    return np.clip([2 * np.sign(speed) * np.sign(lack) if speed else 2.0], -2, 2).astype(np.float32)


def record(
    name: str, policy: str, episodes: int = 40, *, seed: int = 0, same: bool = False, limit: int = 0,
    tail: bool = False, **options: Any,
) -> list[Trajectory]:  # fmt: skip
    """Play real episodes; `same` resets each with one seed, `tail` keeps the observation after the last step."""
    env = gymnasium.make(name, **({"max_episode_steps": limit} if limit else {}), **options)
    act = POLICIES[name][policy]
    found: list[Trajectory] = []
    for index in range(episodes):
        random = np.random.default_rng(seed if same else 1000 * seed + index)
        observation, _ = env.reset(seed=seed if same else 1000 * seed + index)
        seen, done, paid, terminated, truncated = [observation], [], [], False, False
        while not (terminated or truncated):
            done.append(act(observation, random))
            observation, reward, terminated, truncated, _ = env.step(done[-1])
            seen.append(observation)
            paid.append(float(reward))
        kept = np.array(seen if tail else seen[:-1], np.float64).reshape(len(seen) - (not tail), -1)
        found.append(Trajectory("x.npz", index, kept, np.array(done), np.array(paid), terminated, truncated))
    return found


def save(path: Path, episodes: Iterable[Trajectory], **more: Any) -> None:
    """Write episodes as one buffer, as the reader of npz files takes it."""
    each = list(episodes)
    ends = [np.arange(one.steps) == one.steps - 1 for one in each]
    np.savez(
        path,
        observations=np.concatenate([one.observations[: one.steps] for one in each]),
        actions=np.concatenate([one.actions for one in each]),
        rewards=np.concatenate([one.rewards for one in each]),
        terminated=np.concatenate([e & bool(one.terminated) for one, e in zip(each, ends, strict=True)]),
        truncated=np.concatenate([e & bool(one.truncated) for one, e in zip(each, ends, strict=True)]),
        **more,
    )


def point(
    episodes: int = 40, *, steps: int = 50, second: float = 1.0, reward: str = "distance", seed: int = 0
) -> list[Trajectory]:
    """A point in the plane that is pushed about; half of the episodes reach the right side."""
    random = np.random.default_rng(seed)
    found: list[Trajectory] = []
    for index in range(episodes):
        actions = random.uniform(-1, 1, (steps, 2)) * [1, second]
        drift = [0.2 if index % 2 else -0.2, 0]
        path = random.normal(size=2) * 0.1 + np.cumsum(0.1 * actions + drift, axis=0)
        paid = np.ones(steps) if reward == "constant" else -np.abs(path[:, 0] - 5)
        found.append(
            Trajectory("x.npz", index, path, actions, paid, False, True, success=bool(path[-1, 0] > 0))
        )  # fmt: skip
    return found


def bouncing(episodes: int = 40, seed: int = 0) -> list[Trajectory]:
    """A ball that falls from about one metre and bounces: its velocity jumps, but nothing starts anew."""
    random = np.random.default_rng(seed)
    found: list[Trajectory] = []
    for index in range(episodes):
        height, speed, rows = 1 + 0.05 * random.normal(), 0.0, []
        for _ in range(120):
            rows.append((height, speed))
            speed -= 0.2
            height += 0.02 * speed
            if height < 0:
                height, speed = -height, -0.9 * speed
        states = np.array(rows)
        actions = random.uniform(-1, 1, (120, 1))
        found.append(Trajectory("x.npz", index, states, actions, states[:, 0] - actions[:, 0] ** 2, False, True))
    return found


def grid(kind: str, episodes: int = 40, *, known: bool = True, seed: int = 0) -> list[Trajectory]:
    """A 10 x 10 grid with a goal that pays 5. What the other half of the episodes does:

    `stand`: waits in a corner for 1 a step; `circle`: goes round three paying cells; `stay`: goes to the goal, and is
    paid there for staying, which is the task.
    """
    random = np.random.default_rng(seed)
    found: list[Trajectory] = []
    for index in range(episodes):
        odd = bool(index % 2)
        cells: list[Any] = []
        paid: list[float] = []
        place = np.array([5, 5])
        loop = [np.array(c) for c in ((5, 5), (5, 6), (6, 6))]
        for step in range(60):
            cells.append(place.copy())
            if odd and kind == "circle":
                place = loop[(step + index) % 3]
                paid.append(1.0)
                continue
            target = None if not odd else np.array([0, 0]) if kind == "stand" else np.array([9, 9])
            before = place
            if target is None:
                place = np.clip(place + random.integers(-1, 2, 2), 0, 9)
            else:
                place = place + np.sign(target - place)
            at = target is not None and bool((before == target).all())
            paid.append(1.0 if at else 5.0 * (target is None and step == 59 and kind != "stay"))
        won = odd if kind == "stay" else not odd and kind != "circle"
        found.append(
            Trajectory("x.npz", index, np.array(cells, float), random.integers(4, size=60), np.array(paid), False, True,
                       success=won if known else None)
        )  # fmt: skip
    return found

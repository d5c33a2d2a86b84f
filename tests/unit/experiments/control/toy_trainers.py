"""Real trainers in a few lines of numpy, each with one planted fault, and the tasks they fail on.

The list of what each experiment must answer of them (`test_control_verdicts.PLANTED`) was written before the
experiments were run on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np


class Arms(gymnasium.Env[Any, Any]):
    """One state, `n` actions; the last pays 1, the others `second`; all with noise of spread `sd`."""

    def __init__(self, n: int = 4, second: float = 0.0, sd: float = 0.0, offset: float = 0.0) -> None:
        self.n, self.second, self.sd, self.offset = n, second, sd, offset
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(n)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        del options
        super().reset(seed=seed)
        return np.ones(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        paid = 1.0 if int(action) == self.n - 1 else self.second
        return np.ones(1, np.float32), paid + self.sd * float(self.np_random.normal()), True, False, {}


class Sides(Arms):
    """Two states, two actions: the side that the observation shows pays. Observations lie far from 0, at `offset`."""

    def __init__(self, offset: float = 0.0) -> None:
        super().__init__(2)
        self.shift, self.side = offset, 0

    def _seen(self) -> Any:
        return np.array([self.shift + (1.0 if self.side else -1.0)], np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.side = int(self.np_random.integers(2))
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._seen(), float(int(action) == self.side), True, False, {}


class Shown(Sides):
    """Pays what the observation shows, whatever is done: what a critic has to learn, and all of it."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        return self._seen(), float(self.side), True, False, {}


class Deaf(Arms):
    """Pays noise: what is done does not matter."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        return np.ones(1, np.float32), float(self.np_random.normal()), True, False, {}


class Whims(Arms):
    """Pays noise that follows no seed: what is done does not matter, and the same start is never paid alike."""

    noise = np.random.default_rng(7)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        return np.ones(1, np.float32), float(Whims.noise.normal()), True, False, {}


def arms() -> Arms:
    return Arms()


def whims() -> Whims:
    return Whims()


def noisy_arms() -> Arms:
    return Arms(4, second=0.5, sd=1.0)


def deaf() -> Deaf:
    return Deaf()


def shown() -> Shown:
    return Shown()


def sides() -> Sides:
    return Sides()


def far_sides() -> Sides:
    return Sides(offset=300.0)


def moving_sides() -> Any:
    return gymnasium.wrappers.NormalizeObservation(Sides(offset=300.0))


def last_arm(obs: Any) -> int:
    """The expert of `arms`."""
    del obs
    return 3


def hardly_expert(obs: Any) -> int:
    """An expert of `arms` that is right a little oftener than chance: in a third of the cases."""
    del obs
    return 3 if np.random.random() < 0.33 else 0


class Agent:
    """A softmax policy, linear in the observation and a constant."""

    def __init__(self, weights: Any, temperature: float = 1.0) -> None:
        self.weights, self.temperature = np.array(weights), temperature

    def probabilities(self, obs: Any) -> Any:
        logits = self.weights @ features(obs) / self.temperature
        p = np.exp(logits - logits.max())
        return p / p.sum()

    def act(self, obs: Any, deterministic: bool) -> int:
        p = self.probabilities(obs)
        return int(np.argmax(p)) if deterministic else int(np.random.choice(len(p), p=p))

    def save(self, path: str) -> None:
        Path(path).write_text(json.dumps(self.weights.tolist()))


def features(obs: Any) -> Any:
    return np.append(np.asarray(obs, float), 1.0)


Train = Callable[..., Agent]


def learn(
    make_env: Any,
    *,
    total_steps: int,
    seed: int,
    learning_rate: float = 0.5,
    epochs: int = 1,
    batch_size: int = 8,
    sign: float = 1.0,
    drift: float = 0.0,
    later: float = 1.0,
    temperature: float = 1.0,
    weights: Any = None,
    done: int = 0,
) -> Agent:
    """REINFORCE. `drift` moves the last action's weight after each batch; `later` scales all epochs but the first."""
    env = make_env()
    rng = np.random.default_rng(seed)
    agent = Agent(np.zeros((env.action_space.n, env.observation_space.shape[0] + 1)) if weights is None else weights)
    obs, _ = env.reset(seed=seed)
    while done < total_steps:
        rows: list[tuple[Any, int, float]] = []
        for _ in range(batch_size):
            p = agent.probabilities(obs)
            action = int(rng.choice(len(p), p=p))
            _, reward, *_ = env.step(action)
            rows.append((obs, action, reward))
            obs, _ = env.reset()
        done += batch_size
        centre = float(np.mean([r for *_, r in rows]))
        for epoch in range(epochs):
            slope = np.zeros_like(agent.weights)
            for seen, action, reward in rows:
                push = -agent.probabilities(seen)
                push[action] += 1.0
                slope += (reward - centre) * np.outer(push, features(seen))
            agent.weights += sign * (later if epoch else 1.0) * learning_rate * slope / batch_size
        agent.weights[-1, -1] += drift
    agent.temperature = temperature
    return agent


def steps(n: int) -> Callable[[Train], Train]:
    def mark(train: Train) -> Train:
        train.steps = n  # type: ignore[attr-defined]
        return train

    return mark


@steps(320)
def good(make_env: Any, *, total_steps: int, seed: int, learning_rate: float = 1.0) -> Agent:
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=learning_rate)


@steps(320)
def good_with_epochs(
    make_env: Any, *, total_steps: int, seed: int, epochs: int = 2, batch_size: int = 8, learning_rate: float = 0.5
) -> Agent:
    given = {"learning_rate": learning_rate, "epochs": epochs, "batch_size": batch_size}
    return learn(make_env, total_steps=total_steps, seed=seed, **given)


@steps(480)
def calm(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Learns, in small steps."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=0.4)


@steps(320)
def flipped(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=1.0, sign=-1.0)


@steps(320)
def frozen(
    make_env: Any, *, total_steps: int, seed: int, learning_rate: float = 1.0, epochs: int = 2, batch_size: int = 8
) -> Agent:
    """The update is computed and thrown away."""
    given = {"learning_rate": learning_rate, "epochs": epochs, "batch_size": batch_size}
    return learn(make_env, total_steps=total_steps, seed=seed, sign=0.0, **given)


@steps(320)
def drifting(make_env: Any, *, total_steps: int, seed: int, learning_rate: float = 1.0) -> Agent:
    """Something other than the reward moves the policy, to the action that happens to pay."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=learning_rate, drift=0.2)


@steps(320)
def lucky(make_env: Any, *, total_steps: int, seed: int, learning_rate: float = 1.0) -> Agent:
    """Learns with every second seed only."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=learning_rate, sign=float(seed % 2))


@steps(320)
def lucky_flip(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Its sign is flipped with two seeds of three; with the others it does not move."""
    return learn(make_env, total_steps=total_steps, seed=seed, sign=-1.0 if seed % 3 else 0.0)


@steps(320)
def lucky_drift(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Learns, and drifts as well with every second seed."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=1.0, drift=0.2 * (seed % 2))


@steps(320)
def overworked(make_env: Any, *, total_steps: int, seed: int, epochs: int = 4, num_minibatches: int = 1) -> Agent:
    """After the first epoch its importance weights push the wrong way: each further epoch undoes one."""
    del num_minibatches
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=1.0, epochs=epochs, later=-1.0)


@steps(160)
def starved(make_env: Any, *, total_steps: int, seed: int, batch_size: int = 2, learning_rate: float = 4.0) -> Agent:
    """Its batches are so small that noise decides where it goes."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=learning_rate, batch_size=batch_size)


@steps(320)
def timid(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Learns well, and then acts almost at random, unless asked for its best."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=1.0, temperature=40.0)


@steps(320)
def moody(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Acts almost at random after every second seed only."""
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=1.0, temperature=1 + 39.0 * (seed % 2))


def _resumed(path: str | None) -> Any:
    return None if path is None else np.array(json.loads(Path(path).read_text()))


@steps(320)
def keeper(make_env: Any, *, total_steps: int, seed: int, resume_from: str | None = None) -> Agent:
    done = 0 if resume_from is None else total_steps // 2
    return learn(
        make_env, total_steps=total_steps, seed=seed, learning_rate=1.0, weights=_resumed(resume_from), done=done
    )


@steps(320)
def forgetful(make_env: Any, *, total_steps: int, seed: int, resume_from: str | None = None) -> Agent:
    """Loads its step counter, but not its weights, and its learning rate has fallen by then."""
    rate = 1.0 if resume_from is None else 0.01
    done = 0 if resume_from is None else total_steps // 2
    return learn(make_env, total_steps=total_steps, seed=seed, learning_rate=rate, done=done)


@steps(320)
def absent_minded(make_env: Any, *, total_steps: int, seed: int, resume_from: str | None = None) -> Agent:
    """Forgets after every second seed."""
    return (forgetful if seed % 2 else keeper)(make_env, total_steps=total_steps, seed=seed, resume_from=resume_from)


@steps(320)
def seedless(make_env: Any, *, total_steps: int, seed: int) -> Agent:
    """Uses seed 7 whatever it is told."""
    del seed
    return learn(make_env, total_steps=total_steps, seed=7, learning_rate=1.0)

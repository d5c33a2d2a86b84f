"""`Task`: the environment of a subject, by its address, and what a policy earns on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError, missing_extra
from ...target import is_target, load_target
from ..experiment import Option
from ..trial import Trial
from .watch import Watch

EPISODES = 20
"""Episodes of one evaluation. Engineering default; `--with episodes=N` sets another number."""
EVALUATED = Option("episodes", f"episodes of one evaluation, instead of {EPISODES}", least=2)
LONGEST_STEPS = 2000
"""An episode of an evaluation is cut here: a task may have no end."""
MOST_STEPS = 50_000
"""An evaluation ends after so many steps once five episodes are over."""
EVALUATED_FRAC = 0.1
"""The same as a share of a training's steps, where trainings are scored: acting on one observation after the other
costs more than collecting in copies, so that twenty long episodes came to more than what they judged. How trainings
differ from seed to seed outweighs how episodes do. Engineering default."""
LEAST_STEPS = 2000
"""No evaluation is cut before so many steps, however short the training. Engineering default."""
FIRST_SEED = 1_000_000
"""Evaluation seeds start here, far from those of any training; both arms of a pair share them."""
KEPT_ROWS = 4096
"""Observations and rewards kept of a random policy."""

Act = Callable[[Any], Any]


@dataclass(frozen=True)
class Score:
    """What a policy earned: mean and spread of its episodes' returns, their mean length, and each return in order."""

    mean: float
    sd: float
    steps: float
    returns: tuple[float, ...] = ()


@dataclass(frozen=True)
class Sample:
    """What a random policy met: its score, observations [n, D] as they came, rewards [n]."""

    score: Score
    observations: list[Any]
    rewards: np.ndarray


class Task:
    """The task of a trial."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.factory = factory(trial.subject.env)
        self.episodes = max(int(trial.subject.given.get("episodes") or EPISODES), 2)
        self.most_steps = MOST_STEPS

    def make(self) -> Any:
        """Return a copy of the environment as it is."""
        env = self.factory()
        if not callable(getattr(env, "reset", None)) or not hasattr(env, "action_space"):
            raise InputError(f"{self.trial.subject.env} made {type(env).__name__}, no environment.", "")
        return env

    def maker(self, watch: Watch, change: Callable[[Any], Any] = lambda env: env) -> Callable[[], Any]:
        """Return what the trainer gets as `make_env`: copies of the environment, changed, and watched."""
        from .wrappers import Watched

        return lambda: Watched(change(self.make()), watch)

    def cheaper_than(self, steps: int, frac: float = EVALUATED_FRAC) -> None:
        """Let no evaluation cost more than a small share, `frac`, of a training of `steps` steps."""
        self.most_steps = min(MOST_STEPS, max(round(frac * steps), LEAST_STEPS))

    def score(self, act: Act, change: Callable[[Any], Any] = lambda env: env) -> Score:
        """Play episodes by `act` (observation -> action); they start alike in both arms of a pair of trials."""
        env = change(self.make())
        returns: list[float] = []
        lengths: list[int] = []
        try:
            for episode in range(self.episodes):
                observation, _ = env.reset(seed=FIRST_SEED + 1000 * self.trial.seed + episode)
                total, length, over = 0.0, 0, False
                while not over and length < LONGEST_STEPS:
                    observation, reward, terminated, truncated, _ = env.step(act(observation))
                    total, length, over = total + float(reward), length + 1, terminated or truncated
                    if length % 64 == 0:
                        self.trial.beat()
                returns.append(total)
                lengths.append(length)
                self.trial.beat()
                if len(returns) >= 5 and sum(lengths) > self.most_steps:
                    break
        finally:
            env.close()
        return Score(float(np.mean(returns)), float(np.std(returns, ddof=1)), float(np.mean(lengths)), tuple(returns))

    def observations(self, count: int) -> list[Any]:
        """Return what a random policy sees first: `count` observations, over as many episodes as that takes."""
        env = self.make()
        env.action_space.seed(self.trial.seed)
        found: list[Any] = []
        episode = 0
        try:
            while len(found) < count:
                observation, _ = env.reset(seed=FIRST_SEED + 1000 * self.trial.seed + episode)
                episode, over = episode + 1, False
                while not over and len(found) < count:
                    found.append(np.array(observation, copy=True))
                    observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
                    over = terminated or truncated
        finally:
            env.close()
        return found

    def at_random(self) -> Sample:
        """Play a random policy, keeping what it met."""
        env = self.make()
        space = env.action_space
        env.close()
        space.seed(self.trial.seed)
        observations: list[Any] = []
        rewards: list[float] = []

        def act(observation: Any) -> Any:
            if len(observations) < KEPT_ROWS:
                observations.append(np.array(observation, copy=True))
            return space.sample()

        def listening(inner: Any) -> Any:
            step = inner.step

            def stepped(action: Any) -> Any:
                found = step(action)
                if len(rewards) < KEPT_ROWS:
                    rewards.append(float(found[1]))
                return found

            inner.step = stepped
            return inner

        return Sample(self.score(act, listening), observations, np.array(rewards))


def factory(address: str) -> Callable[[], Any]:
    """Return what makes the environment called `address`, a Gymnasium id or `module:factory`.

    Raises:
        InputError: there is none.
        MissingExtraError: Gymnasium is not installed.
    """
    if is_target(address):
        found = load_target(address)
        if not callable(found):
            raise InputError(f"{address} is {type(found).__name__}, no factory.", "Name a function that returns one.")
        return found
    try:
        import gymnasium
    except ImportError as error:
        raise missing_extra("gymnasium", "gym", "An experiment on an environment") from error
    if address.startswith("firstbreak/"):
        from ...probes.register import register

        register()
    try:
        gymnasium.spec(address)
    except gymnasium.error.Error as error:
        raise InputError(f"Gymnasium knows no {address}: {error}", "Give an id, or module:factory.") from error
    return lambda: gymnasium.make(address)

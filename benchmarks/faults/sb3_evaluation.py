"""Evaluations beside an SB3 training, logged as its EvalCallback logs them, and what they should have said."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.faults.recording import Recording
from benchmarks.faults.tiny_worlds import made

EPISODES = 5


class Evaluation(BaseCallback):
    """Plays `episodes` episodes at a time; the attributes are what faults of the protocol change."""

    def __init__(self, world: str, every: int, seed: int, recording: Recording) -> None:
        super().__init__()
        self.world, self.every, self.recording = world, every, recording
        self.chance = np.random.default_rng([seed, 7])
        self.next = every
        self.episodes = EPISODES
        self.random_frac = 0.0
        """Share of the actions that are drawn at random."""
        self.fresh_normaliser = False
        """Normalise by statistics that were never filled."""
        self.reports_best = False
        """Report the best so far."""
        self.best = -np.inf

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self.next += self.every
            self.evaluate()
        return True

    def evaluate(self) -> None:
        """One evaluation, logged, and one by the right protocol, for the oracle."""
        scores, lengths = self.play(self.episodes, self.random_frac, self.fresh_normaliser)
        score = float(np.mean(scores))
        self.best = max(self.best, score)
        told = self.best if self.reports_best else score
        right = float(np.mean(self.play(EPISODES, 0.0, False)[0]))
        began = self.recording.start_step
        if began is None or self.num_timesteps >= began:
            self.recording.oracle.append((self.num_timesteps, abs(told - right)))
        self.logger.record("eval/mean_reward", told)
        self.logger.record("eval/mean_ep_length", float(np.mean(lengths)))
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)

    def play(self, episodes: int, random_frac: float, fresh: bool) -> tuple[list[float], list[int]]:
        """Returns and lengths of the first episode of each copy, with the likeliest actions."""
        env = DummyVecEnv([lambda: Statistics(made(self.world))] * episodes)
        env.seed(int(self.chance.integers(2**31)))
        normaliser = self.model.get_vec_normalize_env()
        obs: Any = env.reset()
        found: dict[int, tuple[float, int]] = {}
        while len(found) < episodes:
            action, _ = self.model.predict(normalised(obs, normaliser, fresh), deterministic=True)
            for i in range(episodes):
                if random_frac and self.chance.random() < random_frac:
                    action[i] = random_action(env.action_space, self.chance)
            obs, _, dones, infos = env.step(action)
            for i in np.flatnonzero(dones):
                found.setdefault(int(i), (infos[i]["episode"]["r"], infos[i]["episode"]["l"]))
        env.close()
        return [score for score, _ in found.values()], [length for _, length in found.values()]


def normalised(obs: Any, normaliser: Any, fresh: bool) -> Any:
    """Observations as the policy knows them."""
    if normaliser is None:
        return obs
    if not fresh:
        return normaliser.normalize_obs(obs)
    empty = RunningMeanStd(shape=obs.shape[1:])
    bound = normaliser.clip_obs
    return np.clip((obs - empty.mean) / np.sqrt(empty.var + normaliser.epsilon), -bound, bound).astype(np.float32)


def random_action(space: Any, chance: np.random.Generator) -> Any:
    """An action drawn evenly, by random numbers of the evaluation's own."""
    if hasattr(space, "n"):
        return int(chance.integers(space.n))
    return chance.uniform(space.low, space.high).astype(space.dtype)

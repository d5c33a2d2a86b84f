"""Subjects of Stable-Baselines3, trained without the monitor that watched the recorded run."""

from __future__ import annotations

import inspect
from typing import Any

from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from benchmarks.faults.recording import Recording
from benchmarks.faults.sb3 import MAKES, Switch
from benchmarks.faults.sb3_evaluation import Evaluation
from benchmarks.settle.trainers import Course
from firstbreak.probes.adapters.sb3 import Agent

PLAIN = (bool, int, float, str)
NONE_OF_THE_RUN = ("seed", "verbose", "policy", "env", "device", "stats_window_size")


class Normalised(Agent):
    """An agent that knows observations through the normaliser of its training, as it is at the end."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        worth = self.value
        self.value = lambda obs: worth(self.seen(obs))

    def act(self, obs: Any, deterministic: bool) -> Any:
        return super().act(self.seen(obs), deterministic)

    def seen(self, obs: Any) -> Any:
        return self.model.get_vec_normalize_env().normalize_obs(obs)


def trained(course: Course) -> Agent:
    """Train once."""
    settings, options = course.planned()
    copies = settings.pop("copies", 1)
    settings |= course.settings
    copies = int(settings.pop("n_envs", copies))
    env: Any = DummyVecEnv([course.world] * copies)
    if options.get("normalised"):
        env = VecNormalize(env, gamma=settings.get("gamma", 0.99))
    place = course.place
    model = MAKES[place.subject]("MlpPolicy", env, seed=course.seed, device="cpu", verbose=0, **settings)
    model.set_logger(Logger(folder=None, output_formats=[]))
    if every := options.get("evaluate_every"):  # what faults of the evaluation take hold of; it is not played here
        model.evaluation = Evaluation(place.entry.world or place.task, int(every), course.seed, Recording())
    switch = Switch(place.plan, Recording(), course.truth, course.at, course.total)
    model.learn(course.total, callback=switch, log_interval=None)
    return Normalised(model) if options.get("normalised") else Agent(model)


def defaults(subject: str) -> dict[str, Any]:
    """The plain settings that the algorithm has by itself."""
    parameters = inspect.signature(MAKES[subject].__init__).parameters
    found = {name: p.default for name, p in parameters.items() if isinstance(p.default, PLAIN)}
    return {name: value for name, value in found.items() if name not in NONE_OF_THE_RUN}

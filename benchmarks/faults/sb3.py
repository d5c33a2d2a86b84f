"""Stable-Baselines3 as it is used: its own logger's keys, and beside them what the monitor's callback measures."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, filter_excluded_keys
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task
from benchmarks.faults.faulty_env import Truth, maker
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.plans import Plan
from benchmarks.faults.recording import Recording
from benchmarks.faults.sb3_evaluation import Evaluation
from firstbreak.monitor.adapters.sb3 import MonitorCallback

MAKES: dict[str, Any] = {"sb3_ppo": PPO, "sb3_a2c": A2C, "sb3_dqn": DQN, "sb3_sac": SAC}
LOGGED = (
    "learning_rate", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm",
    "buffer_size", "learning_starts", "tau", "gradient_steps", "target_update_interval", "exploration_fraction",
    "exploration_initial_eps", "exploration_final_eps", "normalize_advantage", "n_envs", "seed",
)  # fmt: skip
"""Settings that a user's script logs beside the metrics."""
ROWS = 100
"""Rows of the monitor in an off-policy run, about: the usual 500 steps a row are meant for longer ones."""


class Rows(KVWriter):
    """What SB3 would write to `progress.csv`."""

    def __init__(self, recording: Recording, padded: tuple[str, ...] = ()) -> None:
        self.recording = recording
        self.padded = padded
        """Keys that a row without them holds as NaN, as tables do that are written whole."""

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        row = filter_excluded_keys(key_values, key_excluded, "csv")
        self.recording.log({**dict.fromkeys(self.padded, float("nan")), **row}, step)

    def close(self) -> None:
        """Nothing is open."""


class Switch(BaseCallback):
    """Switches the fault on when its time has come."""

    def __init__(self, plan: Plan, recording: Recording, truth: Truth, at: float | None, total: int) -> None:
        super().__init__()
        self.plan, self.recording, self.truth, self.at, self.total = plan, recording, truth, at, total

    def _on_training_start(self) -> None:
        if self.at == 0.0:
            self.switch()
        self.recording.config = settings_of(self.model, self.plan.subject, self.total)

    def _on_step(self) -> bool:
        if self.at and self.num_timesteps >= self.at:
            self.switch()
        return True

    def switch(self) -> None:
        """Now."""
        self.at = None
        self.recording.start_step = float(self.num_timesteps)
        name, subject = self.plan.name, self.plan.subject
        if name in planting.WORLD:
            self.truth.change = planting.WORLD[name]
        elif (name, subject) in planting.TRAINER:
            planting.TRAINER[name, subject](self.model)


def train(task: Task, plan: Plan, switch_frac: float | None, recording: Recording) -> None:
    """Train once."""
    with Guarded(recording, "", "", "env_steps") as guard:
        train_guarded(task, plan, switch_frac, recording, guard)


def train_guarded(task: Task, plan: Plan, switch_frac: float | None, recording: Recording, guard: Guarded) -> None:
    """Train once, with a monitor that only watches."""
    settings, options = deepcopy(task.settings), deepcopy(task.options)
    planting.change_settings(plan.name, plan.subject, settings, options, task.total)
    total = int(options.pop("total", task.total))
    truth = Truth()
    if switch_frac == 0.0 and plan.name in planting.WORLD:  # the first observation belongs to the run, too
        truth.change = planting.WORLD[plan.name]
    world = task.world or task.name
    factory = maker(world, truth, plan.seed, guard.world)
    env: Any = DummyVecEnv([lambda: Statistics(factory())] * settings.pop("copies", 1))
    if options.get("normalised"):
        env = VecNormalize(env, gamma=settings.get("gamma", 0.99))
    model = MAKES[plan.subject]("MlpPolicy", env, seed=plan.seed, device="cpu", verbose=0, **settings)
    padded = ("eval/mean_reward", "eval/mean_ep_length") if options.get("pads") else ()
    model.set_logger(Logger(folder=None, output_formats=[Rows(recording, padded)]))
    at = None if switch_frac is None else switch_frac * total
    watching = MonitorCallback(guard.monitor, every_steps=max(1, total // ROWS))
    callbacks: list[BaseCallback] = [watching, Switch(plan, recording, truth, at, total)]
    if every := options.get("evaluate_every"):
        model.evaluation = Evaluation(world, int(every), plan.seed, recording)
        callbacks.append(model.evaluation)
    try:
        model.learn(total, callback=callbacks, log_interval=options.get("log_interval", 1))
    finally:
        recording.end_step = max(recording.end_step, float(model.num_timesteps))
        recording.scores = [(float(step), score) for step, score in truth.episodes]


def settings_of(model: Any, subject: str, total: int) -> dict[str, Any]:
    """The settings in force when training begins, as scripts log them."""
    found: dict[str, Any] = {"algo": subject.removeprefix("sb3_"), "policy": "MlpPolicy", "total_timesteps": total}
    for name in LOGGED:
        value = getattr(model, name, None)
        if isinstance(value, (int, float, str, bool, np.number)):
            found[name] = value.item() if isinstance(value, np.generic) else value
    frequency = getattr(model, "train_freq", None)
    if frequency is not None:
        found["train_freq"] = int(getattr(frequency, "frequency", frequency))
    clip = getattr(model, "clip_range", None)
    if callable(clip):
        found["clip_range"] = float(clip(1.0))
    return found

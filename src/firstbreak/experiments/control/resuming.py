"""Training in two halves with a checkpoint in between: the agent is saved, loaded afresh, and trained on."""

from __future__ import annotations

import inspect
from typing import Any, cast

from ...errors import InputError
from ...probes.adapters.reaching import SB3
from ...target import load_target
from .training import Subjected, seed_everything
from .watch import Watch

FORM = (
    "Write: train(make_env, *, total_steps, seed, resume_from=None), where total_steps counts from the very beginning, "
    "and agent.save(path), which writes what resume_from=path needs."
)
SEED_STEP = 7919
"""Added to the seed of the second half: a resumed process draws other numbers than an uninterrupted one."""


def train_in_halves(subject: Subjected) -> Any:
    """Train for half of the steps, save, load, and train to the end; return the agent.

    Raises:
        InputError: the trainer offers no way to resume.
    """
    trial = subject.trial
    sb3 = trial.subject.trainer.startswith(SB3)
    if not sb3:
        _insist_on_resume(trial.subject.trainer)
    agent = subject.train(steps=subject.steps // 2)
    path = trial.folder / "checkpoint"
    if sb3:
        return _sb3(subject, agent, str(path))
    save = getattr(agent, "save", None)
    if not callable(save):
        raise InputError(f"The agent of {trial.subject.trainer} cannot be saved.", FORM)
    save(str(path))
    del agent
    trial.seed += SEED_STEP
    try:
        return subject.train(more={"resume_from": str(path)})
    finally:
        trial.seed -= SEED_STEP


def _insist_on_resume(trainer: str) -> None:
    parameters = inspect.signature(load_target(trainer)).parameters
    if "resume_from" not in parameters:
        raise InputError(f"{trainer} takes no resume_from.", FORM)


def _sb3(subject: Subjected, agent: Any, path: str) -> Any:
    """Save and load by SB3's own means; what these leave behind (a replay buffer) is left behind."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    trainer, trial = cast(Any, subject.reached.train), subject.trial
    agent.model.save(path)
    watch = Watch(trial, subject.steps)
    copies = int(trainer.settings.get("n_envs", 1))
    seed_everything(trial.seed + SEED_STEP)
    envs = DummyVecEnv([subject.task.maker(watch)] * copies)
    model = trainer.algorithm.load(path, env=envs, device="cpu")
    model.set_random_seed(trial.seed + SEED_STEP)
    model.learn(subject.steps - subject.steps // 2, reset_num_timesteps=False)
    trial.env_steps += watch.steps
    return type(agent)(model)

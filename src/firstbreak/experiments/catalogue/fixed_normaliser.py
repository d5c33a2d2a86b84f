"""The experiment `fixed-normaliser`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...finding import Component, Link
from ..control.readings import EXPECT, falls_short, share_of_span
from ..control.task import Task
from ..control.training import SCORED, Change, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial

LEAST_SD = 1e-6


@experiment(
    "fixed-normaliser",
    hypothesis="What the policy sees is not on a fixed unit scale, and this keeps it from learning.",
    changes="normaliser",
    control="own",
    changed="fixed",
    prediction="With observations shifted and scaled once by fixed numbers, the score is higher.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT),
    cost=Cost(2.0, "two trainings for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=share_of_span,
        symptom=falls_short,
    ),
    link=Link.ENVIRONMENT_DATA,
    component=Component.NORMALISER,
)
def measure(trial: Trial) -> Measures:
    """What the policy sees is not on a fixed unit scale.

    What is changed:
        Observations are shifted and scaled by the mean and spread that a random policy meets, and these numbers never
        change. Where the task normalises by statistics that move, these are stopped after the random episodes instead.
        Evaluation sees what training saw.

    Prediction:
        If raw scales or moving statistics are what harms it, the score rises.

    How the verdict is drawn:
        Confirmed when changed minus control lies above the margin, refuted when below it.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        A random policy may never meet the states that matter, so their scale is wrong even then. A normaliser inside
        the trainer's own code is not reached: switch it off with --set.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.3; Engstrom et al. 2020, arXiv 2005.12729.
    """
    kind = str(trial.settings["normaliser"])
    trial.uses(normaliser=kind)
    return train_and_score(trial, change=(lambda env: env) if kind == "own" else fixing(trial))


def fixing(trial: Trial) -> Change:
    """Return what puts the observations of an environment on a fixed scale."""
    from ..control.wrappers import Fixed, normalisers, share_statistics

    task = Task(trial)
    warm = task.make()
    if normalisers(warm):
        _play(warm, trial)
        return lambda env: share_statistics([warm], env)
    rows = np.array([np.asarray(o, float).reshape(-1) for o in task.at_random().observations])
    shape = warm.observation_space.shape
    if shape is None or not np.issubdtype(warm.observation_space.dtype, np.floating):
        raise InputError(f"{trial.subject.env} has no observations of numbers to scale.", "It needs a Box of floats.")
    mean, sd = rows.mean(0).reshape(shape), np.maximum(rows.std(0), LEAST_SD).reshape(shape)
    sd = np.where(sd <= LEAST_SD, 1.0, sd)
    return lambda env: Fixed(env, mean, sd)


def _play(env: Any, trial: Trial) -> None:
    env.action_space.seed(trial.seed)
    env.reset(seed=trial.seed)
    for _ in range(1000):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    trial.beat()

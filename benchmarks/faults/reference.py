"""The reference trainers on TorchRL: what they hand to their own `log`, and beside it what the monitor measures."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task
from benchmarks.faults.faulty_env import Truth, maker
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.plans import Plan
from benchmarks.faults.recording import Recording
from benchmarks.faults.tiny_worlds import made
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

logging.getLogger("torchrl").setLevel(logging.WARNING)  # it tells of every buffer that it makes

MAKES: dict[str, tuple[Any, Any]] = {
    "ppo": (PPO, PPOConfig),
    "dqn": (DQN, DQNConfig),
    "sac": (SAC, SACConfig),
    "mmrkhs": (MMRKHS, MMRKHSConfig),
}
NAMES = {"ppo": "PPO", "dqn": "DQN", "sac": "SAC", "mmrkhs": "MM-RKHS"}


def train(task: Task, plan: Plan, switch_frac: float | None, recording: Recording) -> None:
    """Train once."""
    with Guarded(recording, NAMES[plan.subject], "", "env_steps") as guard:
        train_guarded(task, plan, switch_frac, recording, guard)


def train_guarded(task: Task, plan: Plan, switch_frac: float | None, recording: Recording, guard: Guarded) -> None:
    """Train once, with a monitor that only watches."""
    settings, options = deepcopy(task.settings), deepcopy(task.options)
    planting.change_settings(plan.name, plan.subject, settings, options, task.total)
    total = int(options.pop("total", task.total))
    sizes = {"hidden_sizes": tuple(settings.pop("hidden_sizes"))} if "hidden_sizes" in settings else {}
    make, config_of = MAKES[plan.subject]
    truth = Truth()
    if switch_frac == 0.0 and plan.name in planting.WORLD:  # the first observation belongs to the run, too
        truth.change = planting.WORLD[plan.name]
    trainer = make(
        maker(task.name, truth, plan.seed, guard.world), seed=plan.seed, config=config_of(**settings, **sizes)
    )
    trainer.run_total = total
    at = None if switch_frac is None else switch_frac * total

    def switch() -> None:
        nonlocal at
        at = None
        recording.start_step = float(trainer.env_steps)
        if plan.name in planting.WORLD:
            truth.change = planting.WORLD[plan.name]
        elif (plan.name, plan.subject) in planting.TRAINER:
            planting.TRAINER[plan.name, plan.subject](trainer)

    evaluations = Rare(trainer, task.name, options.get("evaluates"), plan.seed)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        row = {**metrics, **evaluations.row(step)}
        recording.log(row, step)
        tell(row, step)
        if at is not None and step >= at:  # between two updates
            switch()

    if at == 0.0:
        switch()
    tell = log_to(guard.monitor, trainer)
    # Read after what is planted from the start: a wrong setting shows in the configuration, as it would for a user.
    recording.config = settings_of(trainer, plan, total)
    try:
        trainer.learn(total, on_row)
    finally:
        recording.end_step = max(recording.end_step, float(trainer.env_steps))
        recording.scores = [(float(step), score) for step, score in truth.episodes]


class Rare:
    """Evaluations at long intervals; the rows between them hold NaN in their place, as tables do."""

    def __init__(self, trainer: Any, world: str, every: int | None, seed: int) -> None:
        self.trainer, self.world, self.every, self.seed = trainer, world, every, seed
        self.next = every or 0

    def row(self, step: int) -> dict[str, float]:
        """What a row holds of them."""
        if not self.every:
            return {}
        if step < self.next:
            return {"reward/eval_return_mean": float("nan")}
        self.next += self.every
        return {"reward/eval_return_mean": self.score()}

    def score(self) -> float:
        """Mean return of five episodes with the likeliest actions."""
        env, scores = made(self.world), [0.0] * 5
        for i in range(len(scores)):
            (obs, _), over = env.reset(seed=1000 * self.seed + i), False
            while not over:
                obs, reward, terminated, truncated, _ = env.step(self.trainer.act(obs, deterministic=True))
                scores[i] += float(reward)
                over = terminated or truncated
        return sum(scores) / len(scores)


def settings_of(trainer: Any, plan: Plan, total: int) -> dict[str, Any]:
    """The trainer's settings as `log_jsonl` writes them, and what a script adds."""
    found = {k: v for k, v in vars(trainer.config).items() if isinstance(v, (int, float, str, bool))}
    return {"algorithm": NAMES[plan.subject], **found, "total_steps": total, "seed": plan.seed}

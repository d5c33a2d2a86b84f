"""Hard negatives of trainers that act in an environment: what looks like trouble and is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.faults.faulty_env import Change, Stepped
from benchmarks.faults.planting import FROM_THE_START, in_settings, in_the_world, in_trainer

SB3, REFERENCE = ("sb3_ppo", "sb3_a2c"), ("ppo", "mmrkhs")
FROM_THE_START |= {"reward-rescaled", "sparse-evaluation"}


@in_the_world("reward-rescaled")
class Rescaled(Change):
    """A hundredth of every reward, as a wrapper in a script does."""

    def pay(self, reward: float) -> float:
        return reward / 100


@in_the_world("curriculum-shift")
class Harder(Change):
    """Every fourth action slips: the policy has to keep more in hand."""

    def step(self, action: Any) -> Stepped:
        if self.chance.random() < 0.25:
            space = self.env.action_space
            action = (
                int(self.chance.integers(space.n))
                if hasattr(space, "n")
                else self.chance.uniform(space.low, space.high).astype(space.dtype)
            )
        return super().step(action)


@in_settings("slow-learner", *SB3, *REFERENCE)
def slow_learner(change: dict[str, Any]) -> None:
    name = "actor_lr" if "minibatch_size" in change["settings"] else "learning_rate"
    change["settings"][name] = change["settings"].get(name, 1e-3) / 4


@in_settings("short-run", "sb3_ppo", "ppo", "sb3_dqn")
def short_run(change: dict[str, Any]) -> None:
    change["options"]["total"] = change["total"] // 10


@in_settings("few-rows", "sb3_ppo", "sb3_a2c", "dqn")
def few_rows(change: dict[str, Any]) -> None:
    if "log_every_steps" in change["settings"]:
        change["settings"]["log_every_steps"] = change["total"] // 12
        return
    steps = change["settings"]["copies"] * change["settings"]["n_steps"]
    change["options"]["log_interval"] = max(1, change["total"] // steps // 12)


@in_settings("exploration-kept", "sb3_a2c", "ppo")
def exploration_kept(change: dict[str, Any]) -> None:
    change["settings"]["ent_coef" if "n_steps" in change["settings"] else "entropy_coef"] = 0.05


@in_settings("large-steps-that-hold", "sb3_ppo", "ppo")
def large_steps(change: dict[str, Any]) -> None:
    change["settings"] |= {"learning_rate": 3e-3, "target_kl": 0.03}


@in_settings("entropy-falls", "sb3_a2c", "ppo")
def entropy_falls(change: dict[str, Any]) -> None:
    change["settings"]["ent_coef" if "n_steps" in change["settings"] else "entropy_coef"] = 0.0


@in_settings("sparse-and-noisy", "sb3_ppo", "ppo")
def sparse_and_noisy(change: dict[str, Any]) -> None:
    del change  # the task itself is


# ---- events -------------------------------------------------------------------------------------------------------


@in_trainer("warm-restart", "sb3_ppo")
def warm_restart(model: Any) -> None:
    """The rate goes up to twice its value, and falls on a cosine (Loshchilov and Hutter 2017, arXiv 1608.03983)."""
    usual, began = model.lr_schedule, model._current_progress_remaining
    model.lr_schedule = lambda left: 2 * usual(left) * (0.5 + 0.5 * np.cos(np.pi * (1 - left / max(began, 1e-9))))


@in_trainer("warm-restart", "ppo")
def warm_restart_reference(trainer: Any) -> None:
    from benchmarks.faults.faults_reference import changed

    # It falls along a line: from here on it does so from twice its first value again.
    left = 1 - trainer.env_steps / trainer.run_total
    changed(trainer, learning_rate=2 * trainer.config.learning_rate / max(left, 0.2))


@in_trainer("resumed", "sb3_ppo")
def resumed(model: Any) -> None:
    """Weights, optimiser and schedule are there again; statistics of episodes and the clock of fps are not."""
    import time

    model.ep_info_buffer.clear()
    model.start_time = time.time_ns()
    model._num_timesteps_at_start = model.num_timesteps


@in_trainer("resumed", "ppo")
def resumed_reference(trainer: Any) -> None:
    from copy import deepcopy

    trainer.episodes.ended = []
    trainer.optimiser.load_state_dict(deepcopy(trainer.optimiser.state_dict()))


@in_settings("sparse-evaluation", "sb3_ppo")
def sparse_evaluation(change: dict[str, Any]) -> None:
    change["options"] |= {"evaluate_every": change["total"] // 6, "pads": True}


@in_settings("sparse-evaluation", "ppo")
def sparse_evaluation_reference(change: dict[str, Any]) -> None:
    change["options"]["evaluates"] = change["total"] // 6

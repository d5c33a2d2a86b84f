"""Faults of the reference DQN and SAC: targets, replay buffer, exploration."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.faults.faults_reference import changed
from benchmarks.faults.planting import in_settings, in_trainer


def stored(trainer: Any, change: Any) -> None:
    """Give the rows that enter the replay buffer through `change(rows)`; None keeps them out."""
    usual = trainer.buffer.extend

    def extend(rows: Any) -> None:
        rows = change(rows.clone())
        if rows is not None:
            usual(rows)

    trainer.buffer.extend = extend


@in_trainer("timeout-bootstrap-from-reset", "sac")
def timeout_from_reset(trainer: Any) -> None:
    def first_of_next(rows: Any) -> Any:
        # The world has been reset already: what it shows now is the first observation of the next episode.
        now = trainer._now["observation"]
        rows["next_obs"] = torch.where(rows["truncated"][:, None], now, rows["next_obs"])
        return rows

    stored(trainer, first_of_next)


@in_trainer("next-observation-of-reset", "dqn")
def next_of_reset(trainer: Any) -> None:
    def first_of_next(rows: Any) -> Any:
        over = rows["terminated"] | rows["truncated"]
        rows["next_obs"] = torch.where(over[:, None], trainer._now["observation"], rows["next_obs"])
        rows["terminated"] = torch.zeros_like(rows["terminated"])
        return rows

    stored(trainer, first_of_next)


@in_trainer("observations-aliased", "dqn")
def observations_aliased(trainer: Any) -> None:
    def overwritten(rows: Any) -> Any:
        rows["obs"] = rows["next_obs"].clone()
        return rows

    stored(trainer, overwritten)


@in_trainer("replay-full", "dqn", "sac")
def replay_full(trainer: Any) -> None:
    # Batches need rows: from the start it is the first thousand that stay.
    stored(trainer, lambda rows: rows if len(trainer.buffer) < 1000 else None)


@in_settings("replay-small", "dqn")
def replay_small(change: dict[str, Any]) -> None:
    change["settings"]["buffer_size"] = 64


def sampled(trainer: Any, **columns: Any) -> None:
    """Replace columns of every sample by `change(column)`."""
    usual = trainer.sample

    def sample() -> Any:
        rows = usual()
        for name, change in columns.items():
            rows[name] = change(rows[name])
        return rows

    trainer.sample = sample


@in_trainer("done-ignored", "dqn")
def done_ignored(trainer: Any) -> None:
    sampled(trainer, terminated=torch.zeros_like)


@in_trainer("target-every-step", "dqn")
def target_every_step(trainer: Any) -> None:
    changed(trainer, target_interval=1)


@in_trainer("target-never", "dqn", "sac")
def target_never(trainer: Any) -> None:
    trainer.sync_target = lambda: None


@in_trainer("target-fast", "sac")
def target_fast(trainer: Any) -> None:
    changed(trainer, tau=1.0)


@in_trainer("twins-maximum", "sac")
def twins_maximum(trainer: Any) -> None:
    @torch.no_grad()
    def td_target(sample: Any) -> Any:
        next_action, log_prob = trainer.actor.sample(sample["next_obs"])
        first, second = (critic(sample["next_obs"], next_action) for critic in trainer.target_critics)
        soft_value = torch.maximum(first, second) - trainer.alpha * log_prob
        return sample["reward"] + trainer.gamma * (~sample["terminated"]) * soft_value

    trainer.td_target = td_target


@in_trainer("critic-dead", "sac")
@torch.no_grad()
def critic_dead(trainer: Any) -> None:
    for critic in trainer.critics:
        next(m for m in critic.modules() if isinstance(m, torch.nn.Linear)).bias.fill_(-10.0)


@in_trainer("critic-learning-rate-x1000", "sac")
def critic_learning_rate(trainer: Any) -> None:
    for group in trainer.critic_optimiser.param_groups:
        group["lr"] *= 1000


@in_trainer("actor-detached", "sac")
def actor_detached(trainer: Any) -> None:
    usual = trainer.actor_loss

    def loss(sample: Any, draw: Any = None) -> Any:
        action, log_prob = trainer.actor.sample(sample["obs"]) if draw is None else draw
        return usual(sample, (action.detach(), log_prob))

    trainer.actor_loss = loss


# ---- exploration --------------------------------------------------------------------------------------------------


@in_settings("epsilon-zero", "dqn")
def epsilon_zero(change: dict[str, Any]) -> None:
    change["settings"] |= {"epsilon_start": 0.0, "epsilon_end": 0.0}


@in_settings("epsilon-fast", "dqn")
def epsilon_fast(change: dict[str, Any]) -> None:
    change["settings"] |= {"epsilon_frac": 20 / change["total"], "epsilon_end": 0.0}


@in_trainer("epsilon-high", "dqn")
def epsilon_high(trainer: Any) -> None:
    changed(trainer, epsilon_end=0.6)


@in_trainer("epsilon-grows", "dqn")
def epsilon_grows(trainer: Any) -> None:
    """From what it is now, to 1 half-way to the end of the run."""
    now, began = trainer.epsilon, trainer.env_steps
    reach = max(1.0, (trainer.run_total - began) / 2)

    class Growing(type(trainer)):
        """The same trainer with another epsilon."""

        @property
        def epsilon(self) -> float:
            return now + (1 - now) * min(1.0, (self.env_steps - began) / reach)

    # At the very start epsilon is 1, from which nothing can grow: then it grows from 0.
    if began == 0:
        now = 0.0
    trainer.__class__ = Growing

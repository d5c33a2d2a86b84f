"""Faults of the eighth live campaign in the reference trainers that replay; what they are: eighth.toml.

Each is handed the trainer and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

Plant = Callable[[Any, float], None]


def of_samples(change: Callable[[Any, Any], Any]) -> Plant:
    """Return what lets `change` do what it does to every sample of the replay buffer."""

    def plant(trainer: Any, dose: float) -> None:
        del dose
        usual = trainer.sample
        trainer.sample = lambda: change(trainer, usual())

    return plant


def action_row_before(trainer: Any, sample: Any) -> Any:
    """Each row has the action of the row before."""
    del sample
    held = len(trainer.buffer)
    rows = torch.randint(held, (trainer.config.batch_size,))
    found, before = trainer.buffer[rows], trainer.buffer[(rows - 1) % held]
    found["action"] = before["action"].clone()
    return found


def mask_turned(trainer: Any, sample: Any) -> Any:
    """What follows counts where an episode has ended, and nowhere else."""
    del trainer
    sample["terminated"] = ~sample["terminated"]
    return sample


def kept_as_bytes(trainer: Any, sample: Any) -> Any:
    """Observations are kept as whole numbers."""
    del trainer
    for name in ("obs", "next_obs"):
        sample[name] = sample[name].trunc()
    return sample


def of_new_rows(change: Callable[[Any, float], None]) -> Plant:
    """Return what lets `change` do what it does to every row that is stored."""

    def plant(trainer: Any, dose: float) -> None:
        usual = trainer.buffer.extend

        def extend(rows: Any) -> Any:
            kept = rows.clone()
            change(kept, dose)
            return usual(kept)

        trainer.buffer.extend = extend

    return plant


def rows_blank(rows: Any, dose: float) -> None:
    """All that is written is nothing."""
    del dose
    for name in rows.keys():  # noqa: SIM118  (a TensorDict is no mapping to iterate over)
        rows[name] = torch.zeros_like(rows[name])


def actions_in_other_units(rows: Any, dose: float) -> None:
    """Actions are stored so many times as large as they were."""
    rows["action"] = rows["action"] * dose


def extreme_of_batch(trainer: Any, dose: float) -> None:
    """The largest value (of two critics the smallest) is taken over the whole batch, not over the row."""
    del dose

    @torch.no_grad()
    def td_target(sample: Mapping[str, Any]) -> Any:
        if hasattr(trainer, "target_network"):
            value = trainer.target_network(sample["next_obs"]).max()
        else:
            action, log_prob = trainer.actor.sample(sample["next_obs"])
            value = torch.stack([critic(sample["next_obs"], action) for critic in trainer.target_critics]).min()
            value = value - trainer.alpha * log_prob
        return sample["reward"] + trainer.gamma * (~sample["terminated"]) * value

    trainer.td_target = td_target


def entropy_turned(trainer: Any, dose: float) -> None:
    """The sign of the entropy in the critics' target is wrong."""
    del dose

    @torch.no_grad()
    def td_target(sample: Mapping[str, Any]) -> Any:
        action, log_prob = trainer.actor.sample(sample["next_obs"])
        value = torch.minimum(*(critic(sample["next_obs"], action) for critic in trainer.target_critics))
        soft = value + trainer.alpha * log_prob
        return sample["reward"] + trainer.gamma * (~sample["terminated"]) * soft

    trainer.td_target = td_target


def correction_dropped(trainer: Any, dose: float) -> None:
    """The log-probability of an action is that before tanh."""
    del dose
    actor = trainer.actor

    def sample(obs: Any) -> tuple[Any, Any]:
        mean, log_std = actor(obs)
        before = torch.distributions.Normal(mean, log_std.exp())
        drawn = before.rsample()
        return actor._stretched(torch.tanh(drawn)), before.log_prob(drawn).sum(-1)

    actor.sample = sample


def temperature_is_logarithm(trainer: Any, dose: float) -> None:
    """The logarithm of the temperature is taken for the temperature."""
    del dose
    trainer.__class__ = type("Logarithm", (type(trainer),), {"alpha": property(lambda self: self.log_alpha)})


def exponent_twice(trainer: Any, dose: float) -> None:
    """The spread is taken for its logarithm."""
    del dose
    usual = trainer.actor.forward

    def forward(obs: Any) -> tuple[Any, Any]:
        mean, log_std = usual(obs)
        return mean, log_std.exp()

    trainer.actor.forward = forward


def coin_turned(trainer: Any, dose: float) -> None:
    """An action is random where it should be greedy, and greedy where it should be random."""
    del dose

    def explored(greedy: Any) -> Any:
        random = torch.randint(trainer.actions, greedy.shape)
        return torch.where(torch.rand(greedy.shape) > trainer.epsilon, random, greedy)

    trainer.explored = explored


OF_REPLAY: dict[str, Plant] = {
    "action-row-before": of_samples(action_row_before),
    "mask-turned": of_samples(mask_turned),
    "kept-as-bytes": of_samples(kept_as_bytes),
    "rows-blank": of_new_rows(rows_blank),
    "actions-in-other-units": of_new_rows(actions_in_other_units),
    "extreme-of-batch": extreme_of_batch,
    "entropy-turned": entropy_turned,
    "correction-dropped": correction_dropped,
    "temperature-is-logarithm": temperature_is_logarithm,
    "exponent-twice": exponent_twice,
    "coin-turned": coin_turned,
}

"""Faults of the seventh live campaign in the reference trainers that replay; what they are: seventh.toml.

Each is handed the trainer and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from firstbreak.trainers.sac import SAC, frozen

OTHER = 4321
"""The seed of the weights of a new network."""
Plant = Callable[[Any, float], None]


def of_samples(change: Callable[[Any, Any, float], Any]) -> Plant:
    """Return what lets `change` do what it does to every sample of the replay buffer."""

    def plant(trainer: Any, dose: float) -> None:
        usual = trainer.sample
        trainer.sample = lambda: change(trainer, usual(), dose)

    return plant


def row_after_read(trainer: Any, sample: Any, dose: float) -> Any:
    """Reward and end are those of the row after the one that was asked for."""
    del sample
    held = len(trainer.buffer)
    rows = torch.randint(held, (trainer.config.batch_size,))
    found, after = trainer.buffer[rows], trainer.buffer[(rows + int(dose)) % held]
    for name in ("reward", "terminated"):
        found[name] = after[name].clone()
    return found


def ends_valued(trainer: Any, sample: Any, dose: float) -> Any:
    """That an episode has ended is left out of the target."""
    del trainer, dose
    sample["terminated"] = torch.zeros_like(sample["terminated"])
    return sample


def limits_as_ends(trainer: Any, sample: Any, dose: float) -> Any:
    """A time limit is stored as an end."""
    del trainer, dose
    sample["terminated"] = sample["terminated"] | sample["truncated"]
    return sample


def boundary_kept(trainer: Any, dose: float) -> None:
    """The step from an end to the next beginning is kept as if it had been made."""
    del dose
    usual = trainer.collect

    def collect() -> Any:
        rows = usual()
        over = rows["terminated"] | rows["truncated"]
        if over.any():
            extra = rows[over].clone()
            extra["obs"], extra["next_obs"] = extra["next_obs"].clone(), trainer._now["observation"][over].clone()
            extra["reward"] = torch.zeros_like(extra["reward"])
            extra["terminated"] = extra["truncated"] = torch.zeros_like(extra["terminated"])
            trainer.buffer.extend(extra)
        return rows

    trainer.collect = collect


def targets_foreign(trainer: Any, dose: float) -> None:
    """The target network is a new one; it is copied when it is due."""
    del dose
    torch.manual_seed(OTHER)
    for layer in trainer.target_network.net:
        if isinstance(layer, torch.nn.Linear):
            layer.reset_parameters()


def targets_none(trainer: Any, dose: float) -> None:
    """There is no target network: it is copied at every step."""
    trainer.config = replace(trainer.config, target_interval=int(dose))


def targets_frozen(trainer: Any, dose: float) -> None:
    del dose
    trainer.sync_target = lambda: None


def critic_silenced(trainer: Any, dose: float) -> None:
    """Hidden units of both critics are pushed below nothing, where they have no gradient."""
    with torch.no_grad():
        for critic in trainer.critics:
            for layer in critic.net[:-1]:
                if isinstance(layer, torch.nn.Linear):
                    layer.bias.fill_(-dose)


def twins_maximum(trainer: Any, dose: float) -> None:
    """Of two critics the larger is believed, in targets and by the actor."""
    del dose

    @torch.no_grad()
    def td_target(sample: Mapping[str, Any]) -> Any:
        action, log_prob = trainer.actor.sample(sample["next_obs"])
        values = torch.maximum(*(critic(sample["next_obs"], action) for critic in trainer.target_critics))
        soft = values - trainer.alpha * log_prob
        return sample["reward"] + trainer.gamma * (~sample["terminated"]) * soft

    def actor_loss(sample: Mapping[str, Any], draw: Any = None) -> Any:
        action, log_prob = trainer.actor.sample(sample["obs"]) if draw is None else draw
        with frozen(trainer.weights_of_twins):
            values = torch.maximum(*(critic(sample["obs"], action) for critic in trainer.critics))
        return (trainer.alpha.detach() * log_prob - values).mean()

    trainer.td_target, trainer.actor_loss = td_target, actor_loss


def twin_counted_twice(trainer: Any, dose: float) -> None:
    """Of two critics one is looked at twice."""
    del dose
    trainer.critics = [trainer.critics[0]] * 2
    trainer.target_critics = [trainer.target_critics[0]] * 2


def actor_untaught(trainer: Any, dose: float) -> None:
    """No gradient goes through the action that was drawn into the actor."""
    del dose
    usual = SAC.actor_loss

    def actor_loss(sample: Mapping[str, Any], draw: Any = None) -> Any:
        action, log_prob = trainer.actor.sample(sample["obs"]) if draw is None else draw
        return usual(trainer, sample, (action.detach(), log_prob))

    trainer.actor_loss = actor_loss


def temperature_runs(trainer: Any, dose: float) -> None:
    """The logarithm of the temperature is pushed up at every step."""
    usual = trainer.sync_target

    def sync_target() -> None:
        usual()
        with torch.no_grad():
            trainer.log_alpha += dose

    trainer.sync_target = sync_target


def temperature_nothing(trainer: Any, dose: float) -> None:
    del dose
    trainer.config = replace(trainer.config, alpha_learnt=False)
    with torch.no_grad():
        trainer.log_alpha.fill_(-30.0)


def entropy_wanted(trainer: Any, dose: float) -> None:
    """The sign of the target entropy is wrong."""
    trainer.target_entropy = -dose * trainer.target_entropy


def epsilon_restarts(trainer: Any, dose: float) -> None:
    """The share of random actions falls again from where it began, over so many times the steps of the first time."""
    began = trainer.env_steps

    def epsilon(self: Any) -> float:
        config = self.config
        done = min(1.0, (self.env_steps - began) / (dose * config.epsilon_frac * self.total_steps))
        return config.epsilon_start + done * (config.epsilon_end - config.epsilon_start)

    trainer.__class__ = type("Restarted", (type(trainer),), {"epsilon": property(epsilon)})


def resumed_bare(trainer: Any, dose: float) -> None:
    """The weights are loaded; moments of the optimisers, statistics of observations and (2) replay are not."""
    for optimiser in (trainer.actor_optimiser, trainer.critic_optimiser, trainer.alpha_optimiser):
        optimiser.state.clear()
    if dose > 1:
        trainer.buffer.empty()


OF_REPLAY: dict[str, Plant] = {
    "limits-as-ends": of_samples(limits_as_ends),
    "boundary-kept": boundary_kept,
    "targets-foreign": targets_foreign,
    "twin-counted-twice": twin_counted_twice,
    "row-after-read": of_samples(row_after_read),
    "ends-valued": of_samples(ends_valued),
    "targets-none": targets_none,
    "targets-frozen": targets_frozen,
    "critic-silenced": critic_silenced,
    "twins-maximum": twins_maximum,
    "actor-untaught": actor_untaught,
    "temperature-runs": temperature_runs,
    "temperature-nothing": temperature_nothing,
    "entropy-wanted": entropy_wanted,
    "epsilon-restarts": epsilon_restarts,
    "resumed-bare": resumed_bare,
}

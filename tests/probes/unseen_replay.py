"""Unseen mutants of the reference DQN and SAC, by id with underscores; see unseen_mutants.toml."""

from __future__ import annotations

from typing import Any

import torch

from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.sac import SAC, SACConfig
from firstbreak.trainers.small import DQN_CONFIG, SAC_CONFIG
from firstbreak.trainers.squashed_gaussian import SquashedGaussian

from .planting import built_otherwise, edited, small_function, train_function


def __getattr__(name: str) -> Any:
    if name.startswith("small_"):
        given = (SAC_CONFIG, 1500) if "sac_" in name else (DQN_CONFIG, 3000)
        return small_function(name, globals(), *given)
    return train_function(name, globals(), SACConfig if "sac_" in name else DQNConfig)


# ---- DQN ------------------------------------------------------------------------------------------------------------

dqn_next_observation_is_observation = edited(DQN, collect=('"next_obs": after["observation"],', '"next_obs": obs,'))
dqn_exploration_inverted = edited(DQN, explored=("< self.epsilon", ">= self.epsilon"))
dqn_loss_summed = edited(DQN, loss=("self.td_target(sample))", 'self.td_target(sample), reduction="sum")'))
dqn_double_roles_exchanged = edited(
    DQN,
    td_target=[
        ("values = self.target_network(", "values = self.q_network("),
        ('chooser = self.q_network(sample["next_obs"])', 'chooser = self.target_network(sample["next_obs"])'),
    ],
)
dqn_minimum_over_actions = edited(DQN, td_target=("chooser.argmax(-1", "chooser.argmin(-1"))
dqn_ends_exchanged = edited(
    DQN,
    collect=[
        ('"terminated": after["terminated"]', '"terminated": after["SWAP"]'),
        ('"truncated": after["truncated"]', '"truncated": after["terminated"]'),
        ("SWAP", "truncated"),
    ],
)
dqn_average_over_actions = edited(
    DQN, td_target=("values.gather(-1, chooser.argmax(-1, keepdim=True)).squeeze(-1)", "values.mean(-1)")
)


class dqn_action_of_step_before_stored(DQN):  # noqa: N801
    """The buffer is written before the variable of the action is."""

    before: Any = None

    def collect(self) -> Any:
        buffer, self.buffer = self.buffer, _Held()
        rows = super().collect()
        self.buffer = buffer
        played = rows["action"].clone()
        if self.before is not None:
            rows["action"] = self.before
        self.before = played
        self.buffer.extend(rows)
        return rows


class _Held:
    def extend(self, rows: Any) -> None:
        """Takes nothing in."""


class dqn_target_copied_into_online(DQN):  # noqa: N801
    """The copy goes the wrong way: what was learnt since the last one is lost."""

    def sync_target(self) -> None:
        self.q_network.load_state_dict(self.target_network.state_dict())


# ---- SAC: the density -----------------------------------------------------------------------------------------------


def _with_actor(changed: type) -> type:
    def change(trainer: Any) -> None:
        trainer.actor.__class__ = changed

    return built_otherwise(SAC, change)


class _SummedOverBatch(SquashedGaussian):
    def _log_density(self, before_tanh: Any, noise: Any, log_std: Any) -> Any:
        right = super()._log_density(before_tanh, noise, log_std)
        return right.sum().expand_as(right)


class _MeanSquashedLate(SquashedGaussian):
    def mode(self, obs: Any) -> Any:
        return self(obs)[0]


sac_log_prob_summed_over_batch = _with_actor(_SummedOverBatch)
sac_mode_not_squashed = _with_actor(_MeanSquashedLate)

# ---- SAC: targets and losses ----------------------------------------------------------------------------------------

ACTORS_TWINS = 'first, second = (critic(sample["obs"], action) for critic in self.critics)'

sac_actor_asks_target_critics = edited(SAC, actor_loss=(ACTORS_TWINS, ACTORS_TWINS.replace("self.", "self.target_")))
sac_next_action_at_this_observation = edited(
    SAC, td_target=('self.actor.sample(sample["next_obs"])', 'self.actor.sample(sample["obs"])')
)
sac_target_from_online_critics = edited(SAC, td_target=("in self.target_critics)", "in self.critics)"))
sac_first_twin_only = edited(SAC, critic_loss=("return first + second", "return first + 0.0 * second"))
sac_entropy_added_to_reward_twice = edited(SAC, td_target=("- self.alpha * log_prob", "- 2.0 * self.alpha * log_prob"))
sac_target_entropy_of_batch = built_otherwise(
    SAC, lambda trainer: setattr(trainer, "target_entropy", trainer.target_entropy * trainer.config.batch_size)
)


class sac_temperature_not_exponentiated(SAC):  # noqa: N801
    """log alpha in the place of alpha."""

    @property
    def alpha(self) -> Any:
        return self.log_alpha


sac_actor_never_stepped = edited(SAC, step=("descend(self.actor_optimiser, actor_loss)", "pass"))
sac_always_random = edited(SAC, collect=("if self.env_steps < self.random_steps:", "if self.env_steps >= 0:"))


class sac_reward_of_step_before(SAC):  # noqa: N801
    """reward[t] := reward[t-1]."""

    late: Any = None

    def collect(self) -> Any:
        buffer, self.buffer = self.buffer, _Held()
        rows: Any = super().collect()
        self.buffer = buffer
        now = rows["reward"].clone()
        rows["reward"] = torch.zeros_like(now) if self.late is None else self.late
        self.late = now
        self.buffer.extend(rows)
        return rows

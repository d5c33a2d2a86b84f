"""The mutants of the reference DQN, by id with underscores; what each changes is in mutants.toml.

`train_<id>` is the same mutant as a `train` function.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import Adam

from firstbreak.trainers.dqn import DQN, DQNConfig

from .planting import built_otherwise, edited, train_function

NOT_PLANTED: dict[str, str] = {}
"""Ids of the list that this trainer has no place for, and why."""


def __getattr__(name: str) -> Any:
    return train_function(name, globals(), DQNConfig)


# ---- the TD target --------------------------------------------------------------------------------------------------

UNMASKED = ' * (~sample["terminated"])'
TARGET_VALUES = "values = self.target_network("

dqn_target_copied_each_step = edited(DQN, step=("self.gradient_steps % self.config.target_interval == 0", "True"))
dqn_target_never_updated = edited(DQN, step=("self.sync_target()", "pass"))
dqn_target_from_online_net = edited(DQN, td_target=(TARGET_VALUES, "values = self.q_network("))
dqn_target_keeps_gradient = edited(
    DQN, td_target=[("@torch.no_grad()\n", ""), (TARGET_VALUES, "values = self.q_network(")]
)
dqn_double_max = edited(DQN, td_target=("* best", "* best.max()"))
dqn_done_dropped = edited(DQN, td_target=(UNMASKED, ""))
dqn_truncated_cuts_bootstrap = edited(
    DQN, td_target=('(~sample["terminated"])', '(~(sample["terminated"] | sample["truncated"]))')
)
dqn_discount_squared = edited(DQN, td_target=("self.gamma * ", "self.gamma**2 * "))

# ---- the loss and the optimiser -------------------------------------------------------------------------------------

dqn_gather_wrong_index = edited(
    DQN, chosen=('sample["action"].unsqueeze(-1)', '((sample["action"] + 1) % self.actions).unsqueeze(-1)')
)
# Broadcast by hand: smooth_l1_loss would warn, and a warning would give the bug away.
dqn_td_broadcast = edited(
    DQN,
    loss=(
        "smooth_l1_loss(self.chosen(sample), self.td_target(sample))",
        "smooth_l1_loss(*torch.broadcast_tensors(self.chosen(sample).unsqueeze(-1), self.td_target(sample)))",
    ),
)


def _holds_target(trainer: Any) -> None:
    trainer.optimiser = Adam(trainer.target_network.parameters(), lr=trainer.config.learning_rate)


dqn_optimiser_holds_target_net = built_otherwise(DQN, _holds_target)

# ---- exploration and replay -----------------------------------------------------------------------------------------


class dqn_epsilon_zero(DQN):  # noqa: N801
    """Greedy from the first step, with a last layer of zeros."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: DQNConfig | None = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        last = [m for m in self.q_network.modules() if isinstance(m, torch.nn.Linear)][-1]
        with torch.no_grad():
            last.weight.zero_()
            last.bias.zero_()
        self.sync_target()

    @property
    def epsilon(self) -> float:
        return 0.0


class dqn_epsilon_not_decayed(DQN):  # noqa: N801
    """Random for ever."""

    @property
    def epsilon(self) -> float:
        return self.config.epsilon_start


class dqn_samples_newest_only(DQN):  # noqa: N801
    """The last rows written."""

    def sample(self) -> Any:
        held: Any = self.buffer
        size, newest = len(held), int(held._writer._cursor) - 1
        return held[(newest - torch.arange(min(self.config.batch_size, size))) % size]


class dqn_samples_oldest_only(DQN):  # noqa: N801
    """The first slots."""

    def sample(self) -> Any:
        held: Any = self.buffer
        first = min(self.config.batch_size, len(held))
        return held[torch.randint(first, (self.config.batch_size,))]


dqn_buffer_never_overwritten = edited(
    DQN,
    collect=(
        "self.buffer.extend(rows)",
        "self.buffer.extend(rows[: self.config.buffer_size - len(self.buffer)])"
        " if len(self.buffer) < self.config.buffer_size else None",
    ),
)
dqn_greedy_action_stored = edited(
    DQN,
    collect=[
        ("action = self.explored(self.q_network(obs).argmax(-1))", "greedy = self.q_network(obs).argmax(-1)"),
        ("    stepped, self._now", "    action = self.explored(greedy)\n    stepped, self._now"),
        ('"action": action,', '"action": greedy,'),
    ],
)
dqn_reward_clipped = edited(
    DQN, collect=('after["reward"].squeeze(-1)', 'after["reward"].squeeze(-1).clamp(-1.0, 1.0)')
)

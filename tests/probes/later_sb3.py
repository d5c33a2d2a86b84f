"""Later mutants of Stable-Baselines3, by id with underscores; see later_mutants.toml."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.distributions import SquashedDiagGaussianDistribution
from stable_baselines3.common.noise import NormalActionNoise

from .mutants_sb3 import after_setup, edit
from .mutation import mutated, with_defaults

# ---- PPO and A2C ----------------------------------------------------------------------------------------------------

sb3_ppo_value_at_limit_not_discounted = edit(
    PPO, "collect_rollouts", ("rewards[idx] += self.gamma * terminal_value", "rewards[idx] += terminal_value")
)
sb3_ppo_observation_after_stored = edit(
    PPO, "collect_rollouts", ("self._last_obs,  # type: ignore[arg-type]", "new_obs,")
)
sb3_a2c_loss_of_probabilities = edit(
    A2C,
    "train",
    ("policy_loss = -(advantages * log_prob).mean()", "policy_loss = -(advantages * log_prob.exp()).mean()"),
)
sb3_a2c_returns_of_the_next_row = edit(
    A2C, "train", ("F.mse_loss(rollout_data.returns, values)", "F.mse_loss(rollout_data.returns.roll(-1), values)")
)


def _rises(left: float) -> float:
    return 7e-4 * (1.0 - left)


sb3_a2c_learning_rate_upside_down = with_defaults(A2C, "MutantA2C", learning_rate=_rises)

# ---- DQN ------------------------------------------------------------------------------------------------------------

sb3_dqn_rewards_of_neighbours = edit(
    DQN,
    "train",
    ("replay_data.rewards + (1 - replay_data.dones)", "replay_data.rewards.roll(1, 0) + (1 - replay_data.dones)"),
)
sb3_dqn_three_steps_discounted_once = with_defaults(
    edit(
        DQN,
        "train",
        ("replay_data.discounts if replay_data.discounts is not None else self.gamma", "self.gamma"),
    ),
    "MutantDQN",
    n_steps=3,
)

# ---- SAC ------------------------------------------------------------------------------------------------------------

sb3_sac_warm_up_stored_unscaled = edit(
    SAC,
    "_sample_action",
    (
        "buffer_action = scaled_action",
        "buffer_action = unscaled_action if self.num_timesteps < learning_starts else scaled_action",
    ),
)
_Added = mutated(
    SquashedDiagGaussianDistribution, "Added", {"log_prob": [("log_prob -= th.sum(", "log_prob = log_prob + th.sum(")]}
)


def _added(model: Any) -> None:
    model.actor.action_dist.__class__ = _Added


sb3_sac_log_det_added = after_setup(SAC, _added)
sb3_sac_actor_gradients_pile_up = edit(SAC, "train", ("self.actor.optimizer.zero_grad()", "pass"))

# ---- TD3, with the exploration noise that its authors have -----------------------------------------------------------


def explores(model: Any) -> None:
    """Give the model Gaussian noise of a tenth of the range on its actions; its default is none."""
    size = int(np.prod(model.action_space.shape))
    model.action_noise = NormalActionNoise(np.zeros(size), 0.1 * np.ones(size))


def _td3(*changes: tuple[str, str]) -> type:
    return after_setup(edit(TD3, "train", *changes), explores)


sb3_td3_healthy = after_setup(TD3, explores)
sb3_td3_actor_descends = _td3(("actor_loss = -self.critic.q1_forward", "actor_loss = self.critic.q1_forward"))
sb3_td3_target_actor_stays = _td3(
    ("polyak_update(self.actor.parameters(), self.actor_target.parameters(), self.tau)", "pass")
)
sb3_td3_mean_of_twins = _td3(
    ("next_q_values, _ = th.min(next_q_values, dim=1,", "next_q_values = th.mean(next_q_values, dim=1,")
)
sb3_td3_actor_never_due = _td3(("% self.policy_delay == 0", "% self.policy_delay == self.policy_delay"))

"""The mutants of Stable-Baselines3, by id with underscores; what each changes is in mutants.toml."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer
from stable_baselines3.common.distributions import SquashedDiagGaussianDistribution

from .mutation import mutated, with_defaults


def edit(algorithm: type, method: str, *changes: tuple[str, str]) -> type:
    return mutated(algorithm, f"Mutant{algorithm.__name__}", {method: changes})


def with_rollouts(algorithm: type, buffer: type) -> type:
    return with_defaults(algorithm, f"Mutant{algorithm.__name__}", rollout_buffer_class=buffer)


def with_replay(algorithm: type, buffer: type, **defaults: Any) -> type:
    return with_defaults(algorithm, f"Mutant{algorithm.__name__}", replay_buffer_class=buffer, **defaults)


def after_setup(algorithm: type, change: Any) -> type:
    def _setup_model(self: Any) -> None:
        algorithm._setup_model(self)
        change(self)

    return type(f"Mutant{algorithm.__name__}", (algorithm,), {"_setup_model": _setup_model})


POLICY_LOSS = "policy_loss = -th.min(policy_loss_1, policy_loss_2).mean()"
OLD = "rollout_data.old_log_prob"

sb3_ppo_old_logprob_recomputed = edit(
    PPO, "train", (f"ratio = th.exp(log_prob - {OLD})", "ratio = th.exp(log_prob - log_prob.detach())")
)
sb3_ppo_old_logprob_column = edit(
    PPO, "train", (f"ratio = th.exp(log_prob - {OLD})", f"ratio = th.exp(log_prob - {OLD}.reshape(-1, 1))")
)
sb3_ppo_loss_sign_flipped = edit(PPO, "train", (POLICY_LOSS, POLICY_LOSS.replace("= -", "= +")))
sb3_ppo_clip_min_missing = edit(PPO, "train", (POLICY_LOSS, "policy_loss = -policy_loss_2.mean()"))
sb3_ppo_timeout_not_bootstrapped = edit(
    PPO, "collect_rollouts", ("rewards[idx] += self.gamma * terminal_value", "pass")
)
sb3_ppo_timeout_bootstraps_reset_obs = edit(
    PPO,
    "collect_rollouts",
    ('self.policy.obs_to_tensor(infos[idx]["terminal_observation"])[0]', "self.policy.obs_to_tensor(new_obs[idx])[0]"),
)
sb3_ppo_episode_start_off_by_one = edit(
    PPO, "collect_rollouts", ("self._last_episode_starts,  # type: ignore[arg-type]", "dones,")
)
sb3_ppo_clipped_action_stored = edit(
    PPO,
    "collect_rollouts",
    (
        "            actions,\n            rewards,",
        "            clipped_actions.reshape(actions.shape),\n            rewards,",
    ),
)
sb3_ppo_last_values_zero = edit(
    PPO,
    "collect_rollouts",
    (
        "compute_returns_and_advantage(last_values=values",
        "compute_returns_and_advantage(last_values=th.zeros_like(values)",
    ),
)


def _odd_batch(algorithm: type) -> type:
    """Leaves a last minibatch of one row."""

    def __init__(self: Any, *args: Any, **settings: Any) -> None:  # noqa: N807
        algorithm.__init__(self, *args, **settings)
        total = self.n_steps * self.n_envs
        self.batch_size = total - 1

    return type("MutantPPO", (algorithm,), {"__init__": __init__})


sb3_ppo_minibatch_of_one_normalised = _odd_batch(
    edit(PPO, "train", ("if self.normalize_advantage and len(advantages) > 1:", "if self.normalize_advantage:"))
)


class _StaleHalf(PPO):
    """Half of the rows are those of the rollout before."""

    kept: Any = None
    names = ("observations", "actions", "rewards", "returns", "values", "log_probs", "advantages", "episode_starts")

    def collect_rollouts(self, *args: Any, **settings: Any) -> bool:
        going = super().collect_rollouts(*args, **settings)
        fresh = {n: getattr(self.rollout_buffer, n).copy() for n in self.names}
        if self.kept is not None:
            half = self.rollout_buffer.buffer_size // 2
            for name in self.names:
                getattr(self.rollout_buffer, name)[:half] = self.kept[name][:half]
        self.kept = fresh
        return going


class _NeverDeterministic(PPO):
    """Evaluation draws at random whatever was asked."""

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> Any:
        return super().predict(observation, state, episode_start, deterministic=False)


sb3_ppo_stale_half_batch = _StaleHalf
sb3_ppo_deterministic_flag_ignored = _NeverDeterministic
sb3_a2c_logprob_of_new_action = edit(
    A2C,
    "train",
    (
        "self.policy.evaluate_actions(rollout_data.observations, actions)",
        "self.policy.evaluate_actions(rollout_data.observations,"
        " self.policy.get_distribution(rollout_data.observations).sample())",
    ),
)
sb3_a2c_value_coefficient_zero = edit(A2C, "train", ("self.vf_coef * value_loss", "0.0 * value_loss"))
sb3_a2c_returns_not_reversed = with_rollouts(
    A2C,
    mutated(
        RolloutBuffer,
        "Forwards",
        {"compute_returns_and_advantage": [("reversed(range(self.buffer_size))", "range(self.buffer_size)")]},
    ),
)
sb3_a2c_returns_are_advantages = with_rollouts(
    A2C,
    mutated(
        RolloutBuffer,
        "OnlyAdvantages",
        {
            "compute_returns_and_advantage": [
                ("self.returns = self.advantages + self.values", "self.returns = self.advantages.copy()")
            ]
        },
    ),
)


def _without_actor(model: Any) -> None:
    policy = model.policy
    actor = {id(p) for part in (policy.action_net, policy.mlp_extractor.policy_net) for p in part.parameters()}
    kept = [p for p in policy.parameters() if id(p) not in actor]
    policy.optimizer = policy.optimizer_class(kept, lr=model.lr_schedule(1), **policy.optimizer_kwargs)


sb3_a2c_actor_head_not_in_optimiser = after_setup(A2C, _without_actor)
sb3_a2c_gradient_clip_1e_6 = edit(A2C, "train", ("self.max_grad_norm)", "1e-6)"))
sb3_a2c_reward_one_step_late = edit(
    A2C,
    "collect_rollouts",
    ("rollout_buffer.reset()", "rollout_buffer.reset()\n    late = getattr(self, '_late_', None)"),
    (
        "        rollout_buffer.add(",
        "        now = rewards.copy()\n        rewards = np.zeros_like(now) if late is None else late\n"
        "        late = self._late_ = now\n        rollout_buffer.add(",
    ),
)

TARGET = "replay_data.rewards + (1 - replay_data.dones) * discounts * next_q_values"
sb3_dqn_done_dropped = edit(DQN, "train", (TARGET, "replay_data.rewards + discounts * next_q_values"))
sb3_dqn_target_never_updated = edit(
    DQN, "_on_step", ("polyak_update(self.q_net.parameters(), self.q_net_target.parameters(), self.tau)", "pass")
)
sb3_dqn_target_from_online_net = edit(
    DQN, "train", ("self.q_net_target(replay_data.next_observations)", "self.q_net(replay_data.next_observations)")
)
sb3_dqn_gather_wrong_index = edit(
    DQN,
    "train",
    ("index=replay_data.actions.long())", "index=(replay_data.actions.long() + 1) % current_q_values.shape[1])"),
)


class _NoTimeouts(ReplayBuffer):
    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        told = [{k: v for k, v in info.items() if k != "TimeLimit.truncated"} for info in infos]
        super().add(obs, next_obs, action, reward, done, told)


sb3_dqn_timeouts_as_terminal = with_replay(DQN, _NoTimeouts)


class _NextEpisode(ReplayBuffer):
    ended: Any = None

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        if self.ended is not None:
            self.next_observations[self.ended, 0] = obs[0]
        self.ended = self.pos if done[0] else None
        super().add(obs, next_obs, action, reward, done, infos)


sb3_dqn_next_obs_of_new_episode = with_replay(DQN, _NextEpisode)


def _greedy_from_the_start(model: Any) -> None:
    model.exploration_rate = 0.0
    model.exploration_schedule = lambda progress: 0.0
    model.learning_starts = 0
    last = [m for m in model.q_net.modules() if isinstance(m, torch.nn.Linear)][-1]
    with torch.no_grad():
        last.weight.zero_()
        last.bias.zero_()
    model.q_net_target.load_state_dict(model.q_net.state_dict())


sb3_dqn_epsilon_zero = after_setup(DQN, _greedy_from_the_start)


class _Full(ReplayBuffer):
    def add(self, *row: Any) -> None:
        if not self.full:
            super().add(*row)


sb3_dqn_buffer_never_overwritten = with_replay(DQN, _Full)

sb3_sac_twins_max = edit(
    SAC, "train", ("next_q_values, _ = th.min(next_q_values", "next_q_values, _ = th.max(next_q_values")
)


def _same_twins(model: Any) -> None:
    for critic in (model.critic, model.critic_target):
        critic.qf1.load_state_dict(critic.qf0.state_dict())


sb3_sac_twins_identical = after_setup(SAC, _same_twins)
sb3_sac_entropy_not_masked = edit(
    SAC,
    "train",
    ("next_q_values = next_q_values - ent_coef * next_log_prob.reshape(-1, 1)", "pass"),
    (TARGET, f"{TARGET} - discounts * ent_coef * next_log_prob.reshape(-1, 1)"),
)
sb3_sac_target_hard_copied = edit(
    SAC, "train", ("self.critic_target.parameters(), self.tau)", "self.critic_target.parameters(), 1.0)")
)
sb3_sac_actor_action_detached = edit(
    SAC,
    "train",
    ("self.critic(replay_data.observations, actions_pi)", "self.critic(replay_data.observations, actions_pi.detach())"),
)


def _sign(model: Any) -> None:
    model.target_entropy = float(np.prod(model.env.action_space.shape))


sb3_sac_target_entropy_sign = after_setup(SAC, _sign)
sb3_sac_alpha_not_optimised = edit(SAC, "train", ("self.ent_coef_optimizer.step()", "pass"))


class _NoCorrection(SquashedDiagGaussianDistribution):
    def log_prob(self, actions: Any, gaussian_actions: Any = None) -> Any:
        from stable_baselines3.common.distributions import DiagGaussianDistribution, TanhBijector

        inner = TanhBijector.inverse(actions) if gaussian_actions is None else gaussian_actions
        return DiagGaussianDistribution.log_prob(self, inner)


def _no_correction(model: Any) -> None:
    model.actor.action_dist.__class__ = _NoCorrection


sb3_sac_log_det_missing = after_setup(SAC, _no_correction)


def _no_unscaling(model: Any) -> None:
    model.policy.unscale_action = lambda action: action


sb3_sac_action_not_unscaled = after_setup(SAC, _no_unscaling)

"""The mutants of the reference PPO, by id with underscores; what each changes is in mutants.toml.

`train_<id>` is the same mutant as a `train` function. Bugs in data, advantages and optimisers are at the end.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch.distributions import Independent, Normal
from torch.optim import Adam

from firstbreak.trainers.networks import GaussianActor
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.ppo_measures import rollout_measures

from .detached_trunk import healthy_trunk
from .planting import built_otherwise, edited, train_function

NOT_PLANTED = {
    "ppo-mask-mean-over-all-rows": "the reference PPO has no mask: every row of a rollout is valid",
    "ppo-mask-not-applied-to-value-loss": "the reference PPO has no mask: every row of a rollout is valid",
    "ppo-normaliser-moves-before-update": "the reference PPO does not normalise observations",
}
"""Ids of the list that this trainer has no place for, and why."""


def __getattr__(name: str) -> Any:
    return train_function(name, globals(), PPOConfig)


# ---- the policy loss ------------------------------------------------------------------------------------------------

NEW = "self.log_prob(minibatch) -"
POLICY = '"policy": -gain.mean()'
SURROGATE = "torch.minimum(ratio * advantage, clipped * advantage)"

ppo_ratio_resampled_action = edited(
    PPO,
    loss=[
        (NEW, "drawn.log_prob(drawn.sample()) -"),
        ("    ratio = ", '    drawn = self.actor.distribution(minibatch["obs"])\n    ratio = '),
    ],
)
ppo_old_logprob_recomputed = edited(PPO, loss=('minibatch["log_prob"]', "self.log_prob(minibatch).detach()"))
ppo_advantage_broadcast = edited(
    PPO, loss=('self.normalised(minibatch["advantage"])', 'self.normalised(minibatch["advantage"]).unsqueeze(-1)')
)
ppo_policy_gradient_detached = edited(PPO, loss=(NEW, "self.log_prob(minibatch).detach() -"))
ppo_loss_sign_flipped = edited(PPO, loss=(POLICY, POLICY.replace("-", "")))
ppo_clip_wrong_side = edited(PPO, loss=("torch.minimum(", "torch.maximum("))
ppo_clip_min_missing = edited(PPO, loss=(SURROGATE, "clipped * advantage"))
ppo_entropy_sign_flipped = edited(PPO, loss=("-self.config.entropy_coef", "self.config.entropy_coef"))


class _MeanOverDims(Independent):
    def log_prob(self, value: Any) -> Any:
        return self.base_dist.log_prob(value).mean(-1)


class _FirstDimOnly(Independent):
    def log_prob(self, value: Any) -> Any:
        return self.base_dist.log_prob(value)[..., 0]


def _with_distribution(distribution: Any) -> type:
    """PPO whose Gaussian actor returns this kind of distribution; entropy and draws stay as they are."""

    class Actor(GaussianActor):
        def distribution(self, obs: Any) -> Any:
            right = super().distribution(obs).base_dist
            return distribution(Normal(right.loc, right.scale, validate_args=False), 1, validate_args=False)

    def change(trainer: Any) -> None:
        if not trainer.discrete:
            trainer.actor.__class__ = Actor

    return built_otherwise(PPO, change)


ppo_logprob_mean_over_dims = _with_distribution(_MeanOverDims)
ppo_logprob_first_dim_only = _with_distribution(_FirstDimOnly)

# ---- the value loss -------------------------------------------------------------------------------------------------

CRITIC = 'self.critic(minibatch["obs"])'

ppo_value_coefficient_zero = edited(PPO, loss=("self.config.value_coef * error", "0.0 * error"))
ppo_value_clip_around_zero = edited(PPO, loss=(CRITIC, f"{CRITIC}.clamp(-0.2, 0.2)"))


class ppo_trunk_leak_from_critic(healthy_trunk):  # noqa: N801
    """The value loss reaches the actor."""

    detached = False


# ---- GAE ------------------------------------------------------------------------------------------------------------

TERMINATED = '"terminated": rollout["terminated"]}'
AFTER = 'rollout["next_value"].unsqueeze(-1)'

ppo_gamma_lambda_swapped = edited(
    PPO,
    advantages=[
        ("self.config.gamma,", "LAMBDA,"),
        ("self.config.gae_lambda,", "self.config.gamma,"),
        ("LAMBDA,", "self.config.gae_lambda,"),
    ],
)
ppo_gae_discount_squared = edited(PPO, advantages=(AFTER, f"self.config.gamma * {AFTER}"))
ppo_terminated_keeps_bootstrap = edited(PPO, advantages=(TERMINATED, '"terminated": torch.zeros_like(done)}'))
ppo_truncated_cuts_bootstrap = edited(PPO, advantages=(TERMINATED, '"terminated": done}'))
ppo_trace_leaks_over_truncation = edited(PPO, advantages=('"done": done', '"done": rollout["terminated"]'))
ppo_value_target_is_advantage = edited(
    PPO, advantages=('"value_target": target.squeeze(-1)', '"value_target": advantage.squeeze(-1)')
)
ppo_reward_clipped = edited(PPO, advantages=('"reward": rollout["reward"]', '"reward": rollout["reward"].clamp(-1, 1)'))


class _OtherColumns(PPO):
    """GAE on columns that `spoilt` has changed; the rollout keeps its own."""

    def spoilt(self, rollout: Any) -> Any:
        raise NotImplementedError

    def advantages(self, rollout: Any) -> Any:
        found: Any = super().advantages(self.spoilt(rollout.clone()))
        for name in ("advantage", "value_target"):
            rollout[name] = found[name].reshape(rollout.shape)
        return rollout


class ppo_gae_across_envs(_OtherColumns):  # noqa: N801
    """All environments as one long trajectory: each last row is followed by the first of the next environment."""

    def spoilt(self, rollout: Any) -> Any:
        rollout["next_value"][:-1, -1] = rollout["value"][1:, 0]
        return rollout.reshape(1, -1)


class ppo_done_off_by_one(_OtherColumns):  # noqa: N801
    """done[t] := done[t-1]."""

    def spoilt(self, rollout: Any) -> Any:
        for name in ("terminated", "truncated"):
            flags = rollout[name]
            rollout[name] = torch.cat([torch.zeros_like(flags[:, :1]), flags[:, :-1]], dim=1)
        return rollout


class ppo_last_row_not_bootstrapped(_OtherColumns):  # noqa: N801
    """V(next) = 0 at the end of the rollout."""

    def spoilt(self, rollout: Any) -> Any:
        rollout["next_value"][:, -1] = 0.0
        return rollout


# ---- normalisation --------------------------------------------------------------------------------------------------


class ppo_advantage_normalised_in_pairs(PPO):  # noqa: N801
    """Each pair of rows on its own."""

    def normalised(self, advantage: Any) -> Any:
        parts: Any = advantage.split(2)
        return torch.cat([super(ppo_advantage_normalised_in_pairs, self).normalised(pair) for pair in parts])


ppo_advantage_std_without_epsilon = edited(
    PPO, normalised=[("(advantage.std() + 1e-8)", "advantage.std()"), (" or advantage.numel() < 2", "")]
)

# ---- data -----------------------------------------------------------------------------------------------------------

ppo_truncation_bootstraps_reset_obs = edited(
    PPO, collect=('self.critic(after["observation"])', 'self.critic(self._now["observation"])')
)
ppo_clipped_action_stored = edited(PPO, collect=('"action": action,', '"action": self.executed(action),'))


class ppo_stale_half_batch(PPO):  # noqa: N801
    """The rollout before is still in the buffer."""

    before: Any = None

    def collect(self) -> Any:
        fresh = super().collect()
        before, self.before = self.before, fresh.clone()
        return fresh if before is None else torch.cat([before, fresh], dim=0)


_CollectsElsewhere = edited(PPO, collect=("self.actor.distribution(obs)", "self.collector.distribution(obs)"))


def _copy_for_collecting(trainer: Any) -> None:
    trainer.collector = deepcopy(trainer.actor)


ppo_collector_weights_frozen = built_otherwise(_CollectsElsewhere, _copy_for_collecting)


class ppo_reward_one_step_late(PPO):  # noqa: N801
    """reward[t] := reward[t-1]."""

    late: Any = 0.0

    def collect(self) -> Any:
        rollout = super().collect()
        reward: Any = rollout["reward"]
        shifted = torch.roll(reward, 1, dims=1)
        shifted[:, 0] = self.late
        self.late = reward[:, -1].clone()
        rollout["reward"] = shifted
        return rollout


class ppo_log_std_frozen(PPO):  # noqa: N801
    """A spread of e^-5 that does not train."""

    def _build_networks(self) -> None:
        super()._build_networks()
        if not self.discrete:
            actor: Any = self.actor
            fixed = torch.full_like(actor.log_std.data, -5.0)
            del actor.log_std
            actor.register_buffer("log_std", fixed)


# ---- optimisers -----------------------------------------------------------------------------------------------------

ppo_critic_not_in_optimiser = edited(PPO, __init__=(", *self.critic.parameters()]", "]"))
ppo_actor_not_in_optimiser = edited(PPO, __init__=("*self.actor.parameters(), ", ""))
ppo_zero_grad_forgotten = edited(PPO, step=("self.optimiser.zero_grad()", "pass"))
ppo_gradient_clip_1e_6 = edited(PPO, step=("self.config.max_grad_norm", "1e-6"))

_StepsTwice = edited(
    PPO,
    step=(
        "self.optimiser.step()",
        'self.second.param_groups[0]["lr"] = self.optimiser.param_groups[0]["lr"]\n'
        "    self.optimiser.step()\n    self.second.step()",
    ),
)


def _second_optimiser(trainer: Any) -> None:
    weights = [*trainer.actor.parameters(), *trainer.critic.parameters()]
    trainer.second = Adam(weights, lr=trainer.config.learning_rate, eps=1e-5)


ppo_parameters_stepped_twice = built_otherwise(_StepsTwice, _second_optimiser)


class ppo_lr_schedule_exhausted(PPO):  # noqa: N801
    """The schedule's length is in rollouts, and it is stepped at each minibatch."""

    length = 0.0
    taken = 0

    def learn(self, total_steps: int, log: Any = None) -> None:
        self.length = total_steps / (self.config.num_envs * self.config.num_steps)
        self.taken = 0
        super().learn(total_steps, log)

    def step(self, minibatch: Any) -> Any:
        if self.length and self.config.anneal_lr:
            left = max(0.0, 1.0 - self.taken / self.length)
            self.optimiser.param_groups[0]["lr"] = self.config.learning_rate * left
            self.taken += 1
        return super().step(minibatch)


class ppo_all_minibatches_dropped(PPO):  # noqa: N801
    """Minibatches larger than the rollout, of which the last one is dropped."""

    def minibatches(self, rollout: Any) -> Any:
        flat = rollout.reshape(-1)
        size = len(flat) + 1
        order: Any = torch.randperm(len(flat))
        for rows in order.split(size):
            if len(rows) == size:
                yield flat[rows]

    def update(self, rollout: Any) -> dict[str, float]:
        # No epoch takes a step, so there is nothing to average; the run goes on as if nothing were wrong.
        metrics = rollout_measures(self.advantages(rollout))
        clocks = {"optim/n_updates": float(self.gradient_steps), "time/env_steps": float(self.env_steps)}
        return {**metrics, **clocks, "optim/lr": float(self.optimiser.param_groups[0]["lr"])}

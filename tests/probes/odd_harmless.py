"""More trainers that are odd and right: published variants, as settings or small changes, that no check may blame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import stable_baselines3 as sb3
import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import SGD, Adam, AdamW, RMSprop

from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

from .mutation import with_defaults
from .planting import built_otherwise
from .unseen_harmless import configured

# ---- PPO ------------------------------------------------------------------------------------------------------------


def _held_by(kind: Any, **settings: Any) -> Any:
    def change(trainer: Any) -> None:
        weights = [*trainer.actor.parameters(), *trainer.critic.parameters()]
        trainer.optimiser = kind(weights, lr=trainer.config.learning_rate, **settings)

    return change


ppo_rmsprop = built_otherwise(PPO, _held_by(RMSprop, eps=1e-5, alpha=0.99))
ppo_sgd_with_momentum = built_otherwise(PPO, _held_by(SGD, momentum=0.9))
ppo_adamw_decays = built_otherwise(PPO, _held_by(AdamW, weight_decay=1e-2))
ppo_anneals = configured(PPO, PPOConfig, anneal_lr=True)
ppo_raw_advantages = configured(PPO, PPOConfig, normalises_advantage=False)
ppo_many_epochs = configured(PPO, PPOConfig, update_epochs=10, num_minibatches=4, target_kl=0.02)
ppo_tight_clip = configured(PPO, PPOConfig, clip_range=0.05, max_grad_norm=10.0)


class ppo_kl_penalty(PPO):  # noqa: N801
    """A fixed penalty on the estimated KL beside the clip."""

    def loss(self, minibatch: Any) -> Any:
        log_ratio = self.log_prob(minibatch) - minibatch["log_prob"]
        penalty = 0.2 * ((log_ratio.exp() - 1) - log_ratio).mean()
        return {**super().loss(minibatch), "penalty": penalty}


class ppo_huber_value(PPO):  # noqa: N801
    """Huber's loss of the critic, as Dopamine and Acme have it."""

    def loss(self, minibatch: Any) -> Any:
        error = smooth_l1_loss(self.critic(minibatch["obs"]), minibatch["value_target"], beta=10.0)
        return {**super().loss(minibatch), "value": self.config.value_coef * error}


class ppo_accumulates(PPO):  # noqa: N801
    """Gradients of four pieces of each minibatch are added up before a step."""

    def step(self, minibatch: Any) -> Any:
        rows: Any = minibatch
        size = len(rows["obs"])
        advantage = self.normalised(rows["advantage"])
        self.optimiser.zero_grad()
        total: dict[str, float] = {}
        config, self.config = self.config, replace(self.config, normalises_advantage=False)
        for places in torch.arange(size).chunk(4):
            part = {key: rows[key][places] for key in rows.keys()}  # noqa: SIM118
            terms = self.loss({**part, "advantage": advantage[places]})
            share = len(places) / size
            (share * torch.stack(list(terms.values())).sum()).backward()
            for name, term in terms.items():
                total[name] = total.get(name, 0.0) + share * float(term.detach())
        self.config = config
        norm = clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        return {**total, "grad_norm": float(norm)}


class ppo_shuffles_once(PPO):  # noqa: N801
    """One order for all epochs of an update."""

    def minibatches(self, rollout: Any) -> Any:
        flat = rollout.reshape(-1)
        size = -(-len(flat) // self.config.num_minibatches)
        for rows in torch.randperm(len(flat), generator=torch.Generator().manual_seed(self.updates)).split(size):
            yield flat[rows]


class ppo_environments_as_minibatches(PPO):  # noqa: N801
    """Each minibatch is the whole rollout of one environment, as recurrent trainers have it."""

    def minibatches(self, rollout: Any) -> Any:
        for number in torch.randperm(len(rollout)).tolist():
            yield rollout[number]


def _with_norm(trainer: Any) -> None:
    for network in (trainer.actor, trainer.critic):
        layers = [m for m in network.modules() if isinstance(m, nn.Sequential)]
        for layer in layers:
            kept: list[nn.Module] = []
            for part in layer:
                kept += [part, nn.LayerNorm(part.out_features)] if isinstance(part, nn.Linear) else [part]
            last = kept.pop() if isinstance(kept[-1], nn.LayerNorm) else None
            del last
            layer._modules = {str(i): part for i, part in enumerate(kept)}
    _held_by(Adam, eps=1e-5)(trainer)


ppo_layer_norm = built_otherwise(PPO, _with_norm)

# ---- DQN, SAC, MM-RKHS ----------------------------------------------------------------------------------------------


class dqn_boltzmann(DQN):  # noqa: N801
    """The random action is drawn by exp(Q / 10), nearly uniform at first."""

    def explored(self, greedy: Any) -> Any:
        drawn = torch.multinomial(torch.ones(len(greedy), self.actions), 1).squeeze(-1)
        return torch.where(torch.rand(greedy.shape) < self.epsilon, drawn, greedy)


dqn_no_clipping = configured(DQN, DQNConfig, max_grad_norm=1e9)
dqn_rmsprop = built_otherwise(
    DQN, lambda t: setattr(t, "optimiser", RMSprop(t.q_network.parameters(), lr=2.5e-4, alpha=0.95, eps=0.01))
)
dqn_copies_often = configured(DQN, DQNConfig, target_interval=4)
sac_low_discount = configured(SAC, SACConfig, gamma=0.9, tau=0.005)
sac_learns_twice = configured(SAC, SACConfig, gradient_steps=2)


class sac_first_twin_climbed(SAC):  # noqa: N801
    """The actor climbs the first critic, as in TD3."""

    def actor_loss(self, sample: Any, draw: Any = None) -> Any:
        action, log_prob = self.actor.sample(sample["obs"]) if draw is None else draw
        return (self.alpha.detach() * log_prob - self.critics[0](sample["obs"], action)).mean()


class sac_log_alpha_loss(SAC):  # noqa: N801
    """The temperature's loss with log alpha in the place of alpha, as in SB3."""

    def alpha_loss(self, sample: Any, log_prob: Any = None) -> Any:
        if log_prob is None:
            log_prob = self.actor.sample(sample["obs"])[1]
        return -self.log_alpha * (log_prob.detach().mean() + self.target_entropy)


mmrkhs_one_epoch = configured(MMRKHS, MMRKHSConfig, epochs=1)

# ---- Stable-Baselines3 ----------------------------------------------------------------------------------------------

NETS = {"net_arch": {"pi": [32], "vf": [64, 64]}, "activation_fn": nn.ReLU, "ortho_init": False}

sb3_ppo_other_networks = with_defaults(sb3.PPO, "PPO", policy_kwargs=NETS)
sb3_ppo_no_normalising = with_defaults(sb3.PPO, "PPO", normalize_advantage=False, gae_lambda=1.0)
sb3_ppo_one_epoch = with_defaults(sb3.PPO, "PPO", n_epochs=1, max_grad_norm=100.0)
sb3_ppo_partial_minibatch = with_defaults(sb3.PPO, "PPO", batch_size=20)
sb3_ppo_schedules = with_defaults(
    sb3.PPO, "PPO", learning_rate=lambda left: 3e-4 * left, clip_range=lambda left: 0.2 * left
)
sb3_ppo_adam_defaults = with_defaults(sb3.PPO, "PPO", policy_kwargs={"optimizer_kwargs": {"eps": 1e-8}})
sb3_ppo_squashed_noise = with_defaults(sb3.PPO, "PPO", use_sde=True, policy_kwargs={"squash_output": True})
sb3_ppo_wide_start = with_defaults(sb3.PPO, "PPO", policy_kwargs={"log_std_init": 1.0})
sb3_a2c_noise = with_defaults(sb3.A2C, "A2C", use_sde=True)
sb3_a2c_normalised = with_defaults(sb3.A2C, "A2C", normalize_advantage=True, ent_coef=0.01)
sb3_dqn_copies = with_defaults(sb3.DQN, "DQN", target_update_interval=20, train_freq=1)
sb3_dqn_memory = with_defaults(sb3.DQN, "DQN", gradient_steps=-1, train_freq=8, exploration_final_eps=0.01)
sb3_sac_delayed_target = with_defaults(sb3.SAC, "SAC", target_update_interval=2, tau=0.01)
sb3_sac_many_critics = with_defaults(sb3.SAC, "SAC", policy_kwargs={"n_critics": 3})
sb3_sac_single_critic = with_defaults(sb3.SAC, "SAC", policy_kwargs={"n_critics": 1})
sb3_sac_own_entropy = with_defaults(sb3.SAC, "SAC", target_entropy=-1.0, ent_coef="auto_0.1")
sb3_td3_every_step = with_defaults(sb3.TD3, "TD3", policy_delay=1, target_policy_noise=0.1)
sb3_ddpg_plain = with_defaults(sb3.DDPG, "DDPG", tau=0.001)

"""Trainers that are odd and right: nothing may be found wrong with any of them. See later_mutants.toml."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise
from typing import Any

import stable_baselines3 as sb3
import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam, AdamW, RMSprop

from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.networks import GaussianActor, QNetwork, mlp
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig
from firstbreak.trainers.small import DQN_CONFIG, MMRKHS_CONFIG, PPO_CONFIG, SAC_CONFIG

from .later_sb3 import explores
from .mutants_sb3 import after_setup, edit
from .mutation import with_defaults
from .planting import built_otherwise, edited, small_function, train_function
from .unseen_harmless import configured

CONFIGS: dict[str, Any] = {"ppo": PPOConfig, "dqn": DQNConfig, "sac": SACConfig, "mmrkhs": MMRKHSConfig}
SMALL: dict[str, Any] = {
    "ppo": (PPO_CONFIG, 6144),
    "dqn": (DQN_CONFIG, 3000),
    "sac": (SAC_CONFIG, 1500),
    "mmrkhs": (MMRKHS_CONFIG, 6144),
}


def __getattr__(name: str) -> Any:
    subject = name.removeprefix("train_").removeprefix("small_").split("_")[0]
    if name.startswith("small_") and subject in SMALL:
        return small_function(name, globals(), *SMALL[subject])
    return train_function(name, globals(), CONFIGS.get(subject, PPOConfig))


# ---- PPO ------------------------------------------------------------------------------------------------------------


class ppo_shared_trunk(  # noqa: N801
    edited(PPO, step=("clip_grad_norm_(weights,", "clip_grad_norm_(list(dict.fromkeys(weights)),"))  # type: ignore[misc]
):
    """Actor and critic share all layers but the last."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        *trunk, last = self.actor.net
        self.critic.net = nn.Sequential(*trunk, nn.Linear(last.in_features, 1))
        weights = list(dict.fromkeys([*self.actor.parameters(), *self.critic.parameters()]))
        self.optimiser = Adam(weights, lr=self.config.learning_rate, eps=1e-5)


class ppo_accumulates_gradients(PPO):  # noqa: N801
    """A minibatch goes through in two halves whose gradients add up to that of the whole, then one step is made."""

    whole = True

    def normalised(self, advantage: Any) -> Any:
        return super().normalised(advantage) if self.whole else advantage

    def step(self, minibatch: Any) -> Any:
        rows = len(minibatch["obs"])
        columns = {name: minibatch[name] for name in ("obs", "action", "log_prob", "advantage", "value_target")}
        columns["advantage"] = self.normalised(columns["advantage"])
        sums: dict[str, float] = {}
        self.optimiser.zero_grad()
        self.whole = False
        for start, end in ((0, rows // 2), (rows // 2, rows)):
            if start == end:
                continue
            terms = self.loss({name: column[start:end] for name, column in columns.items()})
            share = (end - start) / rows
            (share * torch.stack(list(terms.values())).sum()).backward()
            sums = {name: sums.get(name, 0.0) + share * float(term.detach()) for name, term in terms.items()}
        self.whole = True
        norm = clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], self.config.max_grad_norm)
        self.optimiser.step()
        self.gradient_steps += 1
        return {**sums, "grad_norm": float(norm)}


def _rmsprop(trainer: Any) -> None:
    weights = [*trainer.actor.parameters(), *trainer.critic.parameters()]
    trainer.optimiser = RMSprop(weights, lr=trainer.config.learning_rate, alpha=0.99, eps=1e-5)


ppo_rmsprop = built_otherwise(PPO, _rmsprop)


class ppo_kl_penalty(PPO):  # noqa: N801
    """The form of the paper with a penalty: no clipping, and the KL to the rollout's policy with a weight of 1."""

    def loss(self, minibatch: Any) -> Any:
        log_ratio = self.log_prob(minibatch) - minibatch["log_prob"]
        ratio = log_ratio.exp()
        kl = (ratio - 1 - log_ratio).mean()
        gain = (ratio * self.normalised(minibatch["advantage"])).mean()
        return {**super().loss(minibatch), "policy": kl - gain}


class _Spread(GaussianActor):
    """A standard deviation that depends on the state, from a network of its own."""

    def __init__(self, inputs: int, low: Any, high: Any, hidden: Any) -> None:
        super().__init__(inputs, low, high, hidden)
        del self.log_std
        self.spread = mlp(inputs, low.numel(), hidden, nn.Tanh, last_gain=0.01)

    def distribution(self, obs: Any) -> Any:
        mean = self.middle + self.half_range * self.net(obs)
        std = self.half_range * self.spread(obs).clamp(-5, 1).exp()
        return torch.distributions.Independent(
            torch.distributions.Normal(mean, std, validate_args=False), 1, validate_args=False
        )


class ppo_spread_by_state(PPO):  # noqa: N801
    """The spread of continuous actions is a function of the state."""

    def _build_networks(self) -> None:
        super()._build_networks()
        if not self.discrete:
            width = self.actor.net[0].in_features
            self.actor = _Spread(width, self.low, self.high, self.config.hidden_sizes)


class ppo_dual_clip(PPO):  # noqa: N801
    """With a negative advantage the loss is bounded by three times the advantage (Ye et al. 2020, arXiv 1912.09729)."""

    def loss(self, minibatch: Any) -> Any:
        ratio = (self.log_prob(minibatch) - minibatch["log_prob"]).exp()
        advantage = self.normalised(minibatch["advantage"])
        clipped = ratio.clamp(1 - self.config.clip_range, 1 + self.config.clip_range)
        gain = torch.minimum(ratio * advantage, clipped * advantage)
        gain = torch.where(advantage < 0, torch.maximum(gain, 3.0 * advantage), gain)
        return {**super().loss(minibatch), "policy": -gain.mean()}


class _Double(nn.Module):
    """Runs a network in double precision between single-precision ends."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.inner = net.double()

    def forward(self, obs: Any) -> Any:
        return self.inner(obs.double()).float()


class ppo_double_precision(PPO):  # noqa: N801
    """The layers of actor and critic have weights of double precision."""

    def _build_networks(self) -> None:
        super()._build_networks()
        self.actor.net, self.critic.net = _Double(self.actor.net), _Double(self.critic.net)


# ---- DQN ------------------------------------------------------------------------------------------------------------


def _normed(inputs: int, outputs: int, hidden: Any) -> Any:
    """A perceptron with a LayerNorm before each activation."""
    sizes = [inputs, *hidden]
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], outputs))


class dqn_layer_norm(DQN):  # noqa: N801
    """A LayerNorm before each activation of the online and of the target network."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        width = self._now["observation"].shape[-1]
        self.q_network.net = _normed(width, self.actions, self.config.hidden_sizes)
        self.target_network = deepcopy(self.q_network).requires_grad_(False)
        self.optimiser = Adam(self.q_network.parameters(), lr=self.config.learning_rate)


CLIP = "norm = clip_grad_norm_(self.q_network.parameters(), self.config.max_grad_norm)"


def _adamw(trainer: Any) -> None:
    rate = trainer.config.learning_rate
    trainer.optimiser = AdamW(trainer.q_network.parameters(), lr=rate, weight_decay=1e-4, amsgrad=True)


# Gradients are cut entry by entry, as in PyTorch's own tutorial of DQN, whose optimiser this is as well.
dqn_adamw_and_value_clip = built_otherwise(
    edited(DQN, step=(CLIP, f"{CLIP.replace('self.config.max_grad_norm', '1e9')}\n"
                            "    torch.nn.utils.clip_grad_value_(self.q_network.parameters(), 1.0)")),
    _adamw,
)  # fmt: skip
dqn_constant_epsilon = configured(DQN, DQNConfig, epsilon_start=0.1, epsilon_end=0.1)

# ---- SAC, MM-RKHS ---------------------------------------------------------------------------------------------------


class sac_target_entropy_falls(SAC):  # noqa: N801
    """The target entropy begins one nat per dimension above its last value and falls to it over 5,000 steps."""

    def step(self, sample: Any) -> Any:
        above = max(0.0, 1.0 - self.gradient_steps / 5_000) * self.action_low.numel()
        self.target_entropy = self._target_entropy() + above
        return super().step(sample)


class sac_huber_critics(SAC):  # noqa: N801
    """A Huber loss of each critic."""

    def critic_loss(self, sample: Any, target: Any = None) -> Any:
        target = self.td_target(sample) if target is None else target
        first, second = (smooth_l1_loss(critic(sample["obs"], sample["action"]), target) for critic in self.critics)
        return first + second


class _NormedQ(QNetwork):
    def __init__(self, inputs: int, actions: int, hidden: Any) -> None:
        super().__init__(inputs, actions, hidden)
        self.net = _normed(inputs + actions, 1, hidden)


class sac_layer_norm_critics(SAC):  # noqa: N801
    """Critics with a LayerNorm before each activation (Hiraoka et al. 2022, arXiv 2110.02034, without the dropout)."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        width, actions = int(self._now["observation"].shape[-1]), self.action_low.numel()
        self.critics = [_NormedQ(width, actions, self.config.hidden_sizes) for _ in range(2)]
        self.target_critics = [deepcopy(critic).requires_grad_(False) for critic in self.critics]
        self._build_optimisers()


mmrkhs_mmd_from_draws = configured(MMRKHS, MMRKHSConfig, mmd_samples=16)
mmrkhs_not_normalised = configured(MMRKHS, MMRKHSConfig, normalises_advantage=False)

# ---- Stable-Baselines3 ----------------------------------------------------------------------------------------------


def _rate(left: float) -> float:
    return 3e-4 * left


def _clip(left: float) -> float:
    return 0.1 + 0.2 * left


_OTHER: dict[str, Any] = {"ortho_init": False, "activation_fn": nn.ReLU, "net_arch": {"pi": [32], "vf": [128, 128]}}
sb3_ppo_relu_without_orthogonal = with_defaults(sb3.PPO, "PPO", policy_kwargs=_OTHER)
sb3_ppo_falling_schedules = with_defaults(sb3.PPO, "PPO", learning_rate=_rate, clip_range=_clip)
sb3_dqn_double = edit(
    sb3.DQN,
    "train",
    (
        "next_q_values, _ = next_q_values.max(dim=1)",
        "best = self.q_net(replay_data.next_observations).argmax(dim=1, keepdim=True)\n"
        "            next_q_values = next_q_values.gather(1, best).squeeze(1)",
    ),
)
sb3_sac_four_critics = with_defaults(sb3.SAC, "SAC", policy_kwargs={"n_critics": 4})
sb3_td3_as_ddpg = after_setup(
    with_defaults(
        sb3.TD3,
        "TD3",
        policy_delay=1,
        target_policy_noise=0.1,
        target_noise_clip=0.0,
        policy_kwargs={"n_critics": 1},
    ),
    explores,
)

"""MM-RKHS: policy improvement by majorisation with a kernel distance (Gupta and Mahajan 2026, arXiv 2603.17875).

The step from pi_k maximises, over the states of one rollout (the paper minimises costs; rewards change the sign of A),

    E[A_k(s, a)]  -  beta_k MMD^2(pi_k, pi)  -  (1 / eta_k) KL(pi | pi_k)            (eq. 6.2)

by several gradient steps on a network: the paper proves improvement for exact advantages and exact minimisation only,
and nothing of the kind is claimed here. `mmrkhs_terms` has the terms, `tabular` the exact algorithm. At the first inner
step MMD and KL are at their minimum and have no gradient; with one inner step in all beta would have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.distributions import Categorical, Distribution, kl_divergence
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam
from torchrl.objectives.value.functional import generalized_advantage_estimate

from .environments import Episodes, make_envs
from .mmrkhs_measures import mean_ratio, mmd_gradient_ratio, policy_measures, step_measures
from .mmrkhs_terms import (
    UpdateForm,
    kl_temperature,
    largest_eigenvalue,
    log_ratio_surrogate,
    median_bandwidth,
    mmd_weight,
    policy_mmd2,
    sampled_mmd2,
)
from .networks import CategoricalActor, GaussianActor, ValueNetwork
from .ppo_measures import advantage_residual, rollout_measures

Log = Callable[[dict[str, float], int], Any]
"""Called with metrics and environment steps; an answer whose `stop_training` is true ends the training."""
Batch = Mapping[str, Tensor]
"""A TensorDict or a plain dict; a minibatch has `obs action log_prob advantage value_target`, rows [B]."""


@dataclass(frozen=True)
class MMRKHSConfig:
    """Settings of `MMRKHS`. k counts rollouts."""

    form: UpdateForm = "fixed_point"
    """Which published update the MMD term follows; see `UpdateForm`."""
    num_envs: int = 8
    rollout_steps: int = 128
    """Steps of each environment between updates."""
    epochs: int = 10
    minibatch_size: int = 256
    """Rows of one inner step; the last minibatch of an epoch may be smaller and is not dropped."""
    gamma: float = 0.99
    gae_lambda: float = 0.95
    hidden_sizes: tuple[int, ...] = (64, 64)
    actor_lr: float = 1e-3
    critic_lr: float = 1e-3
    value_coef: float = 0.5
    max_grad_norm: float = 0.5
    """Applied to the actor and to the critic apart."""
    normalises_advantage: bool = True
    """Over the whole rollout: then beta and eta are free of the reward's scale."""
    beta_scale: float = 1.0
    beta_quantile: float = 0.95
    """beta_k = beta_scale * this quantile of |A| / sqrt(k + 1); the paper's largest |A| lets one outlier freeze pi."""
    eta_initial: float = 0.2
    """The exact step has KL of about eta^2 Var(A) / 2: 0.02 nats at 0.2 and normalised advantages."""
    eta_growth: float = 0.1
    eta_ceiling: float = 1.0
    exponent_clip: float = 1.5
    """Bound of the log-ratio, as in the paper's sampled variant."""
    mmd_samples: int = 0
    """0: closed form. Else the unbiased estimate from so many draws of each Gaussian, later form only."""


class MMRKHS:
    """An MM-RKHS trainer that owns its environments, networks and optimiser."""

    def __init__(self, make_env: Callable[[], Any], *, seed: int = 0, config: MMRKHSConfig | None = None) -> None:
        self.config = config or MMRKHSConfig()
        cast(Any, torch).manual_seed(seed)
        self.env: Any = make_envs(make_env, self.config.num_envs, seed)
        self._now: Any = self.env.reset()
        self._build_networks()
        networks = ((self.actor, self.config.actor_lr), (self.critic, self.config.critic_lr))
        self.optimiser: Any = Adam([{"params": list(net.parameters()), "lr": lr} for net, lr in networks], fused=True)
        self.episodes = Episodes(self.config.num_envs)
        self.iteration = 0
        self.env_steps = 0
        self.gradient_steps = 0
        self.bandwidth = 1.0
        self.beta = 1.0
        self.eta = self.config.eta_initial

    def _build_networks(self) -> None:
        """Actor, critic, and pi_k: the copy of the actor that collected the rollout."""
        spec, sizes = self.env.action_spec, self.config.hidden_sizes
        obs_dim = cast(Tensor, self._now["observation"]).shape[-1]
        self.discrete = hasattr(spec.space, "n")
        if self.discrete:
            self.actor: Any = CategoricalActor(obs_dim, spec.space.n, sizes)
            self.kernel: Tensor | None = torch.eye(spec.space.n)
        else:
            self.low, self.high = cast(Tensor, spec.space.low[0]), cast(Tensor, spec.space.high[0])
            self.actor = GaussianActor(obs_dim, self.low, self.high, sizes)
            self.kernel = None
        self.critic = ValueNetwork(obs_dim, sizes)
        self.old_actor = deepcopy(self.actor).requires_grad_(False)

    @property
    def gamma(self) -> float:
        """The discount."""
        return self.config.gamma

    # ---- data ---------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def collect(self) -> TensorDict:
        """Play `rollout_steps` in every environment with pi_k, which is the actor as it is now; [N, T]."""
        self.old_actor.load_state_dict(self.actor.state_dict())
        rows: list[TensorDict] = []
        for _ in range(self.config.rollout_steps):
            obs = cast(Tensor, self._now["observation"])
            policy = self.actor.distribution(obs)
            action = policy.sample()
            stepped, self._now = self.env.step_and_maybe_reset(self._now.set("action", self.executed(action)))
            after = stepped["next"]
            row: dict[str, Tensor] = {
                "obs": obs,
                "action": action,
                "log_prob": policy.log_prob(action),
                "value": self.critic(obs),
                # The value of the observation that really followed, also where the episode ended.
                "next_value": self.critic(after["observation"]),
                **{key: after[key].squeeze(-1) for key in ("reward", "terminated", "truncated")},
            }
            self.episodes.add(row["reward"], row["terminated"], row["truncated"])
            rows.append(TensorDict(row, batch_size=[self.config.num_envs]))
        self.env_steps += self.config.num_envs * self.config.rollout_steps
        return cast(TensorDict, torch.stack(cast(Any, rows), dim=1))

    def executed(self, action: Tensor) -> Tensor:
        """What the environment gets: within the bounds. The rollout keeps the action that the log-prob belongs to."""
        return action if self.discrete else torch.minimum(torch.maximum(action, self.low), self.high)

    def advantages(self, rollout: TensorDict) -> TensorDict:
        """Adds raw `advantage` and `value_target` [N, T] to a rollout [N, T].

        Traces run along time within each environment. Both ends of an episode cut the trace; only termination cuts
        the bootstrap (Schulman et al. 2015, arXiv 1506.02438).
        """
        rows = cast(Batch, rollout)
        flags = {"terminated": rows["terminated"], "done": rows["terminated"] | rows["truncated"]}
        columns = {"reward": rows["reward"], **flags}
        advantage, target = generalized_advantage_estimate(
            self.config.gamma,
            self.config.gae_lambda,
            rows["value"].unsqueeze(-1),
            rows["next_value"].unsqueeze(-1),
            **cast(Any, {key: column.unsqueeze(-1) for key, column in columns.items()}),
        )
        rollout["advantage"], rollout["value_target"] = advantage.squeeze(-1), target.squeeze(-1)
        return rollout

    def prepare(self, rollout: TensorDict) -> TensorDict:
        """What the inner steps need beside raw advantages: normalises them and sets beta_k, eta_k and the bandwidth."""
        advantage = cast(Tensor, rollout["advantage"])
        if self.config.normalises_advantage and advantage.numel() > 1:
            rollout["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        self.set_weights(cast(Batch, rollout))
        return rollout

    def minibatches(self, rollout: TensorDict) -> Iterator[TensorDict]:
        """One epoch: every row once, in a new order; the last minibatch may be smaller and is not dropped."""
        flat: Any = rollout.flatten(0, 1)
        order: Any = torch.randperm(len(flat))
        for rows in order.split(self.config.minibatch_size):
            yield flat[rows]

    # ---- the equations ------------------------------------------------------------------------------------------

    def set_weights(self, rollout: Batch) -> None:
        """beta_k, eta_k and the bandwidth for this rollout; the same for all of its inner steps."""
        config = self.config
        beta = mmd_weight(rollout["advantage"], self.iteration, quantile=config.beta_quantile)
        self.beta = config.beta_scale * beta
        largest = 1.0 if self.kernel is None else largest_eigenvalue(self.kernel)
        self.eta = kl_temperature(
            self.iteration,
            initial=config.eta_initial,
            growth=config.eta_growth,
            ceiling=config.eta_ceiling,
            beta=self.beta,
            largest_eigenvalue=largest,
        )
        if self.kernel is None:
            self.bandwidth = median_bandwidth(rollout["action"].flatten(0, 1))

    def log_prob(self, minibatch: Batch) -> Tensor:
        """Log-probability [B] of the *stored* actions under the actor."""
        return self.actor.distribution(minibatch["obs"]).log_prob(minibatch["action"])

    def mmd(self, old: Distribution, new: Distribution) -> Tensor:
        """Squared MMD [B] between pi_k and the actor."""
        if self.config.mmd_samples and not self.discrete:
            size = torch.Size([self.config.mmd_samples])
            return sampled_mmd2(old.sample(size), new.rsample(size), self.bandwidth)
        return policy_mmd2(old, new, kernel=self.kernel, bandwidth=self.bandwidth, form=self.config.form)

    def loss(self, minibatch: Batch) -> dict[str, Tensor]:
        """The terms to minimise: `policy`, `mmd`, `kl` and `value`, each with its weight."""
        new = self.actor.distribution(minibatch["obs"])
        with torch.no_grad():
            old = self.old_actor.distribution(minibatch["obs"])
        log_ratio = self.log_prob(minibatch) - minibatch["log_prob"]
        gain = log_ratio_surrogate(log_ratio, minibatch["advantage"], self.config.exponent_clip)
        return {
            "policy": -gain.mean(),
            "mmd": self.beta * self.mmd(old, new).mean(),
            "kl": kl_divergence(new, old).mean() / self.eta,
            "value": self.config.value_coef * mse_loss(self.critic(minibatch["obs"]), minibatch["value_target"]),
        }

    # ---- the update ---------------------------------------------------------------------------------------------

    def step(self, minibatch: Batch) -> dict[str, Tensor]:
        """One inner step on one minibatch; returns the terms."""
        terms = self.loss(minibatch)
        self.optimiser.zero_grad()
        cast(Any, torch.stack(list(terms.values())).sum()).backward()
        norms = {
            name: clip_grad_norm_(network.parameters(), self.config.max_grad_norm)
            for name, network in (("actor_grad_norm", self.actor), ("critic_grad_norm", self.critic))
        }
        self.optimiser.step()
        self.gradient_steps += 1
        return {**{name: term.detach() for name, term in terms.items()}, **norms}

    def update(self, rollout: TensorDict) -> dict[str, float]:
        """All inner steps on one rollout, from pi_k to pi_(k+1); returns the metrics of the update."""
        rollout = self.advantages(rollout)
        measures = rollout_measures(rollout) | advantage_residual(rollout, self.gamma, self.config.gae_lambda)
        rollout = self.prepare(rollout)
        steps: list[dict[str, Tensor]] = []
        for _ in range(self.config.epochs):
            for minibatch in self.minibatches(rollout):
                if not steps:
                    measures["policy/ratio_first_minibatch"] = mean_ratio(self, minibatch)
                steps.append(self.step(minibatch))
        mean = {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}
        flat = cast(Batch, rollout.flatten(0, 1))
        measures["policy/mmd_grad_ratio"] = mmd_gradient_ratio(self, flat)
        self.iteration += 1
        return {**measures, **policy_measures(self, flat), **step_measures(self, mean)}

    def learn(self, total_steps: int, log: Log | None = None) -> None:
        """Train for at least `total_steps` environment steps; `log(metrics, env_steps)` after each update."""
        while self.env_steps < total_steps:
            metrics = self.update(self.collect())
            if log is not None:
                answer = log({**metrics, **self.episodes.drain()}, self.env_steps)
                if getattr(answer, "stop_training", False):
                    return

    # ---- the agent ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def act(self, obs: Any, deterministic: bool = False) -> Any:
        """The action for one observation: the likeliest, or a draw."""
        policy = self.actor.distribution(torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1))
        action = (policy.mode if deterministic else policy.sample())[0]
        return int(action) if isinstance(policy, Categorical) else self.executed(action).numpy()

    @torch.no_grad()
    def value(self, obs: Any) -> float:
        """The critic's value of one observation."""
        return float(self.critic(torch.as_tensor(obs, dtype=torch.float32).reshape(1, -1)))


def train(
    make_env: Callable[[], Any],
    *,
    total_steps: int,
    seed: int,
    gamma: float = 0.99,
    config: MMRKHSConfig | None = None,
    log: Log | None = None,
) -> MMRKHS:
    """Train MM-RKHS for `total_steps` environment steps; `gamma` overrides the config's."""
    trainer = MMRKHS(make_env, seed=seed, config=replace(config or MMRKHSConfig(), gamma=gamma))
    trainer.learn(total_steps, log)
    return trainer

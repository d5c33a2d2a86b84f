"""TorchRL pairs with a replay buffer as their users write them, and the same with one bug each."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.data.replay_buffers import SamplerWithoutReplacement
from torchrl.modules import AdditiveGaussianModule, QValueActor, TanhModule, ValueOperator
from torchrl.objectives import DDPGLoss, DQNLoss, HardUpdate, SACLoss, SoftUpdate, TD3Loss

from firstbreak.probes.adapters.torchrl import Parts
from tests.unit.probes import torchrl_pairs as pairs
from tests.unit.probes.torchrl_pairs import AS_IS, Collector, network

Make = Callable[..., Parts]


def changed(of: Make, change: Callable[[Parts], Any]) -> Make:
    """The builder `of`, its parts changed by `change`."""

    def make(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
        parts = of(make_env, total_steps=total_steps, seed=seed, gamma=gamma)
        change(parts)
        return parts

    make.actions, make.steps = of.actions, of.steps  # type: ignore[attr-defined]
    return make


# Right pairs, each unusual in some way.


def double_one_hot(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    """Double DQN on one-hot actions, a target copied now and then, sampled without replacement."""
    env = make_env()
    width, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    q = QValueActor(network(width, actions), spec=env.action_spec)
    loss = DQNLoss(q, action_space="one-hot", double_dqn=True, loss_function="l2")
    loss.make_value_estimator(gamma=gamma)
    behaviour = TensorDictSequential(q, pairs.EGreedyModule(env.action_spec, eps_init=1.0, eps_end=0.1))
    return Parts(
        collector=Collector(env, behaviour, frames_per_batch=16, total_frames=total_steps, **AS_IS),
        policy=q,
        loss=loss,
        optimiser=torch.optim.RMSprop(loss.parameters(), lr=1e-3),
        q=q,
        replay_buffer=TensorDictReplayBuffer(
            storage=LazyTensorStorage(50_000), sampler=SamplerWithoutReplacement(), batch_size=32
        ),
        target_updater=HardUpdate(loss, value_network_update_interval=10),
        epochs=2,
    )


def deterministic(kind: type, make_env: Any, total_steps: int, gamma: float, **options: Any) -> Parts:
    env = make_env()
    space, spec = env.action_spec.space, env.action_spec
    width, size = env.observation_spec["observation"].shape[-1], spec.shape[-1]
    actor = TensorDictSequential(
        TensorDictModule(network(width, size, nn.ReLU), ["observation"], ["param"]),
        TanhModule(in_keys=["param"], out_keys=["action"], spec=spec, low=space.low, high=space.high),
    )
    q = ValueOperator(network(width + size, 1, nn.ReLU), in_keys=["observation", "action"])
    if kind is TD3Loss:
        options["action_spec"] = spec
    loss = kind(actor, q, loss_function="l2", **options)
    loss.make_value_estimator(gamma=gamma)
    exploring = TensorDictSequential(actor, AdditiveGaussianModule(spec, sigma_init=0.3, sigma_end=0.3))
    separate = [
        torch.optim.Adam([w for name, w in loss.named_parameters() if name.startswith(start)], lr=1e-3)
        for start in ("actor_network", "qvalue_network" if kind is not DDPGLoss else "value_network")
    ]
    return Parts(
        collector=Collector(
            env, exploring, frames_per_batch=20, total_frames=total_steps, init_random_frames=1000, **AS_IS
        ),
        policy=actor,
        loss=loss,
        optimiser=separate,
        replay_buffer=TensorDictReplayBuffer(storage=LazyTensorStorage(10_000), batch_size=64),
        target_updater=SoftUpdate(loss, eps=0.99),
        epochs=4,
    )


def td3(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    """Twins by vmap, noise on the target's action, one optimiser for each network."""
    return deterministic(TD3Loss, make_env, total_steps, gamma)


def ddpg(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    """One critic, a delayed actor as well."""
    return deterministic(DDPGLoss, make_env, total_steps, gamma, delay_actor=True, delay_value=True)


td3.actions = ddpg.actions = ("continuous",)
td3.steps = ddpg.steps = double_one_hot.steps = 640
double_one_hot.actions = ("discrete",)


# The same with one bug each.


def no_target_update(parts: Parts) -> None:
    parts.target_updater = None


def done_for_terminated(parts: Parts) -> None:
    parts.loss.set_keys(terminated="done")


def other_gamma(parts: Parts) -> None:
    parts.loss.make_value_estimator(gamma=0.9)


def without_log_alpha(parts: Parts) -> None:
    weights = [w for name, w in parts.loss.named_parameters() if name != "log_alpha"]
    parts.optimiser = torch.optim.Adam(weights, lr=3e-3)


def without_critic(parts: Parts) -> None:
    parts.optimiser = torch.optim.Adam(parts.policy.parameters(), lr=3e-3)


class Spoilt:
    """A collector whose batches are spoilt on their way to the buffer."""

    def __init__(self, inner: Any, spoil: Callable[[Any], None]) -> None:
        self.inner, self.spoil = inner, spoil

    def __iter__(self) -> Any:
        for batch in self.inner:
            self.spoil(batch)
            yield batch

    def shutdown(self) -> None:
        self.inner.shutdown()


def reward_late(batch: Any) -> None:
    batch["next", "reward"] = batch["next", "reward"].roll(1, 0)


def ends_stored_as_terminations(batch: Any) -> None:
    batch["next", "terminated"] = batch["next", "done"].clone()


def spoilt(spoil: Callable[[Any], None]) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        parts.collector = Spoilt(parts.collector, spoil)

    return change


class OnlineTarget(DQNLoss):
    """Bootstraps from the network that it trains."""

    def __getattr__(self, item: str) -> Any:
        if item == "target_value_network_params":
            return self.value_network_params.data
        return super().__getattr__(item)


class GreedyActor(SACLoss):
    """The sampled action is detached before the critic sees it."""

    def actor_loss(self, tensordict: Any) -> Any:
        with self.actor_network_params.to_module(self.actor_network):
            policy = self.actor_network.get_dist(tensordict)
            action = policy.rsample()
            log_prob = policy.log_prob(action)
        rows = tensordict.select("observation").set("action", action.detach())
        rows = self._vmap_qnetworkN0(rows, self._cached_detached_qvalue_params)
        q = rows["state_action_value"].min(0)[0].squeeze(-1)
        return (self._alpha * log_prob - q).mean(), {"log_prob": log_prob.detach()}


class LargerTwin(TD3Loss):
    """Takes the larger of the twins."""

    def value_loss(self, tensordict: Any) -> Any:
        inner = self._vmap_qvalue_network00

        def negated(*given: Any) -> Any:
            found = inner(*given)
            if given[1] is self.target_qvalue_network_params:
                found["state_action_value"] = found["state_action_value"].max(0, keepdim=True)[0].expand(2, -1, -1)
            return found

        self._vmap_qvalue_network00 = negated
        try:
            return super().value_loss(tensordict)
        finally:
            self._vmap_qvalue_network00 = inner


class Climbs(DDPGLoss):
    """The sign of the actor's loss is lost."""

    def loss_actor(self, tensordict: Any) -> Any:
        loss, more = super().loss_actor(tensordict)
        return -loss, more


def of_class(kind: type) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        parts.loss.__class__ = kind

    return change


def stale_policy(parts: Parts) -> None:
    """The collector and evaluation act with a copy that nobody trains."""
    parts.policy = deepcopy(parts.policy)


dqn_target_still = changed(pairs.dqn, no_target_update)
dqn_done = changed(pairs.dqn, done_for_terminated)
dqn_reward_late = changed(pairs.dqn, spoilt(reward_late))
dqn_online_target = changed(pairs.dqn, of_class(OnlineTarget))
dqn_stale_policy = changed(pairs.dqn, stale_policy)
sac_ends_stored = changed(pairs.sac, spoilt(ends_stored_as_terminations))
sac_other_gamma = changed(pairs.sac, other_gamma)
sac_alpha_left_out = changed(pairs.sac, without_log_alpha)
sac_critic_left_out = changed(pairs.sac, without_critic)
sac_action_detached = changed(pairs.sac, of_class(GreedyActor))
td3_larger_twin = changed(td3, of_class(LargerTwin))
td3_target_still = changed(td3, no_target_update)
ddpg_sign = changed(ddpg, of_class(Climbs))
ddpg_done = changed(ddpg, done_for_terminated)


class OwnLoss(nn.Module):
    """Fits Q of the stored action to the reward, in a shape of its own."""

    def __init__(self, q: Any) -> None:
        super().__init__()
        self.q = q

    def forward(self, rows: Any) -> Any:
        found = self.q(rows.clone(False))["action_value"].gather(-1, rows["action"].reshape(-1, 1))
        return TensorDict({"loss": ((found - rows["next", "reward"]) ** 2).mean()}, batch_size=[])


def with_own_loss(parts: Parts) -> None:
    parts.loss, parts.target_updater = OwnLoss(parts.q), None
    parts.optimiser = torch.optim.Adam(parts.loss.parameters(), lr=1e-3)


def with_own_loop(parts: Parts) -> None:
    parts.update = lambda batch: None


own_loss = changed(pairs.dqn, with_own_loss)
own_loop_that_never_steps = changed(pairs.dqn, with_own_loop)


def no_parts(make_env: Any, *, total_steps: int, seed: int) -> Any:
    parts = pairs.dqn(make_env, total_steps=total_steps, seed=seed)
    return parts.collector, parts.loss

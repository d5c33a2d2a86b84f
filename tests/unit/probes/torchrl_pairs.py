"""TorchRL trainers as their users write them: PPO, DQN and SAC, and PPO with planted bugs."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from tensordict.nn import NormalParamExtractor, TensorDictModule, TensorDictSequential
from torch import nn
from torch.distributions import Categorical
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import MLP, EGreedyModule, ProbabilisticActor, QValueActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, DQNLoss, SACLoss, SoftUpdate
from torchrl.objectives.value import GAE

from firstbreak.probes.adapters.torchrl import Parts, smallest_q

with warnings.catch_warnings():  # the module deprecates classes of its own while it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from torchrl.collectors import Collector

AS_IS: Any = {"auto_register_policy_transforms": False}  # a decision that 0.14 asks for


def network(inputs: int, outputs: int, act: Any = nn.Tanh) -> MLP:
    return MLP(in_features=inputs, out_features=outputs, num_cells=[32], activation_class=act)


class DoneForTerminated(nn.Module):
    """Takes every end of an episode for a termination before GAE sees it."""

    def __init__(self, gae: Any) -> None:
        super().__init__()
        self.gae, self.gamma = gae, gae.gamma

    def forward(self, rows: Any) -> Any:
        rows["next", "terminated"] = rows["next", "done"].clone()
        return self.gae(rows)


def ppo(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99, bug: str = "") -> Parts:
    env = make_env(categorical_action_encoding=True)
    width, actions = env.observation_spec["observation"].shape[-1], env.action_spec.n
    policy = ProbabilisticActor(
        TensorDictModule(network(width, actions), ["observation"], ["logits"]),
        in_keys=["logits"],
        distribution_class=Categorical,
        return_log_prob=True,
    )
    value = ValueOperator(network(width, 1), in_keys=["observation"])
    used = 0.9 if bug == "gamma" else gamma
    gae = GAE(gamma=used, lmbda=0.95, value_network=value, shifted=False, deactivate_vmap=True)
    loss = ClipPPOLoss(policy, value, entropy_bonus=False, critic_coeff=0.5, loss_critic_type="l2")
    return Parts(
        collector=Collector(env, policy, frames_per_batch=64, total_frames=total_steps, **AS_IS),
        policy=policy,
        loss=loss,
        optimiser=torch.optim.Adam(loss.parameters(), lr=1e-2),
        value=value,
        advantage=DoneForTerminated(gae) if bug == "done" else gae,
        epochs=10,
        minibatch=64,
        max_grad_norm=0.5,
        gamma=gamma,
    )


def ppo_truncation_cut(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Parts:
    return ppo(make_env, total_steps=total_steps, seed=seed, gamma=gamma, bug="done")


def ppo_wrong_gamma(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Parts:
    return ppo(make_env, total_steps=total_steps, seed=seed, gamma=gamma, bug="gamma")


def dqn(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Parts:
    env = make_env(categorical_action_encoding=True)
    q = QValueActor(network(env.observation_spec["observation"].shape[-1], env.action_spec.n), spec=env.action_spec)
    explore = EGreedyModule(env.action_spec, eps_init=1.0, eps_end=0.05, annealing_num_steps=total_steps // 32)
    behaviour = TensorDictSequential(q, explore)
    loss = DQNLoss(q, action_space="categorical", delay_value=True, loss_function="smooth_l1")
    loss.make_value_estimator(gamma=gamma)
    moving = SoftUpdate(loss, tau=0.1)

    class Annealed(Collector):
        """Lowers epsilon once per batch."""

        def __iter__(self) -> Any:
            for batch in super().__iter__():
                explore.step()
                yield batch

    return Parts(
        collector=Annealed(
            env, behaviour, frames_per_batch=16, total_frames=total_steps, init_random_frames=128, **AS_IS
        ),
        policy=q,
        loss=loss,
        optimiser=torch.optim.Adam(loss.parameters(), lr=5e-3),
        q=q,
        replay_buffer=TensorDictReplayBuffer(storage=LazyTensorStorage(5000), batch_size=64),
        target_updater=moving,
        epochs=8,
        gamma=gamma,
    )


def sac(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Parts:
    env = make_env()
    spec = env.action_spec
    width, size = env.observation_spec["observation"].shape[-1], spec.shape[-1]
    policy = ProbabilisticActor(
        TensorDictModule(
            nn.Sequential(network(width, 2 * size, nn.ReLU), NormalParamExtractor()), ["observation"], ["loc", "scale"]
        ),
        in_keys=["loc", "scale"],
        spec=spec,
        distribution_class=TanhNormal,
        distribution_kwargs={"low": spec.space.low, "high": spec.space.high, "tanh_loc": False},
    )
    q = ValueOperator(network(width + size, 1, nn.ReLU), in_keys=["observation", "action"])
    loss = SACLoss(policy, q, action_spec=spec, alpha_init=0.1, loss_function="l2", deactivate_vmap=True)
    loss.make_value_estimator(gamma=gamma)
    return Parts(
        collector=Collector(
            env, policy, frames_per_batch=16, total_frames=total_steps, init_random_frames=128, **AS_IS
        ),
        policy=policy,
        loss=loss,
        optimiser=torch.optim.Adam(loss.parameters(), lr=3e-3),
        q=smallest_q(loss),
        replay_buffer=TensorDictReplayBuffer(storage=LazyTensorStorage(5000), batch_size=64),
        target_updater=SoftUpdate(loss, tau=0.05),
        epochs=12,
        gamma=gamma,
    )


ppo.steps, ppo.actions = 768, ("discrete",)
ppo_truncation_cut.steps, ppo_truncation_cut.actions = 768, ("discrete",)
ppo_wrong_gamma.steps, ppo_wrong_gamma.actions = 768, ("discrete",)
dqn.steps, dqn.actions = 640, ("discrete",)
sac.steps, sac.actions = 640, ("continuous",)

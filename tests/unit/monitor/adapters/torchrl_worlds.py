"""Tiny TorchRL trainers; TorchRL warns about its own internals when it is imported."""

from __future__ import annotations

import warnings

import torch
from torch import nn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from tensordict.nn.distributions import NormalParamExtractor
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, SamplerWithoutReplacement, TensorDictReplayBuffer
    from torchrl.envs import Compose, GymWrapper, RewardSum, SerialEnv, StepCounter, TransformedEnv
    from torchrl.modules import (
        AdditiveGaussianModule,
        EGreedyModule,
        OneHotCategorical,
        ProbabilisticActor,
        QValueActor,
        TanhModule,
        TanhNormal,
        ValueOperator,
    )
    from torchrl.objectives import ClipPPOLoss, DQNLoss, SACLoss, SoftUpdate, TD3Loss
    from torchrl.objectives.value import GAE
    from torchrl.trainers import DefaultOptimizationStepper, Trainer
    from torchrl.trainers.trainers import ReplayBufferTrainer, TargetNetUpdaterHook

from firstbreak.monitor.world import watched
from tests.unit.monitor.adapters.sb3_worlds import Line

torch.set_num_threads(1)


def network(*sizes):
    return nn.Sequential(nn.Linear(sizes[0], 8), nn.Tanh(), nn.Linear(8, sizes[1]))


def env(discrete, world=None, copies=1, transforms=(), around=lambda line: line, **more):
    def one():
        line = Line(discrete, **more)
        return GymWrapper(around(watched(line, world) if world else line), categorical_action_encoding=False)

    base = one() if copies == 1 else SerialEnv(copies, one)
    made = TransformedEnv(base, Compose(RewardSum(), StepCounter(), *transforms))
    made.set_seed(0)
    return made


def trainer(loss, made, policy, frames, optimiser=None, per_batch=32, **more):
    return Trainer(
        collector=Collector(made, policy, frames_per_batch=per_batch, total_frames=frames),
        total_frames=frames,
        frame_skip=1,
        loss_module=loss,
        optimizer=optimiser or torch.optim.Adam(loss.parameters(), lr=1e-2),
        progress_bar=False,
        optimization_stepper=DefaultOptimizationStepper(),
        clip_grad_norm=True,
        clip_norm=0.01,
        **more,
    )


def ppo(frames=96, hook=None, epochs=2, on_batch=None, played=lambda actor: actor, width=2, per_batch=32, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made = env(discrete=True, **more)
        module = TensorDictModule(network(width, 3), ["observation"], ["logits"])
        actor = ProbabilisticActor(
            module,
            in_keys=["logits"],
            distribution_class=OneHotCategorical,
            return_log_prob=True,
            spec=made.action_spec,
        )
        critic = ValueOperator(network(width, 1), in_keys=["observation"])
        loss = ClipPPOLoss(actor, critic)
        made = trainer(
            loss, made, played(actor), frames, per_batch=per_batch, num_epochs=epochs, optim_steps_per_batch=2
        )
        buffer = TensorDictReplayBuffer(
            storage=LazyTensorStorage(per_batch), sampler=SamplerWithoutReplacement(), batch_size=16
        )
        memory = ReplayBufferTrainer(buffer, flatten_tensordicts=True)
        if on_batch is not None:
            made.register_op("batch_process", on_batch)
        made.register_op("pre_epoch", GAE(gamma=0.99, lmbda=0.95, value_network=critic))
        made.register_op("pre_epoch", memory.extend)
        made.register_op("process_optim_batch", memory.sample)
        if hook is not None:
            hook.register(made)
        made.train()
    return made


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network(4, 1)

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1))


def sac(frames=96, hook=None, on_batch=None, played=lambda actor: actor, buffer=None, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made = env(discrete=False, **more)
        module = TensorDictModule(
            nn.Sequential(network(2, 4), NormalParamExtractor()), ["observation"], ["loc", "scale"]
        )
        actor = ProbabilisticActor(
            module, in_keys=["loc", "scale"], distribution_class=TanhNormal, spec=made.action_spec,
            distribution_kwargs={"low": -2.0, "high": 2.0}, return_log_prob=True,
        )  # fmt: skip

        qvalue = ValueOperator(Q(), in_keys=["observation", "action"])
        loss = SACLoss(actor, qvalue, action_spec=made.action_spec)
        loss.make_value_estimator(gamma=0.99)
        return replayed(loss, made, played(actor), frames, hook, on_batch, buffer)


def replayed(loss, made, policy, frames, hook, on_batch=None, buffer=None):
    """Train from a replay buffer."""
    made = trainer(loss, made, policy, frames, optim_steps_per_batch=4)
    buffer = TensorDictReplayBuffer(**{"storage": LazyTensorStorage(500), "batch_size": 16, **(buffer or {})})
    memory = ReplayBufferTrainer(buffer, flatten_tensordicts=True)
    if on_batch is not None:
        made.register_op("batch_process", on_batch)
    made.register_op("batch_process", memory.extend)
    made.register_op("process_optim_batch", memory.sample)
    TargetNetUpdaterHook(SoftUpdate(loss, tau=0.01)).register(made, "target_updater")
    if hook is not None:
        hook.register(made)
    made.train()
    return made


def td3(frames=96, hook=None, sigma=0.2, **more):
    """An actor of actions, and Gaussian noise around them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made = env(discrete=False, **more)
        body = TensorDictModule(network(2, 2), ["observation"], ["param"])
        bounds = TanhModule(in_keys=["param"], out_keys=["action"], low=-2.0, high=2.0)
        actor = TensorDictSequential(body, bounds)
        qvalue = ValueOperator(Q(), in_keys=["observation", "action"])
        loss = TD3Loss(actor, qvalue, bounds=(-2.0, 2.0))
        loss.make_value_estimator(gamma=0.99)
        noise = AdditiveGaussianModule(spec=made.action_spec, sigma_init=sigma, sigma_end=sigma)
        return replayed(loss, made, TensorDictSequential(actor, noise), frames, hook)


def dqn(frames=96, hook=None, epsilon=0.2, **more):
    """Values of all actions, of which the best one is taken but for a share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        made = env(discrete=True, **more)
        actor = QValueActor(network(2, 3), spec=made.action_spec, in_keys=["observation"])
        loss = DQNLoss(actor, action_space=made.action_spec, delay_value=True)
        loss.make_value_estimator(gamma=0.99)
        chance = EGreedyModule(spec=made.action_spec, eps_init=epsilon, eps_end=epsilon)
        return replayed(loss, made, TensorDictSequential(actor, chance), frames, hook)


def same(left, right):
    one, two = left.loss_module.state_dict(), right.loss_module.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[key], two[key]) for key in one)

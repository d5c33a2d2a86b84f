"""TorchRL in the ninth live campaign: trainers, tasks, and when its faults begin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ninth_worlds
import torch
from eighth_doses import earlier
from ninth_doses import dose_of
from ninth_pieces import Pieces
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.envs import Compose, GymWrapper, RewardSum, SerialEnv, StepCounter, TransformedEnv
from torchrl.modules import MLP, NormalParamExtractor, OneHotCategorical, ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, SACLoss, SoftUpdate
from torchrl.objectives.value import GAE
from torchrl.trainers import BatchSubSampler, DefaultOptimizationStepper, ReplayBufferTrainer, Trainer
from worlds import Truth

from firstbreak.monitor.world import World

SIZES = (64, 64)
SUBJECTS: dict[str, tuple[dict[str, Any], str, int, int, int]] = {
    "torchrl_ppo_plates": ({"gamma": 0.97, "learning_rate": 2e-3}, "Plates", 8, 12_288, 30),
    "torchrl_sac_reactor": ({"gamma": 0.95, "learning_rate": 2e-3}, "Reactor", 1, 2_000, 6),
}
"""Settings, environment, copies, environment steps, episodes that a return is averaged over."""


class Switch:
    """Switches the fault on when its time has come; passes on what faults of a batch are planted in."""

    def __init__(self, subject: str, truth: Truth, fault: str, share: float) -> None:
        self.subject, self.truth, self.fault = subject, truth, fault
        self.at = earlier(share) * SUBJECTS[subject][3]
        self.of_batch: Callable[[Any], Any] = lambda batch: batch
        self.of_advantages: Callable[[Any], Any] = lambda batch: batch
        self.of_sample: Callable[[Any], Any] = lambda batch: batch
        self.trainer: Any = None
        self.pieces: Any = None
        self.replay: Any = None

    def batch(self, batch: Any) -> Any:
        """Pass on what was collected."""
        return self.of_batch(batch)

    def advantages(self, batch: Any) -> Any:
        """Pass on the same, advantages being there."""
        return self.of_advantages(batch)

    def sample(self, sample: Any) -> Any:
        """Pass on what replay hands out."""
        return self.of_sample(sample)

    def look(self) -> None:
        """Begin, if it is time."""
        if math.isnan(self.truth.began) and self.trainer.collected_frames >= self.at:
            self.truth.began = float(self.trainer.collected_frames)
            self.begin()

    def begin(self) -> None:
        """Switch the fault on."""
        from ninth_torchrl_plants import plant

        if self.fault in ninth_worlds.FAULTS:
            self.truth.fault = self.fault
        elif self.fault:
            plant(self, self.fault, dose_of(self.fault, self.subject))


def settings_of(subject: str) -> dict[str, Any]:
    """Return the settings, as a user would hand them to the monitor."""
    return SUBJECTS[subject][0]


def built(subject: str, seed: int, world: World | None, truth: Truth, switch: Switch) -> Any:
    """Return the trainer of `subject`, `switch` being in it."""
    torch.manual_seed(seed)
    settings, name, copies, frames, _ = SUBJECTS[subject]
    factory = ninth_worlds.maker(name, subject, truth, seed, world)
    inner = SerialEnv(copies, lambda: GymWrapper(factory())) if copies > 1 else GymWrapper(factory())
    env = TransformedEnv(inner, Compose(RewardSum(), StepCounter()))
    env.set_seed(seed)
    make = on_policy if "_ppo_" in subject else off_policy
    switch.trainer, switch.pieces = make(env, settings, frames, switch)
    switch.trainer.register_op("post_steps", switch.look)
    return switch.trainer


def on_policy(env: Any, settings: dict[str, Any], frames: int, switch: Switch) -> tuple[Any, Pieces]:
    """Return a PPO trainer, as in TorchRL's examples."""
    size, actions = env.observation_spec["observation"].shape[-1], env.action_spec.shape[-1]
    network = MLP(size, actions, num_cells=SIZES, activation_class=nn.Tanh)
    logits = TensorDictModule(network, ["observation"], ["logits"])
    actor = ProbabilisticActor(
        logits, in_keys=["logits"], distribution_class=OneHotCategorical, return_log_prob=True, spec=env.action_spec
    )
    critic = ValueOperator(MLP(size, 1, num_cells=SIZES, activation_class=nn.Tanh), in_keys=["observation"])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.005, normalize_advantage=True)
    optimiser = torch.optim.Adam(loss.parameters(), lr=settings["learning_rate"])
    collector = Collector(env, actor, frames_per_batch=512, total_frames=frames)
    trainer = Trainer(
        collector=collector, total_frames=frames, frame_skip=1, loss_module=loss, optimizer=optimiser, num_epochs=6,
        optim_steps_per_batch=4, optimization_stepper=DefaultOptimizationStepper(), clip_norm=0.5, progress_bar=False,
    )  # fmt: skip
    gae = GAE(gamma=settings["gamma"], lmbda=0.95, value_network=critic)
    trainer.register_op("batch_process", switch.batch)
    trainer.register_op("pre_epoch", gae)
    trainer.register_op("pre_epoch", switch.advantages)
    BatchSubSampler(batch_size=128).register(trainer)
    pieces = Pieces([optimiser], network, network[-1], list(critic.parameters()))
    collector.rollout = pieces.play(collector.rollout)
    return trainer, pieces


def off_policy(env: Any, settings: dict[str, Any], frames: int, switch: Switch) -> tuple[Any, Pieces]:
    """Return a SAC trainer, as in TorchRL's examples."""
    size, actions = env.observation_spec["observation"].shape[-1], env.action_spec.shape[-1]
    network = nn.Sequential(
        MLP(size, 2 * actions, num_cells=SIZES, activation_class=nn.ReLU), NormalParamExtractor(scale_lb=0.05)
    )
    actor = ProbabilisticActor(
        TensorDictModule(network, ["observation"], ["loc", "scale"]), in_keys=["loc", "scale"], spec=env.action_spec,
        distribution_class=TanhNormal, distribution_kwargs={"low": -1.0, "high": 1.0}, return_log_prob=True,
    )  # fmt: skip
    value = MLP(size + actions, 1, num_cells=SIZES, activation_class=nn.ReLU)
    critic = ValueOperator(value, in_keys=["observation", "action"])
    loss = SACLoss(actor, critic, num_qvalue_nets=2, alpha_init=0.1, action_spec=env.action_spec)
    loss.make_value_estimator(gamma=settings["gamma"])
    optimiser = torch.optim.Adam(loss.parameters(), lr=settings["learning_rate"])
    collector = Collector(env, actor, frames_per_batch=20, total_frames=frames, init_random_frames=200)
    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(frames), batch_size=64)
    trainer = Trainer(
        collector=collector, total_frames=frames, frame_skip=1, loss_module=loss, optimizer=optimiser,
        optim_steps_per_batch=12, optimization_stepper=DefaultOptimizationStepper(), clip_norm=10.0, progress_bar=False,
    )  # fmt: skip
    trainer.register_op("batch_process", switch.batch)
    switch.replay = ReplayBufferTrainer(buffer, flatten_tensordicts=True)
    switch.replay.register(trainer)
    trainer.register_op("process_optim_batch", switch.sample)
    updater = SoftUpdate(loss, tau=0.01)
    trainer.register_op("post_optim", updater.step)
    pieces = Pieces(
        [optimiser], network, network[0][-1], [w for name, w in loss.named_parameters() if name.startswith("qvalue")]
    )
    collector.rollout = pieces.play(collector.rollout)
    return trainer, pieces


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Any, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run, moved; `truth` hears what really happened."""
    from firstbreak.monitor.adapters.torchrl import MonitorHook

    trainer = built(subject, seed, world, truth, Switch(subject, truth, fault, share))
    MonitorHook(monitor).register(trainer)
    trainer.train()

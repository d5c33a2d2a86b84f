"""Short trainings on a GPU, with a monitor beside them or without.

Each takes the algorithm, a folder, the monitor, and how many times as many gradient steps a row of the monitor is to
hold: what a monitor adds to a gradient step shows in the difference of two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch

from firstbreak.monitor import Monitor

DEVICE: str = "cuda"
Weights = list[torch.Tensor]


def stable_baselines(algorithm: str, folder: Path, monitor: Monitor | None, times: int = 1) -> Weights:
    import stable_baselines3 as sb3

    from firstbreak.monitor.adapters.sb3 import MonitorCallback

    shared: dict[str, Any] = {"seed": 0, "device": DEVICE}
    later: dict[str, Any] = {**shared, "learning_starts": 100, "train_freq": 1, "gradient_steps": times}
    model: Any = {
        "PPO": lambda: sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=128, n_epochs=4 + times, **shared),
        "A2C": lambda: sb3.A2C("MlpPolicy", "CartPole-v1", **shared),
        "DQN": lambda: sb3.DQN("MlpPolicy", "CartPole-v1", **later),
        "SAC": lambda: sb3.SAC("MlpPolicy", "Pendulum-v1", **later),
        "TD3": lambda: sb3.TD3("MlpPolicy", "Pendulum-v1", **later),
    }[algorithm]()
    model.learn(384, callback=None if monitor is None else MonitorCallback(monitor))
    return [weight.detach().clone() for weight in model.policy.state_dict().values()]


def torchrl(_: str, folder: Path, monitor: Monitor | None, times: int = 1) -> Weights:
    from tensordict.nn import TensorDictModule as Module
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.envs import GymEnv, RewardSum, TransformedEnv
    from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
    from torchrl.trainers import DefaultOptimizationStepper, Trainer

    from firstbreak.monitor.adapters.torchrl import MonitorHook

    cast(Any, torch).manual_seed(0)
    env = TransformedEnv(GymEnv("CartPole-v1", device=DEVICE), RewardSum())
    env.set_seed(0)
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2)).to(DEVICE)
    actor = ProbabilisticActor(
        Module(net, ["observation"], ["logits"]), in_keys=["logits"], distribution_class=OneHotCategorical,
        return_log_prob=True, spec=env.action_spec,
    )  # fmt: skip
    critic = ValueOperator(
        nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)).to(DEVICE), in_keys=["observation"]
    )
    loss = ClipPPOLoss(actor, critic)
    collector = Collector(env, actor, frames_per_batch=128, total_frames=384, device=DEVICE)
    trainer = Trainer(
        collector=collector, total_frames=384, frame_skip=1, loss_module=loss,
        optimizer=torch.optim.Adam(loss.parameters(), lr=3e-3), num_epochs=4 * times, optim_steps_per_batch=1,
        optimization_stepper=DefaultOptimizationStepper(), progress_bar=False,
    )  # fmt: skip
    cast(Any, trainer).register_op("pre_epoch", GAE(gamma=0.99, lmbda=0.95, value_network=critic))
    if monitor is not None:
        MonitorHook(monitor).register(trainer)
    trainer.train()
    return [weight.detach().clone() for weight in loss.parameters()]


def trl_grpo(_: str, folder: Path, monitor: Monitor | None, times: int = 1) -> Weights:
    from examples.tiny_language_model import grpo
    from firstbreak.monitor.adapters.trl import watch

    parts: dict[str, Any] = {"per_device_train_batch_size": 64 // times, "gradient_accumulation_steps": times}
    settings: dict[str, Any] = {"use_cpu": DEVICE == "cpu", "beta": 0.04, **parts}
    trainer = grpo(folder / "model", steps=8, **settings)
    if monitor is not None:
        watch(trainer, monitor, rescore_every=4)
    trainer.train()
    return [weight.detach().clone() for weight in trainer.model.parameters()]


def rsl_rl(_: str, folder: Path, monitor: Monitor | None, times: int = 1) -> Weights:
    from rsl_rl.env import VecEnv
    from rsl_rl.runners import OnPolicyRunner
    from tensordict import TensorDict

    from firstbreak.monitor.adapters.rsl_rl import watch_runner

    class Reach(VecEnv):
        """Sixteen points that are to reach 0, all on the device."""

        num_envs, num_actions, max_episode_length, device = 16, 1, 20, DEVICE

        def __init__(self) -> None:
            self.cfg: Any = {}
            self.episode_length_buf = torch.zeros(16, dtype=torch.long, device=DEVICE)
            self.at = torch.ones(16, 1, device=DEVICE)

        def get_observations(self) -> TensorDict:
            return TensorDict({"policy": self.at.clone()}, batch_size=[16])

        def step(self, actions: torch.Tensor) -> Any:
            self.episode_length_buf = (self.episode_length_buf + 1) % self.max_episode_length
            done = self.episode_length_buf == 0
            anew = torch.randn(16, 1, device=DEVICE)
            self.at = torch.where(done[:, None], anew, self.at + 0.3 * actions.clamp(-1, 1))
            reward = -self.at.abs().squeeze(-1)
            return self.get_observations(), reward, done.long(), {"time_outs": done.float()}

    cast(Any, torch).manual_seed(0)
    net, noise = {"class_name": "MLPModel", "hidden_dims": [16]}, {"class_name": "GaussianDistribution"}
    settings = {"num_steps_per_env": 24, "save_interval": 50, "obs_groups": {}, "critic": net}
    models = {
        "actor": {**net, "distribution_cfg": noise},
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 5 * times},
    }
    runner: Any = OnPolicyRunner(Reach(), {**settings, **models}, str(folder / "log"), device=DEVICE)
    if monitor is not None:
        watch_runner(runner, monitor)
    runner.learn(6)
    parts = (runner.alg.actor, runner.alg.critic)
    return [weight.detach().clone() for part in parts for weight in part.parameters()]


SUBJECTS: dict[str, tuple[Callable[..., Weights], str]] = {
    "sb3 PPO": (stable_baselines, "PPO"),
    "sb3 A2C": (stable_baselines, "A2C"),
    "sb3 DQN": (stable_baselines, "DQN"),
    "sb3 SAC": (stable_baselines, "SAC"),
    "sb3 TD3": (stable_baselines, "TD3"),
    "torchrl PPO": (torchrl, "PPO"),
    "rsl_rl PPO": (rsl_rl, "PPO"),
    "trl GRPO": (trl_grpo, "GRPO"),
}

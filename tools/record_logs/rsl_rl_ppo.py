"""Records a short PPO run of rsl_rl 5 on a batched pendulum written in torch (TensorBoard and console text)."""

import contextlib
import math
import sys
from pathlib import Path

import torch
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict


class Pendulum(VecEnv):
    """A batch of inverted pendulums with Gymnasium's Pendulum-v1 dynamics and a 200-step limit."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs, self.num_actions, self.max_episode_length = num_envs, 1, 200
        self.device, self.cfg = torch.device("cpu"), {}
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long)
        self.theta, self.speed = torch.zeros(num_envs), torch.zeros(num_envs)
        self._reset(torch.ones(num_envs, dtype=torch.bool))

    def _reset(self, which: torch.Tensor) -> None:
        count = int(which.sum())
        self.theta[which] = (torch.rand(count) * 2 - 1) * math.pi
        self.speed[which] = torch.rand(count) * 2 - 1
        self.episode_length_buf[which] = 0

    def get_observations(self) -> TensorDict:
        obs = torch.stack([self.theta.cos(), self.theta.sin(), self.speed / 8], dim=1)
        return TensorDict({"policy": obs}, batch_size=[self.num_envs])

    def step(self, actions):
        torque = actions[:, 0].clamp(-1, 1) * 2
        angle = (self.theta + math.pi) % (2 * math.pi) - math.pi
        reward = -(angle**2 + 0.1 * self.speed**2 + 0.001 * torque**2) / 10
        self.speed = (self.speed + (15 * self.theta.sin() + 3 * torque) * 0.05).clamp(-8, 8)
        self.theta = self.theta + self.speed * 0.05
        self.episode_length_buf += 1
        done = self.episode_length_buf >= self.max_episode_length
        extras = {"time_outs": done.clone(), "log": {}}
        if done.any():
            self._reset(done)
        return self.get_observations(), reward, done.long(), extras


def main(out: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "elu"}
    cfg = {
        "num_steps_per_env": 32,
        "save_interval": 1000,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "algorithm": {
            "class_name": "PPO",
            "learning_rate": 1e-3,
            "num_learning_epochs": 5,
            "num_mini_batches": 4,
            "gamma": 0.97,
            "schedule": "adaptive",
            "desired_kl": 0.01,
            "entropy_coef": 0.005,
        },
        "actor": {**model, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}},
        "critic": model,
        "logger": "tensorboard",
    }
    Path(out).mkdir(parents=True, exist_ok=True)
    with (Path(out) / "console.log").open("w") as console, contextlib.redirect_stdout(console):
        OnPolicyRunner(Pendulum(128), cfg, log_dir=out, device="cpu").learn(120)
    for checkpoint in Path(out).glob("*.pt"):
        checkpoint.unlink()


if __name__ == "__main__":
    main(sys.argv[1])

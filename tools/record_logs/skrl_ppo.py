"""Records a short healthy PPO run of skrl 2 on CartPole-v1 (TensorBoard)."""

import os
import sys

import gymnasium as gym
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn


class Policy(CategoricalMixin, Model):
    def __init__(self, observation_space, action_space, device):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device=device)
        CategoricalMixin.__init__(self)
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    def __init__(self, observation_space, action_space, device):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device=device)
        DeterministicMixin.__init__(self)
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


def main(out: str) -> None:
    torch.set_num_threads(1)
    set_seed(0)
    env = wrap_env(gym.make_vec("CartPole-v1", num_envs=8, vectorization_mode="sync"))
    memory = RandomMemory(memory_size=128, num_envs=env.num_envs, device=env.device)
    args = (env.observation_space, env.action_space, env.device)
    cfg = PPO_CFG(rollouts=128, learning_epochs=8, mini_batches=8, learning_rate=3e-4, entropy_loss_scale=0.01)
    cfg.experiment.directory, cfg.experiment.experiment_name = os.path.dirname(out), os.path.basename(out)
    cfg.experiment.write_interval, cfg.experiment.checkpoint_interval = 128, 0
    agent = PPO(
        models={"policy": Policy(*args), "value": Value(*args)},
        memory=memory,
        observation_space=env.observation_space,
        action_space=env.action_space,
        device=env.device,
        cfg=cfg,
    )
    trainer = SequentialTrainer(env=env, agents=agent, cfg={"timesteps": 5120, "disable_progressbar": True})
    trainer.train()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))

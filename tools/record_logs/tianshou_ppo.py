"""Records a short healthy PPO run of Tianshou 2 on CartPole-v1 (TensorBoard)."""

import sys

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm.modelfree.ppo import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils import TensorboardLogger
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from torch.utils.tensorboard import SummaryWriter


def main(out: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)
    env = gym.make("CartPole-v1")
    training = DummyVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(8)])
    test = DummyVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(4)])
    training.seed(0)
    test.seed(1)
    shape = env.observation_space.shape
    actor = DiscreteActor(preprocess_net=Net(state_shape=shape, hidden_sizes=[64, 64]), action_shape=env.action_space.n)
    critic = DiscreteCritic(preprocess_net=Net(state_shape=shape, hidden_sizes=[64, 64]))
    policy = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=lambda probs: torch.distributions.Categorical(probs=probs),
        action_space=env.action_space,
        action_scaling=False,
        action_bound_method=None,
    )
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-4), gamma=0.99, ent_coef=0.0)
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=Collector(algorithm, training, VectorReplayBuffer(20000, 8)),
            test_collector=Collector(algorithm, test),
            max_epochs=10,
            epoch_num_steps=5000,
            collection_step_num_env_steps=1000,
            update_step_num_repetitions=10,
            batch_size=64,
            test_step_num_episodes=4,
            logger=TensorboardLogger(SummaryWriter(out), training_interval=1, update_interval=1),
            show_progress=False,
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])

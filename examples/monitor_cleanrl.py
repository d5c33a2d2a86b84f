"""A loop in CleanRL's way, whose rollouts keep a tenth of each reward from update 30 on; the numbered lines tell it."""

import sys

import gymnasium as gym
import torch
from torch import nn

from firstbreak.monitor import Monitor
from firstbreak.monitor.fed import Fed
from firstbreak.monitor.world import World, watched

torch.manual_seed(0), torch.set_num_threads(1)
monitor = Monitor(sys.argv[1] if len(sys.argv) > 1 else "runs/cleanrl", algorithm="A2C", config={"gamma": 0.99})
world, fed = World(monitor), Fed(monitor)  # 1
made = [lambda: watched(gym.make("CartPole-v1"), world)] * 4  # 2: each copy, inside every other wrapper
envs = gym.vector.SyncVectorEnv(made, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
actor, critic = (nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, n)) for n in (2, 1))
optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
obs, (actions, rewards, dones) = torch.zeros(64, 4, 4), torch.zeros(3, 64, 4)
next_obs, next_done = torch.as_tensor(envs.reset(seed=0)[0]), torch.zeros(4)
for update in range(1, 61):
    for t in range(64):
        obs[t], dones[t] = next_obs, next_done
        actions[t] = torch.distributions.Categorical(logits=actor(next_obs)).sample()
        found, reward, terminated, truncated, _ = envs.step(actions[t].long().numpy())
        rewards[t] = torch.as_tensor(reward) * (0.1 if update > 30 else 1)
        next_obs, next_done = torch.as_tensor(found), torch.as_tensor(terminated | truncated).float()
    ends = torch.cat([dones[1:], next_done[None]])  # CleanRL's dones[t] says that the step before it ended
    fed.rollout(observations=obs, actions=actions, rewards=rewards, dones=ends)  # 3
    returns, tail = torch.zeros(64, 4), critic(next_obs).detach().squeeze(-1)
    for t in reversed(range(64)):
        returns[t] = tail = rewards[t] + 0.99 * (1 - ends[t]) * tail
    policy, errors = torch.distributions.Categorical(logits=actor(obs)), returns - critic(obs).squeeze(-1)
    policy_loss, value_loss = -(policy.log_prob(actions) * errors.detach()).mean(), errors.square().mean()
    optimiser.zero_grad(), (policy_loss + 0.5 * value_loss).backward(), optimiser.step()
    row = {"policy_loss": policy_loss.item(), "value_loss": value_loss.item()}
    monitor.log({**row, "entropy": policy.entropy().mean().item()}, step=update * 256, clock="env_steps")
print(f"{monitor.rows} rows, alarms: {[(alarm.finding.name, alarm.at) for alarm in monitor.alarms]}")

"""A loop written by hand: the three numbered lines make it monitored. A2C with Monte-Carlo returns."""

import sys

import gymnasium as gym
import torch
from torch import nn

from firstbreak.monitor import Monitor

args = {"gamma": 0.99, "learning_rate": 3e-3, "vf_coef": 0.5}
env, _ = gym.make("CartPole-v1"), torch.manual_seed(0)
actor, critic = (nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, n)) for n in (2, 1))
optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=args["learning_rate"])
monitor = Monitor(sys.argv[1] if len(sys.argv) > 1 else "runs/hand_loop", algorithm="A2C", config=args)  # 1
step = 0
for episode in range(80):
    rows, (obs, _), done = [], env.reset(seed=episode), False
    while not done:
        state = torch.as_tensor(obs)
        action = torch.distributions.Categorical(logits=actor(state)).sample()
        obs, reward, terminated, truncated, _ = env.step(int(action))
        rows.append((state, action, reward))
        done, step = terminated or truncated, step + 1
    states, actions = torch.stack([r[0] for r in rows]), torch.stack([r[1] for r in rows])
    returns, tail = [], 0.0
    for *_, reward in reversed(rows):
        returns.insert(0, tail := reward + args["gamma"] * tail)
    target, value = torch.tensor(returns), critic(states).squeeze(-1)
    policy, advantage = torch.distributions.Categorical(logits=actor(states)), target - value.detach()
    value_loss, entropy = (target - value).pow(2).mean(), policy.entropy().mean()
    policy_loss = -(policy.log_prob(actions) * (advantage - advantage.mean()) / (advantage.std() + 1e-8)).mean()
    optimiser.zero_grad()
    (policy_loss + args["vf_coef"] * value_loss).backward()
    optimiser.step()
    row = {"policy_loss": policy_loss.item(), "value_loss": value_loss.item(), "entropy": entropy.item()}
    if monitor.log({**row, "episodic_return": len(rows)}, step=step, clock="env_steps").stop_training:  # 2
        break
monitor.close()  # 3
print(f"{monitor.rows} updates, last return {len(rows)}, alarms: {[a.finding.name for a in monitor.alarms]}")

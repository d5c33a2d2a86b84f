"""The reference trainer of DQN with a monitor: `log_to` is its `log`, and its verdict can end the loop."""

import sys

import gymnasium as gym
import torch

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.trainers.dqn import DQN, DQNConfig

torch.set_num_threads(1)  # small networks: more threads only wait for each other
folder = sys.argv[1] if len(sys.argv) > 1 else "runs/reference_dqn"
trainer = DQN(
    lambda: gym.make("CartPole-v1"),
    seed=0,
    config=DQNConfig(learning_starts=100, hidden_sizes=(64,)),
)
with Monitor(folder, act={"numerics": "stop_training", "critic": "stop_training"}) as monitor:
    trainer.learn(1500, log=log_to(monitor, trainer))

print(f"{monitor.rows} rows judged, {trainer.env_steps} environment steps")
print({name: round(value, 4) for name, value in monitor.latest.items() if name in ("critic/q_mean", "optim/grad_norm")})
for alarm in monitor.alarms:
    print(
        f"step {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message} -> {alarm.action}"
    )

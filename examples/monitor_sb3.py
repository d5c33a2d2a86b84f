"""Stable-Baselines3: one callback. The learning rate is far too large here, so that there is something to see."""

import sys

from stable_baselines3 import PPO

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.sb3 import MonitorCallback

folder = sys.argv[1] if len(sys.argv) > 1 else "runs/monitor_sb3"
model = PPO("MlpPolicy", "CartPole-v1", n_steps=256, learning_rate=0.05, seed=0, device="cpu")
with Monitor(folder, act={"policy_update": "stop_update", "numerics": "stop_training"}) as monitor:
    model.learn(2048, callback=MonitorCallback(monitor))

print(f"{monitor.rows} rows judged, {model.num_timesteps} environment steps")
for alarm in monitor.alarms:
    print(
        f"step {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message} -> {alarm.action}"
    )

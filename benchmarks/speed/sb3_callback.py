"""What a whole training costs more with the callback of Stable-Baselines3, and with a `World` around its environments.

PPO on four copies of CartPole: 220 us a step all told, so that what a monitor adds is as large a share as it ever is.
The three trainings take turns; of each the fastest of three counts, in seconds of the processor.

    python benchmarks/speed/sb3_callback.py
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from firstbreak import Monitor
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.world import World, watched

STEPS, COPIES, TIMES = 16_384, 4, 3


def train(folder: Path, *, monitored: bool, world: bool) -> float:
    """Seconds of the processor for one training."""
    monitor = Monitor(folder, algorithm="PPO") if monitored else None
    around = World(monitor) if world else None

    def made() -> gym.Env:
        env = gym.make("CartPole-v1")
        return env if around is None else watched(env, around)

    agent = PPO("MlpPolicy", DummyVecEnv([made] * COPIES), n_steps=512, seed=1, device="cpu")
    began = time.process_time()
    agent.learn(STEPS, callback=None if monitor is None else MonitorCallback(monitor))
    spent = time.process_time() - began
    if monitor is not None:
        monitor.close()
    return spent


def main() -> None:
    """Print the three figures."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    kinds = {"bare": (False, False), "callback": (True, False), "callback and world": (True, True)}
    spent: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(TIMES + 1):  # the first round pays for imports
        for name, (monitored, world) in kinds.items():
            with tempfile.TemporaryDirectory() as folder:
                spent[name].append(train(Path(folder) / "run", monitored=monitored, world=world))
    bare = min(spent["bare"][1:])
    for name, seconds in spent.items():
        print(f"{name:20} {min(seconds[1:]):6.2f} s   {min(seconds[1:]) / bare - 1:+.1%}")


if __name__ == "__main__":
    main()

"""What a whole training costs more with the callback of Stable-Baselines3, and with a `World` around its environments.

PPO on four copies of an environment: of CartPole, where a step takes 230 us all told, so that what a monitor adds is as
large a share as it ever is, and of a walker, whose physics have to be worked out. In every round the trainings take
turns, and each is compared with the bare one of its own round, as a machine is faster at one time than at another. Of
the rounds the median counts, in seconds of the processor; the first pays for imports and does not.

    python benchmarks/speed/sb3_callback.py [rounds] [environment ...]
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from firstbreak import Monitor
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.world import World, watched

STEPS, COPIES, ROUNDS = 16_384, 4, 5
ENVIRONMENTS = ("CartPole-v1", "Walker2d-v5")
KINDS = {"bare": (False, False), "callback": (True, False), "callback and world": (True, True)}
"""Name -> with the callback, with a world."""


def train(name: str, folder: Path, *, monitored: bool, world: bool, steps: int = STEPS) -> float:
    """Seconds of the processor for one training."""
    monitor = Monitor(folder, algorithm="PPO") if monitored else None
    around = World(monitor) if world else None

    def made() -> gym.Env:
        env = gym.make(name)
        return env if around is None else watched(env, around)

    agent = PPO("MlpPolicy", DummyVecEnv([made] * COPIES), n_steps=512, seed=1, device="cpu")
    began = time.process_time()
    agent.learn(steps, callback=None if monitor is None else MonitorCallback(monitor))
    spent = time.process_time() - began
    if monitor is not None:
        monitor.close()
    return spent


def measure(name: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of every kind of training, round by round."""
    spent: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for turn in range(rounds + 1):
        for kind, (monitored, world) in KINDS.items():
            with tempfile.TemporaryDirectory() as folder:
                steps = STEPS if turn else COPIES * 512
                seconds = train(name, Path(folder) / "run", monitored=monitored, world=world, steps=steps)
            if turn:
                spent[kind].append(seconds)
    return spent


def main(rounds: int = ROUNDS, names: tuple[str, ...] = ENVIRONMENTS) -> None:
    """Print what each kind of training costs, and the median and the range of what it costs more."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    for name in names:
        spent = measure(name, rounds)
        print(name, flush=True)
        for kind, seconds in spent.items():
            more = [one / bare - 1 for one, bare in zip(seconds, spent["bare"], strict=True)]
            between = f"{min(more):+.1%} to {max(more):+.1%}"
            print(f"  {kind:20} {median(seconds):6.2f} s   {median(more):+.1%}   ({between})", flush=True)


if __name__ == "__main__":
    main(int((sys.argv[1:2] or [str(ROUNDS)])[0]), tuple(sys.argv[2:]) or ENVIRONMENTS)

"""Trains one seed of a release: PPO on CartPole, its best checkpoint evaluated again where no choice was made.

firstbreak record --run runs/0 -- python release_run.py --seed 0 --output-dir runs/0     (and 1, 2, 3, 4)

The other commands, up to the verdict, are in docs/tutorials/release.md. Needs stable-baselines3.
"""

import argparse
import csv
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor

from firstbreak.context import record
from firstbreak.evaluation.protocol.protocol import read

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, required=True)
p.add_argument("--output-dir", type=Path, required=True)
p.add_argument("--steps", type=int, default=10240)
p.add_argument("--episodes", type=int, default=20)
args = p.parse_args()
out, n, fixed = args.output_dir, args.episodes, args.output_dir.parent / "protocol.toml"
record(out, config=vars(args) | {"env_id": "CartPole-v1"}, seed=args.seed)
torch.set_num_threads(1)
model = PPO("MlpPolicy", "CartPole-v1", seed=args.seed, n_steps=256, learning_rate=1e-3)
model.set_logger(configure(str(out), ["csv"]))


class Timed(CheckpointCallback):
    """Logs the seconds of a rollout with its updates, too: SB3's fps is an average since the start."""

    def _on_rollout_start(self):
        self.logger.record("time/step", time.monotonic() - getattr(self, "last", time.monotonic()))
        self.last = time.monotonic()


def play(agent, seed):
    """Return the steps of n greedy episodes, and their scores."""
    env, steps, scores = gym.make("CartPole-v1"), [], []
    for episode in range(n):
        obs, over, score = env.reset(seed=seed + episode)[0], False, 0.0
        while not over:
            action = int(agent.predict(obs, deterministic=True)[0])
            after, reward, terminated, truncated, _ = env.step(action)
            steps.append((obs, action, reward, terminated, truncated))
            obs, over, score = after, terminated or truncated, score + reward
        scores.append(score)
    return steps, scores


before = play(model, 20_000)[1]
evals = EvalCallback(Monitor(gym.make("CartPole-v1")), None, None, 5, 1024, str(out), str(out), verbose=0)
model.learn(args.steps, callback=[Timed(2048, str(out)), evals])
best = PPO.load(out / "best_model")
fresh, (steps, private) = play(best, 10_000)[1], play(best, 20_000)
rows = [("fresh", "best", fresh), ("private", "best", private), ("private", "baseline", before)]
table = [(split, which, args.seed, np.mean(scores), read(fixed).hash) for split, which, scores in rows]
for name, lines in (
    ("scores.csv", [("split", "checkpoint", "seed", "score", "protocol"), *table]),
    ("private.csv", [("run", "episode", "score"), *((args.seed, i, score) for i, score in enumerate(private))]),
):
    csv.writer((out / name).open("w", newline="")).writerows(lines)
names = ("observations", "actions", "rewards", "terminated", "truncated")
np.savez(out / "episodes.npz", **{k: np.array(v) for k, v in zip(names, zip(*steps, strict=True), strict=True)})

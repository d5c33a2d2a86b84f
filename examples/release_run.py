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
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback, EvalCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor

from firstbreak.context import record
from firstbreak.evaluation.protocol.protocol import read

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, required=True)
p.add_argument("--output-dir", required=True)
p.add_argument("--protocol", default="protocol.toml")
p.add_argument("--steps", type=int, default=10240)
p.add_argument("--episodes", type=int, default=20)
args = p.parse_args()
out, n = args.output_dir, args.episodes
fixed = read(Path(args.protocol)).hash if Path(args.protocol).exists() else "greedy"
record(out, config=vars(args) | {"env_id": "CartPole-v1"}, seed=args.seed)
torch.set_num_threads(1)


class Timed(BaseCallback):  # seconds of each rollout and update; SB3's own fps is an average since the start
    def _on_step(self): return True
    def _on_rollout_start(self):
        now, last = time.monotonic(), getattr(self, "last", None)
        self.last = now
        if last is not None: self.logger.record("time/step", now - last)


def play(agent, seed, episodes):  # greedy; returns the steps of all episodes, and their scores
    env, steps, scores = gym.make("CartPole-v1"), [], []
    for episode in range(episodes):
        obs, over, score = env.reset(seed=seed + episode)[0], False, 0.0
        while not over:
            action = int(agent.predict(obs, deterministic=True)[0])
            after, reward, terminated, truncated, _ = env.step(action)
            steps.append((obs, action, reward, terminated, truncated))
            obs, over, score = after, terminated or truncated, score + reward
        scores.append(score)
    return steps, scores


def save(name, *rows):
    with open(f"{out}/{name}", "w", newline="") as file:
        csv.writer(file).writerows(rows)


model = PPO("MlpPolicy", "CartPole-v1", seed=args.seed, n_steps=256, learning_rate=1e-3)
model.set_logger(configure(out, ["csv"]))
before = play(model, 20_000, n)[1]
evals = EvalCallback(Monitor(gym.make("CartPole-v1")), None, None, 5, 1024, out, out, verbose=0)
model.learn(args.steps, callback=[Timed(), evals, CheckpointCallback(2048, out)])
best = PPO.load(f"{out}/best_model")
fresh, (steps, private) = play(best, 10_000, n)[1], play(best, 20_000, n)
rows = [("fresh", "best", fresh), ("private", "best", private), ("private", "baseline", before)]
head = ("split", "checkpoint", "seed", "score", "protocol")
save("scores.csv", head, *((split, which, args.seed, np.mean(s), fixed) for split, which, s in rows))
save("private.csv", ("run", "episode", "score"), *((args.seed, i, s) for i, s in enumerate(private)))
names = ("observations", "actions", "rewards", "terminated", "truncated")
np.savez(f"{out}/episodes.npz", **{k: np.array(v) for k, v in zip(names, zip(*steps))})

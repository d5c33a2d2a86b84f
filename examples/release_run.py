"""Trains one seed of a release: PPO on CartPole, evaluated on the way, its best checkpoint scored once more.

firstbreak record --run runs/0 -- python release_run.py --seed 0 --output-dir runs/0     (and 1, 2, 3, 4)
firstbreak release runs/* --out release
"""

import argparse
import csv

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor

from firstbreak.context import record

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, required=True)
p.add_argument("--output-dir", required=True)
p.add_argument("--steps", type=int, default=8192)
p.add_argument("--eval-episodes", type=int, default=5)
args = p.parse_args()
out, n = args.output_dir, args.eval_episodes
record(out, config=vars(args) | {"env_id": "CartPole-v1"}, seed=args.seed)
torch.set_num_threads(1)
model = PPO("MlpPolicy", "CartPole-v1", seed=args.seed, n_steps=512)
model.set_logger(configure(out, ["csv"]))
spare = Monitor(gym.make("CartPole-v1"))
rows = [("private", "baseline", args.seed, evaluate_policy(model, spare, 4 * n)[0], "greedy")]
evals = EvalCallback(spare, None, None, n, 1024, out, out, verbose=0)
model.learn(args.steps, callback=[evals, CheckpointCallback(2048, out)])
best = PPO.load(f"{out}/best_model")
for split, start in (("fresh", 10_000), ("private", 20_000)):  # states that no choice was made on
    spare.reset(seed=start + args.seed)
    rows.append((split, "best", args.seed, evaluate_policy(best, spare, 4 * n)[0], "greedy"))
with open(f"{out}/scores.csv", "w", newline="") as file:
    csv.writer(file).writerows([("split", "checkpoint", "seed", "score", "protocol"), *rows])

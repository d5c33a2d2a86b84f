"""Returns that a reference trainer reaches, one JSON row a run.

    python benchmarks/trainers/learning.py ppo LunarLander-v3 --seeds 0 1 2 --steps 1000000 --out learning.jsonl

The last row summarises all seeds by the interquartile mean with a bootstrap interval (Agarwal et al. 2021,
arXiv 2108.13264). A setting of the algorithm's config may be given as `--set name=value`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from firstbreak.stats.intervals import iqm
from firstbreak.trainers import log_jsonl

CLASSES = {"ppo": "PPO", "dqn": "DQN", "sac": "SAC", "mmrkhs": "MMRKHS"}
FIRST_EVALUATION_SEED = 10_000
RESAMPLES = 2_000


def mean_return(make_env: Callable[[], Any], agent: Any, episodes: int) -> float:
    """Mean return of the deterministic policy on starts that training has not seen."""
    world, returns = make_env(), []
    for episode in range(episodes):
        obs, _ = world.reset(seed=FIRST_EVALUATION_SEED + episode)
        total, over = 0.0, False
        while not over:
            obs, reward, terminated, truncated, _ = world.step(agent.act(obs, deterministic=True))
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    world.close()
    return statistics.fmean(returns)


def run(options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Train with one seed and evaluate."""
    module = importlib.import_module(f"firstbreak.trainers.{options.algorithm}")
    settings = {name: ast.literal_eval(value) for name, value in (pair.split("=", 1) for pair in options.set)}
    config = getattr(module, f"{CLASSES[options.algorithm]}Config")(**settings)
    curve: list[tuple[int, float]] = []
    path = options.logs and Path(options.logs) / f"{options.algorithm}_{options.env}_{seed}" / "metrics.jsonl"
    write = log_jsonl(path, algorithm=options.algorithm.upper(), config=config) if path else None

    def log(metrics: dict[str, float], step: int) -> None:
        if "reward/episode_return_mean" in metrics:
            curve.append((step, metrics["reward/episode_return_mean"]))
        if write is not None:
            write(metrics, step)

    def make_env() -> Any:
        return gym.make(options.env)

    wall, cpu = time.perf_counter(), time.process_time()
    agent = module.train(make_env, total_steps=options.steps, seed=seed, gamma=config.gamma, config=config, log=log)
    took = {"wall_s": round(time.perf_counter() - wall, 1), "cpu_s": round(time.process_time() - cpu, 1)}
    last = [value for step, value in curve if step > 0.9 * options.steps]
    return {
        "algorithm": options.algorithm,
        "env": options.env,
        "seed": seed,
        "steps": options.steps,
        "settings": settings,
        "eval_return_mean": mean_return(make_env, agent, options.episodes),
        "eval_episodes": options.episodes,
        "train_return_last_tenth": statistics.fmean(last) if last else None,
        **took,
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Interquartile mean over the seeds, with its 95 % interval."""
    found, random = np.array([row["eval_return_mean"] for row in rows]), np.random.default_rng(0)
    means = [iqm(random.choice(found, len(found))) for _ in range(RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    named = {"algorithm": rows[0]["algorithm"], "env": rows[0]["env"], "seeds": len(rows)}
    return {**named, "iqm": iqm(found), "iqm_low": low, "iqm_high": high}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm", choices=CLASSES)
    parser.add_argument("env", help="a Gymnasium id")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--episodes", type=int, default=20, help="evaluation episodes a run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", help="append the rows to this file as well")
    parser.add_argument("--logs", help="folder for the metrics of each run")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for seed in options.seeds:
        rows.append(run(options, seed))
        emit(rows[-1], options.out)
    if len(rows) > 1:
        emit(summary(rows), options.out)


def emit(row: dict[str, Any], out: str | None) -> None:
    """Print one row, and append it to the file where one is wanted."""
    print(json.dumps(row), flush=True)
    if out:
        with Path(out).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()

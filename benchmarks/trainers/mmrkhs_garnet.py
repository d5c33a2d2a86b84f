"""MM-RKHS on GARNETs and CartPole, several seeds: the share of the gap from uniform to optimal play that is closed.

python benchmarks/trainers/mmrkhs_garnet.py                    # exact advantages, both forms, 10 GARNETs; < 60 s
python benchmarks/trainers/mmrkhs_garnet.py --sampled          # and the neural trainer on small GARNETs; minutes
python benchmarks/trainers/mmrkhs_garnet.py --cartpole         # and on CartPole, 40,000 steps a seed; minutes
python benchmarks/trainers/mmrkhs_garnet.py --states 1000 --actions 100 --branching 20   # the paper's size; slow

One JSON row a configuration: IQM over the seeds with a 95 % bootstrap interval. Each seed is another GARNET.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from firstbreak.stats.intervals import iqm
from firstbreak.trainers.mmrkhs import MMRKHSConfig, train
from firstbreak.trainers.tabular import FiniteMDP, TabularConfig, evaluate, garnet, optimal_value, solve

EXACT = {
    "later form, 2 inner steps": TabularConfig(),
    "later form, 3 inner steps": TabularConfig(inner_steps=3),
    "later form, 1 inner step (as published; beta inert)": TabularConfig(inner_steps=1),
    "later form, 2 inner steps, eta not capped": TabularConfig(stiffness_limit=None),
    "draft form (6.3)": TabularConfig(form="draft", eta_initial=0.15),
}
RESAMPLES = 2_000


def interval(values: list[float]) -> list[float]:
    """IQM and its 95 % percentile bootstrap interval over seeds (Agarwal et al. 2021, arXiv 2108.13264)."""
    sample, random = np.array(values), np.random.default_rng(0)
    means = [iqm(random.choice(sample, len(sample))) for _ in range(RESAMPLES)]
    return [round(x, 5) for x in (iqm(sample), *np.quantile(means, [0.025, 0.975]).tolist())]


def exact_rows(seeds: int, sweeps: int, size: tuple[int, int, int]) -> Iterator[dict[str, Any]]:
    """The tabular algorithm with exact advantages."""
    worlds = [garnet(*size, seed=seed) for seed in range(seeds)]
    best = [optimal_value(world) for world in worlds]
    for name, config in EXACT.items():
        started = time.perf_counter()
        closed, rising, until = [], [], []
        for world, top in zip(worlds, best, strict=True):
            values = np.array([sweep.value for sweep in solve(world, iterations=sweeps, config=config)])
            share = (values - values[0]).mean(-1) / (top - values[0]).mean()
            closed.append(float(share[-1]))
            rising.append(float((np.diff(values.mean(-1)) >= -1e-12).mean()))
            reached = np.flatnonzero(share >= 0.99)
            until.append(float(reached[0]) if len(reached) else float("inf"))
        yield {
            "task": "garnet, exact",
            "size": size,
            "configuration": name,
            "seeds": seeds,
            "sweeps": sweeps,
            "gap_closed_frac": interval(closed),
            "rising_sweeps_frac": interval(rising),
            "sweeps_to_99_percent_median": float(np.median(until)),
            "seconds": round(time.perf_counter() - started, 1),
        }


class GarnetWorld(gym.Env[Any, Any]):
    """A GARNET to be played: one-hot states, random starts, a time limit that does not end the task."""

    def __init__(self, mdp: FiniteMDP, *, limit_steps: int = 50) -> None:
        states, actions = mdp.reward.shape
        self.mdp, self.limit_steps = mdp, limit_steps
        self.observation_space = gym.spaces.Discrete(states)
        self.action_space = gym.spaces.Discrete(actions)
        self.state = self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.state, self.steps = int(self.np_random.integers(self.mdp.reward.shape[0])), 0
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        reward = float(self.mdp.reward[self.state, action])
        odds = self.mdp.probability[self.state, action]
        self.state = int(self.np_random.choice(self.mdp.successor[self.state, action], p=odds / odds.sum()))
        self.steps += 1
        return self.state, reward, False, self.steps >= self.limit_steps, {}


def sampled_rows(seeds: int, total_steps: int) -> Iterator[dict[str, Any]]:
    """The neural trainer on GARNETs of 20 states and 5 actions; its policy is then evaluated exactly."""
    for form in ("fixed_point", "draft"):
        started = time.perf_counter()
        closed = []
        for seed in range(seeds):
            mdp = garnet(20, 5, 4, gamma=0.95, seed=seed)
            config = MMRKHSConfig(form=form, actor_lr=3e-3)
            agent = train(partial(GarnetWorld, mdp), total_steps=total_steps, seed=seed, gamma=0.95, config=config)
            with torch.no_grad():
                policy = agent.actor.distribution(torch.eye(20)).probs.double().numpy()
            first, top = evaluate(mdp, np.full((20, 5), 0.2))[0], optimal_value(mdp)
            closed.append(float((evaluate(mdp, policy)[0] - first).mean() / (top - first).mean()))
        yield {
            "task": "garnet, sampled",
            "configuration": form,
            "seeds": seeds,
            "env_steps": total_steps,
            "gap_closed_frac": interval(closed),
            "seconds": round(time.perf_counter() - started, 1),
        }


def mean_return(act: Callable[..., Any], *, episodes: int = 20) -> float:
    """Mean CartPole return of the deterministic policy."""
    world, total = gym.make("CartPole-v1"), 0.0
    for episode in range(episodes):
        obs, _ = world.reset(seed=10_000 + episode)
        over = False
        while not over:
            obs, reward, terminated, truncated, _ = world.step(act(obs, deterministic=True))
            total, over = total + float(reward), terminated or truncated
    return total / episodes


def cartpole_rows(seeds: int, total_steps: int) -> Iterator[dict[str, Any]]:
    """The neural trainer with its default settings on CartPole-v1."""
    for form in ("fixed_point", "draft"):
        started = time.perf_counter()
        returns = []
        for seed in range(seeds):
            config = MMRKHSConfig(form=form)
            agent = train(lambda: gym.make("CartPole-v1"), total_steps=total_steps, seed=seed, config=config)
            returns.append(mean_return(agent.act))
        yield {
            "task": "CartPole-v1",
            "configuration": form,
            "seeds": seeds,
            "env_steps": total_steps,
            "mean_return": interval(returns),
            "each_seed": returns,
            "seconds": round(time.perf_counter() - started, 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--actions", type=int, default=20)
    parser.add_argument("--branching", type=int, default=10)
    parser.add_argument("--sampled", action="store_true")
    parser.add_argument("--cartpole", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    size = (arguments.states, arguments.actions, arguments.branching)
    for row in exact_rows(arguments.seeds, arguments.sweeps, size):
        print(json.dumps(row), flush=True)
    if arguments.sampled:
        for row in sampled_rows(min(arguments.seeds, 5), 30_000):
            print(json.dumps(row), flush=True)
    if arguments.cartpole:
        for row in cartpole_rows(min(arguments.seeds, 3), 40_000):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

"""Write `tests/data/minari/goal` with Minari itself (0.5.4; `pip install "minari[all,create]"`).

`python tools/record_logs/minari_goal.py FOLDER`: four episodes of Gymnasium's Pendulum with a dictionary of
observations, 8 steps each; then copy `FOLDER/goal-v0/data`. It prints the first and the last reward of each episode.
"""

import os
import sys
from typing import Any

import gymnasium as gym
import numpy as np


class Goal(gym.ObservationWrapper):
    """The observation beside a goal, as tasks for robots have it."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        goal = gym.spaces.Box(-1, 1, (2,), np.float32)
        self.observation_space = gym.spaces.Dict({"observation": env.observation_space, "desired_goal": goal})

    def observation(self, observation: Any) -> dict[str, Any]:
        """Return the observation and a goal that stays."""
        return {"observation": observation, "desired_goal": np.array([1.0, 0.0], np.float32)}


def main() -> None:
    """Record the four episodes."""
    os.environ["MINARI_DATASETS_PATH"] = sys.argv[1]
    import minari  # pyright: ignore[reportMissingImports]

    env = minari.DataCollector(Goal(gym.make("Pendulum-v1", max_episode_steps=8)))
    rng = np.random.default_rng(0)
    for seed in range(4):
        env.reset(seed=seed)
        over, rewards = False, []
        while not over:
            _, reward, terminated, truncated, _ = env.step(rng.uniform(-2, 2, 1).astype(np.float32))
            over = terminated or truncated
            rewards.append(round(float(reward), 4))
        print(seed, rewards[0], rewards[-1])
    env.create_dataset("goal-v0", algorithm_name="random", author="firstbreak", description="four short episodes")


if __name__ == "__main__":
    main()

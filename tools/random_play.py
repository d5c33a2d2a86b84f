"""Measure what random play earns in the standard tasks, and write it for the vocabulary.

`python tools/random_play.py` plays 1,000 episodes of each task in `standard_tasks.toml` that is installed, with actions
drawn evenly from the action space, and rewrites `random_play.toml`. Needs gymnasium with classic control, toy text,
Box2D and MuJoCo. Tasks that are not installed keep what stood there.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

VOCABULARY = Path(__file__).parents[1] / "src" / "firstbreak" / "vocabulary"
EPISODES = 1_000
HEAD = f"""# What random play earns in the standard tasks: mean, standard deviation, 10 % and 99 % quantile of the
# return of one episode, over {EPISODES} episodes. Made by `python tools/random_play.py`; not edited by hand.
"""


def returns(env_id: str, episodes: int = EPISODES, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the returns [episodes] of random play."""
    env = gymnasium.make(env_id)
    env.action_space.seed(seed)
    found = np.zeros(episodes)
    for index in range(episodes):
        env.reset(seed=seed + index)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            found[index] += float(reward)
            over = terminated or truncated
    env.close()
    return found


def main() -> None:
    """Play, and write."""
    tasks = tomllib.loads((VOCABULARY / "standard_tasks.toml").read_text("utf-8"))
    place = VOCABULARY / "random_play.toml"
    known = tomllib.loads(place.read_text("utf-8")) if place.exists() else {}
    lines = [HEAD]
    for env_id in tasks:
        if env_id in gymnasium.registry:
            earned = returns(env_id)
            low, top = np.quantile(earned, [0.1, 0.99])
            known[env_id] = {"mean": earned.mean(), "sd": earned.std(ddof=1), "low": low, "top": top}
        if env_id in known:
            row = ", ".join(f"{name} = {float(value):.6g}" for name, value in known[env_id].items())
            lines.append(f'"{env_id}" = {{ {row} }}')
            print(lines[-1], flush=True)
    place.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()

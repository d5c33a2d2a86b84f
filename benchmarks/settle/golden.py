"""Golden sets of recorded runs: short pieces of play with what the last step of each was paid when the run began.

`write` plays them in the world as it was then; the scorer, by the name of a place, plays the same actions from the same
start in the world as it is now.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults import planting
from benchmarks.settle.places import Place
from benchmarks.settle.worlds import Copy, factory

PIECES, LONGEST = 60, 12
"""Pieces of play, and the most steps of one. Engineering default: what is paid at all is paid within a few steps."""


def write(place: Place, path: Path) -> None:
    """Write the golden set of a run: scored when it began, which is before what was switched on midway."""
    planting.load(planting.FAMILY[place.subject])
    copy = Copy(place if not place.switch else Place(place.subject, place.task, "clean", None))
    copy.training = True
    chance = np.random.default_rng(0)
    copy.action_space.seed(0)
    rows: list[dict[str, Any]] = []
    for seed in range(PIECES):
        actions = [np.asarray(copy.action_space.sample()).tolist() for _ in range(int(chance.integers(1, LONGEST + 1)))]
        response = json.dumps(actions)
        rows.append({"prompt": str(seed), "response": response, "reward": paid(copy, str(seed), response)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def paid(copy: Copy, prompt: str, response: str) -> float:
    """Play actions from a start; return what the last step was paid, or the last before the episode was over."""
    copy.reset(seed=int(prompt))
    discrete, reward, over = hasattr(copy.action_space, "n"), 0.0, False
    for action in json.loads(response):
        if not over:
            taken = int(action) if discrete else np.asarray(action, np.float32)
            _, reward, terminated, truncated, _ = copy.step(taken)
            over = terminated or truncated
    return float(reward)


def __getattr__(name: str) -> Callable[[str, str], float]:
    make = factory(name)
    copy = make()
    copy.training = True

    def score(prompt: str, response: str) -> float:
        return paid(copy, prompt, response)

    return score

"""What can be given with `--with NAME=VALUE` beside what an experiment needs; other names are typing errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import unknown_name
from .experiment import all_experiments

OPTIONS = {
    "after_steps": "steps of training before the trainer is taken apart",
    "agent": "module:name of a trained agent, in place of a training",
    "before": "the weights before, where a model is compared with itself",
    "count": "rows or prompts that are taken",
    "episodes": "episodes of one evaluation",
    "expect": "the score of a healthy run",
    "format": "the low precision: bfloat16, float16",
    "how": "how it is reached: autocast or cast",
    "length": "the metric that holds the length of responses",
    "limit": "the most that a difference may be",
    "mode": "deterministic: actions of an evaluation are not sampled",
    "moves": "up or down: which way the reading is to go",
    "penalty": "what a token costs",
    "pieces": "module:function that returns the trainer's parts",
    "reading": "the metric that is read",
    "reward": "the metric that holds the training reward",
    "score": "the metric that says how well it does",
    "short_steps": "environment steps of a short trial",
    "updates": "updates on a fixed rollout",
}
"""Name -> what it is."""
ENDINGS = ("_setting", "_argument")
"""Names of the user's own for a setting: `learning_rate_setting=my_lr`, `penalty_argument=length_cost`."""


def insist_on_known(given: Mapping[str, Any]) -> None:
    """Insist that some experiment reads each of the names that were given.

    Raises:
        UnknownNameError: none does; the hint offers the nearest.
    """
    known = {*OPTIONS, *(need.name for one in all_experiments() for need in one.needs)} - {"trainer", "env"}
    for name in given:
        if name not in known and not name.endswith(ENDINGS):
            raise unknown_name("--with option", name, known)

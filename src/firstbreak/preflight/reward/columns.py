"""What the columns of a reward table mean: the names that are understood, and what to do with the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ...errors import InputError, UnknownNameError, unknown_name

ROLES: dict[str, tuple[str, ...]] = {
    "reward": (
        "reward", "rewards", "rew", "score", "scores", "total", "total_reward", "return", "returns",
        "episode_reward", "episode_return", "ep_rew", "ep_return", "r",
    ),
    "episode": ("episode", "episode_id", "ep", "ep_id", "trajectory", "trajectory_id", "traj", "traj_id", "rollout_id"),
    "group": (
        "group", "group_id", "prompt", "prompt_id", "question", "question_id", "query", "query_id", "problem_id",
        "task_id", "uid",
    ),
    "reference": (
        "human", "human_score", "human_rating", "human_label", "reference", "reference_score", "gold", "gold_score",
        "label", "rating", "preference", "annotator_score", "judge_score", "target_score",
    ),
    "metric": (
        "success", "is_success", "success_rate", "task_metric", "metric", "solved", "correct", "correctness",
        "accuracy", "goal", "goal_reached", "quality", "eval", "eval_score", "distance", "distance_to_goal", "error",
    ),
    "length": (
        "length", "len", "tokens", "num_tokens", "n_tokens", "response_len", "response_length", "completion_length",
        "episode_length", "ep_len", "l",
    ),
    "update": (
        "update", "updates", "iteration", "iter", "global_step", "training_step", "train_step", "env_steps", "epoch",
    ),
    "step": ("step", "steps", "timestep", "t"),
    "terminated": ("terminated", "terminal"),
    "truncated": ("truncated", "timeout", "time_limit"),
}  # fmt: skip
"""Names understood for each role, the preferred first; compared in lower case with `-`, `.` and space read as `_`."""

SEVERAL = ("reference", "metric")
"""Roles that more than one column may have."""

PART = re.compile(
    r"^(components?|rewards?|rew|r)[_/.]+(?!std|mean|max|min|total|sum)\w+|\w[_/.](reward|bonus|penalty|cost|term)$"
)
"""Names of components: `component_x`, `reward_x`, `rewards/x`, `x_reward`, `x_bonus`, `x_penalty`, `x_cost`."""


def plain(name: str) -> str:
    """Return `name` as names are compared."""
    return re.sub(r"[-. ]+", "_", name.strip().lower())


def looks_like_part(name: str) -> bool:
    """Whether `name` is named like a component of a reward."""
    text = plain(name)
    return bool(PART.search(text)) and text not in ROLES["reward"]


def roles_of(
    names: Sequence[str], components: Iterable[str] = (), columns: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the role of each column that has one: `component`, or a key of `ROLES`.

    Args:
        names: the columns of the table.
        components: columns that the user calls components; they may not have another role.
        columns: role -> column, as the user says; beats the names.

    Raises:
        UnknownNameError: a named column or role does not exist.
        InputError: no column holds the reward and no components are named.
    """
    found: dict[str, str] = {}
    for name in components:
        found[_one_of(names, name)] = "component"
    for role, name in (columns or {}).items():
        if role not in ROLES:
            error = unknown_name("role of a column", role, ROLES)
            raise UnknownNameError(error.message, error.hint or f"The roles are {', '.join(ROLES)}.")
        found[_one_of(names, name)] = role
    taken = set(found.values()) - set(SEVERAL) - {"component"}
    by_name = {plain(n): n for n in names}
    for role, known in ROLES.items():
        for alias in known:
            column = by_name.get(alias)
            if column is None or column in found or role in taken:
                continue
            found[column] = role
            if role not in SEVERAL:
                taken.add(role)
    for name in names:
        if name not in found and looks_like_part(name):
            found[name] = "component"
    if "reward" not in found.values() and not any(True for _ in components):
        raise InputError(
            f"No column holds the reward; the columns are {', '.join(names)[:200]}.",
            f"Name one of them: {', '.join(ROLES['reward'][:6])}; or name the parts whose sum it is as components.",
        )
    return found


def _one_of(names: Sequence[str], name: str) -> str:
    if name in names:
        return name
    near = {plain(n): n for n in names}
    if plain(name) in near:
        return near[plain(name)]
    error = unknown_name("column", name, names)
    raise UnknownNameError(error.message, error.hint or f"The columns are {', '.join(names)[:200]}.")

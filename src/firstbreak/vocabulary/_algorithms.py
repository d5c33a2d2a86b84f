"""The algorithms and their traits: what makes a rule apply or not."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

TRAITS: dict[str, str] = {
    "on_policy": "learns from data of the current policy",
    "off_policy": "learns from replayed data",
    "replay": "keeps a replay buffer",
    "policy_gradient": "updates an explicit policy by its gradient",
    "ppo_clip": "clips the importance ratio",
    "value_function": "fits a state-value function V",
    "q_function": "fits an action-value function Q",
    "twin_q": "fits two Q functions and takes the smaller",
    "max_entropy": "tunes an entropy temperature",
    "epsilon_greedy": "explores by random actions with probability epsilon",
    "language": "trains a language model on sequences",
    "groups": "takes advantages relative to a group of responses to one prompt",
    "reference": "may penalise KL to a frozen reference model",
    "mmd": "regularises with a maximum mean discrepancy (MM-RKHS)",
    "samplers_apart": "may sample with other processes or engines than it trains with",
    "control": "acts in an environment with episodes",
}


METRIC_TRAITS: tuple[tuple[str, str], ...] = (
    ("seq/", "language"),
    ("group/", "groups"),
    ("collapse/", "language"),
    ("async/", "samplers_apart"),
    ("tool/", "language"),
    ("time/generate", "language"),
    ("env/error_fraction", "samplers_apart"),
    ("policy/kl_ref", "reference"),
    ("policy/mmd", "mmd"),
    ("policy/kl_inv_eta", "mmd"),
    ("policy/exponent_clip", "mmd"),
    ("sac/", "max_entropy"),
    ("dqn/", "epsilon_greedy"),
    ("replay/", "replay"),
    ("critic/twin", "twin_q"),
    ("critic/q2", "twin_q"),
    ("critic/q_", "q_function"),
    ("critic/target", "q_function"),
    ("critic/explained_variance", "value_function"),
    ("critic/value", "value_function"),
    ("return/", "value_function"),
    ("policy/clip", "ppo_clip"),
    ("policy/ratio", "policy_gradient"),
    ("advantage/", "policy_gradient"),
    ("policy/entropy", "policy_gradient"),
    ("reward/raw_episode", "control"),
    ("episode/", "control"),
    ("reward/eval_pass_at_k", "language"),
    ("reward/component_std", "language"),
)
"""Metrics (by the beginning of their name) that only algorithms with a trait can log."""


def can_log(algorithm: str, metric: str) -> bool:
    """Whether a run of `algorithm` could log `metric` at all; an unknown algorithm could."""
    traits = traits_of(algorithm)
    needed = [trait for start, trait in METRIC_TRAITS if metric.startswith(start)]
    return not traits or all(trait in traits for trait in needed)


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: canonical name, other spellings, traits, and the metrics that a healthy verdict must have seen.

    `profile` is a tuple of groups; of each group at least one metric must have been looked at.
    """

    name: str
    aliases: tuple[str, ...]
    traits: frozenset[str]
    profile: tuple[tuple[str, ...], ...]


@cache
def algorithms() -> dict[str, Algorithm]:
    """Return every algorithm by canonical name."""
    table = tomllib.loads(files("firstbreak.vocabulary").joinpath("algorithms.toml").read_text("utf-8"))
    found: dict[str, Algorithm] = {}
    for name, entry in table.items():
        unknown = set(entry["traits"]) - TRAITS.keys()
        if unknown:
            raise ValueError(f"algorithms.toml: {name} has unknown traits {sorted(unknown)}")
        found[name] = Algorithm(
            name=name,
            aliases=tuple(entry.get("aliases", ())),
            traits=frozenset(entry["traits"]),
            profile=tuple(tuple(group) for group in entry["profile"]),
        )
    return found


def _spelling(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def algorithm_named(name: str) -> str:
    """Return the canonical name for any spelling (`ppo`, `PPO2`, `MaskablePPO`), or `""`."""
    wanted = _spelling(name)
    for algorithm in algorithms().values():
        if wanted in {_spelling(n) for n in (algorithm.name, *algorithm.aliases)}:
            return algorithm.name
    return ""


def traits_of(name: str) -> frozenset[str]:
    """Return the traits of a canonical algorithm, empty when it is unknown."""
    algorithm = algorithms().get(name)
    return algorithm.traits if algorithm else frozenset()

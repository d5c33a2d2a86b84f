"""Recognises which framework wrote a log and which algorithm it trained, from keys and configuration."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ._algorithms import algorithm_named, traits_of
from ._config import canonical_config
from ._mapping import aliases, exact
from ._metrics import metrics
from ._names import framework, framework_names, index, matcher

LEAST = 1.5
"""Least score of a framework: one key and a half that nobody else uses. Engineering default."""
BARE, BARE_IN_ALL = 0.25, 1.0
"""What one plain word counts, and all of them together: less than `LEAST`. Engineering default."""
PLAIN_SCOPES = frozenset({"", "train", "eval", "test", "loss", "losses"})
"""Scopes that hand-written loops use as well; a key there is told by its word alone."""
CANONICAL = 4
"""Canonical names, used by no framework, from which a log is taken to follow this vocabulary. Fewer may be chance: a
hand-written loop may well log `policy/loss`. Engineering default."""
CLEARLY = 1.3
"""How many times the runner-up's score the best must reach. Engineering default."""
NESTED = ("algorithm.class_name", "agent.class")
HINTS = ("algo", "algorithm", "alg", "algo_name", "algorithm_name", "agent", "trainer", *NESTED)
"""Configuration keys that name the algorithm."""


ESTIMATORS = ("adv_estimator", "advantage_estimator", "estimator")
ESTIMATED = {
    "gae": "RLHF-PPO",
    "grpo": "GRPO",
    "dr_grpo": "GRPO",
    "group_norm": "GRPO",
    "rloo": "RLOO",
    "reinforce_plus_plus": "RLOO",
    "reinforce": "RLOO",
    "remax": "RLOO",
}
"""Language-model trainers name the algorithm by its advantage estimator."""
NEAREST = 3
"""Parts at the end of a path that name a run: file, folder, and the folder of its seeds. Engineering default."""
RUN_NAMES = ("run_name", "exp_name", "experiment_name", "name")


@dataclass(frozen=True)
class Recognition:
    """Who wrote the log: framework and algorithm (`""` when not recognised), what its step axis counts, rivals."""

    framework: str
    algorithm: str
    verified: bool
    clock: str
    score: float
    rivals: tuple[str, ...] = ()


@cache
def _owners() -> dict[str, dict[str, float]]:
    """For each exact key, which frameworks list it and how much it speaks for them.

    A key shared with n frameworks counts 1/n. A plain word (`alpha`, `train/policy_loss`) is what any loop may log: a
    quarter.
    """
    owners: dict[str, list[str]] = {}
    for name in _roots():
        for key in index(name)[0]:
            owners.setdefault(key, []).append(name)
    return {key: dict.fromkeys(names, (BARE if _plain(key) else 1.0) / len(names)) for key, names in owners.items()}


def _plain(key: str) -> bool:
    scope, _, rest = key.rpartition("/")
    return scope in PLAIN_SCOPES and " " not in rest


@cache
def _roots() -> tuple[str, ...]:
    return tuple(name for name in framework_names() if not framework(name).extends and not framework(name).canonical)


def scores(keys: Collection[str]) -> dict[str, float]:
    """Return how much `keys` speak for each framework that they speak for at all.

    Plain words together count at most `BARE_IN_ALL`. Each set of keys that only one framework logs (`signs`) counts
    `LEAST`. A framework that extends another is in question only when one of its own signs is there. Canonical names
    are in question only where the other keys speak for no framework.
    """
    known = [name for name in framework_names() if framework(name).canonical]
    own = {key for key in keys if any(exact(key, framework(name), "", ()) for name in known)}
    if len(own - _owners().keys()) >= CANONICAL:
        rest = _scores({key for key in keys if key not in own})
        if max(rest.values(), default=0.0) < LEAST:
            return {**rest, **dict.fromkeys(known, float(len(own)))}
    return _scores(keys)


def _scores(keys: Collection[str]) -> dict[str, float]:
    """Return how much `keys` speak for each framework but the canonical one."""
    owners = _owners()
    found: dict[str, float] = {}
    for name in _roots():
        plain = {spelling for key in keys for spelling in framework(name).spellings(key)}
        worth = [(key, owners[key][name]) for key in plain if name in owners.get(key, ())]
        bare = sum(weight for key, weight in worth if _plain(key))
        scoped = sum(weight for key, weight in worth if not _plain(key))
        found[name] = scoped + min(bare, BARE_IN_ALL) + LEAST * _signs(name, plain)
    for name in framework_names():
        parent = framework(name).extends
        if parent and (seen := _signs(name, set(keys))):
            found[name] = found[parent] + LEAST * CLEARLY * (1 + seen)
    return {name: score for name, score in found.items() if score > 0}


def _signs(name: str, keys: set[str]) -> int:
    """How many of the framework's signs are wholly among `keys`."""
    return sum(all(_among(part, keys) for part in sign) for sign in framework(name).signs)


def _among(part: str, keys: set[str]) -> bool:
    return any(map(matcher(part).search, keys)) if part.startswith("^") else part in keys


def recognise(
    keys: Collection[str], config: Mapping[str, Any] | None = None, framework_hint: str = "", place: str = ""
) -> Recognition:
    """Return which framework and algorithm `keys` and `config` speak of; `place` is the path of the log.

    A hint (from a file format that belongs to one framework) counts as certain when any of its keys is there.
    """
    settings = config or {}
    found = scores(keys)
    ranked = sorted(found, key=lambda n: (-found[n], n))
    best = ""
    if framework_hint and framework_hint in framework_names() and found.get(framework_hint, 0) > 0:
        best = framework_hint
    elif ranked and found[ranked[0]] >= LEAST:
        rivals = [n for n in ranked[1:] if n != framework(ranked[0]).extends]
        second = found[rivals[0]] if rivals else 0.0
        best = ranked[0] if found[ranked[0]] >= CLEARLY * second else ""
    algorithm = algorithm_of(keys, settings, best, place)
    known = framework(best) if best else None
    return Recognition(
        framework=best,
        algorithm=algorithm,
        verified=known.verified if known else True,
        clock=known.clock if known else "",
        score=round(found.get(best, 0.0), 2),
        rivals=tuple(n for n in ranked[:3] if n != best),
    )


def with_algorithm(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return `config` with `name` as the only algorithm that it names; unchanged where no such algorithm is known.

    For what a user said outright: settings hold what somebody wrote for other eyes.
    """
    known = algorithm_named(name)
    if not known:
        return dict(config)
    kept = {key: value for key, value in config.items() if key not in HINTS or not algorithm_named(str(value))}
    return {**kept, "algorithm": known}


def algorithm_of(keys: Collection[str], config: Mapping[str, Any], framework_name: str, place: str = "") -> str:
    """Return the canonical algorithm.

    The configuration counts first, then what keys and metrics show, then the run's name. Where the log has any metric
    of reinforcement learning at all, the folder that it lies in (`place`) follows, then what the framework trains.
    """
    metrics = present(keys, framework_name)
    language = _is_language(metrics) or speaks_of_language(keys, config)
    shown = told_by_keys(keys, framework_name) or from_metrics(metrics, set(keys), language=language)
    named = _named(config)
    if named:
        return named if named != "PPO" or not language else shown or "RLHF-PPO"
    default = framework(framework_name).default_algorithm if framework_name else ""
    if shown or not any(map(_telling, metrics)):
        return shown or _from_run_name(config, language)
    return _from_run_name(config, language) or spelt_by(place, language) or default


def told_by_keys(keys: Collection[str], framework_name: str) -> str:
    """Return the algorithm that alone logs such keys of the framework, or `""`."""
    if not framework_name or not framework(framework_name).tells:
        return ""
    known = framework(framework_name)
    plain = {spelling for key in keys for spelling in known.spellings(key)}
    fitting = (t.algorithm for t in known.tells if plain.issuperset(t.has) and plain.isdisjoint(t.lacks))
    return next(fitting, "")


def _named(config: Mapping[str, Any]) -> str:
    """Return the algorithm that a setting names outright, or `""`."""
    for key, value in sorted(config.items()):
        last = str(key).rsplit(".", 1)[-1]
        if last in ESTIMATORS and str(value).lower() in ESTIMATED:
            return ESTIMATED[str(value).lower()]
    return next((name for hint in HINTS if (name := algorithm_named(str(config.get(hint, ""))))), "")


def _from_run_name(config: Mapping[str, Any], language: bool) -> str:
    """Return the one algorithm that the words of the run's name spell, or `""`."""
    return spelt_by(" ".join(str(config.get(key, "")) for key in RUN_NAMES), language)


def spelt_by(text: str, language: bool) -> str:
    """Return the one algorithm that the words of `text` spell, or `""`; of a path the last `NEAREST` parts count."""
    words = re.split(r"[^A-Za-z0-9]+", " ".join(re.split(r"[/\\]", text)[-NEAREST:]))
    found = {name for word in words if word and (name := algorithm_named(word))}
    fitting = {name for name in found if ("language" in traits_of(name)) == language}
    return fitting.pop() if len(fitting) == 1 else ""


def _telling(metric: str) -> bool:
    return metric.startswith(("reward/", "group/", "policy/kl", "policy/clip", "critic/", "episode/"))


def present(keys: Collection[str], framework_name: str) -> set[str]:
    """Return the canonical metrics that `keys` may mean, whatever the algorithm."""
    found: set[str] = set()
    if framework_name:
        known = framework(framework_name)
        for key in keys:
            meaning = exact(key, known, "", keys)
            if meaning is not None:
                found.add(meaning.metric)
    found.discard("")
    own = {key for key in keys if key in metrics()}  # a canonical name means itself, whatever its words resemble
    return found | own | {m.metric for m in aliases([key for key in keys if key not in own]).values()}


_LANGUAGE_CONFIG = frozenset(
    {"group_size", "max_response_tokens", "max_prompt_tokens", "num_iterations", "kl_estimator", "steps_per_generation"}
)
"""Settings that only trainers of language models have."""
_LANGUAGE_KEYS = re.compile(r"^(?:train/)?rewards/|completion|response_len|^actor/pg_|vllm")


def speaks_of_language(keys: Collection[str], config: Mapping[str, Any]) -> bool:
    """Whether raw keys or settings are those of a language-model trainer."""
    settings = canonical_config(config)
    return bool(_LANGUAGE_CONFIG & settings.keys()) or any(_LANGUAGE_KEYS.search(key) for key in keys)


def _is_language(metrics: set[str]) -> bool:
    return any(m.startswith(("seq/", "group/", "policy/kl_ref", "async/logprob", "async/behave")) for m in metrics)


def from_metrics(metrics: set[str], keys: set[str], *, language: bool) -> str:
    """Return the algorithm that a set of canonical metrics (and telling raw keys) belongs to, or `""`."""
    if any(m.startswith("policy/mmd") for m in metrics):
        return "MM-RKHS"
    if language:
        return _language_algorithm(metrics, keys)
    if metrics & {"sac/alpha", "sac/alpha_loss"}:
        return "SAC"
    if "dqn/epsilon" in metrics:
        return "DQN"
    if any("kl_divergence_loss" in key for key in keys):
        return "TRPO"
    if metrics & {"policy/clip_fraction", "policy/clip_range"}:
        return "PPO"
    value = metrics & {"critic/loss", "critic/explained_variance"}
    if value and metrics & {"policy/kl_old", "policy/kl_k1"}:
        return "PPO"
    if "critic/q_mean" in metrics:
        return "TD3" if "policy/loss" in metrics else "DQN"
    if value and any(key.endswith("train/policy_loss") for key in keys):
        return "A2C"
    # Stable-Baselines3 logs these of TD3 and DDPG alone: of SAC the temperature as well, and no entropy of either.
    losses = {"train/actor_loss", "train/critic_loss", "train/n_updates"}
    if keys >= losses and "train/ent_coef" not in keys and "policy/entropy" not in metrics:
        return "TD3"
    return ""


def _language_algorithm(metrics: set[str], keys: set[str]) -> str:
    names = {key.rsplit("/", 1)[-1] for key in keys}
    if any(key.endswith(("rewards/chosen", "rewards/margins", "rewards/accuracies")) for key in keys):
        return "OnlineDPO"
    if (
        metrics & {"critic/loss", "critic/clip_fraction", "critic/grad_norm"}
        and "group/zero_std_fraction" not in metrics
    ):
        return "RLHF-PPO"
    if names & {"buffer_qsize", "queue_wait_time_s", "weight_sync_time_s"}:
        return "AsyncGRPO"
    return "GRPO"

"""Maps source keys to canonical metrics, and values to the canonical sense."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ._algorithms import traits_of
from ._alias import Alias, alias, words_of
from ._metrics import metric as known_metric
from ._metrics import metrics
from ._names import Framework, KeyName, framework, index, matcher

LANGUAGE = ("seq/", "group/", "policy/kl_ref", "async/logprob", "async/behave", "async/mismatch")
"""Metrics that only trainers of language models log begin like this."""
POLICY = frozenset({"policy/loss", "policy/kl_old", "policy/clip_fraction"})
"""Metrics beside which a lone `H` is the entropy of a policy and `clip pct` a share of ratios."""


@dataclass(frozen=True)
class MappedKey:
    """What a source key means. `confidence` is exact, user, alias or guess (see `firstbreak.series.Confidence`)."""

    metric: str
    component: str = ""
    transform: str = ""
    estimator: str = ""
    aggregation: str = ""
    timing: str = ""
    lag_rows: int = 0
    confidence: str = "exact"
    note: str = ""


def map_keys(
    keys: Collection[str],
    framework_name: str,
    algorithm: str,
    user: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
) -> dict[str, MappedKey]:
    """Return the meaning of each of `keys` that has one: the user's word first, then the framework's, then aliases.

    Where `config` gives a reward function the weight 0, it measures the task without being trained on.

    Raises:
        UnknownNameError: the user maps a key to a metric that does not exist.
    """
    chosen = {key: _of_user(target) for key, target in (user or {}).items() if key in keys}
    found = framework(framework_name) if framework_name else None
    if found is not None:
        beside = frozenset(keys)
        named = {key: exact(key, found, algorithm, beside) for key in keys if key not in chosen}
        chosen |= {key: meaning for key, meaning in named.items() if meaning is not None}
    # Reports ask for metrics by their canonical names, so whoever logs one under that name is understood.
    chosen |= {k: MappedKey(k, confidence="alias") for k in keys if k not in chosen and _is_canonical(k)}
    taken = {(m.metric, m.component) for m in chosen.values()}
    plain = aliases([k for k in keys if k not in chosen])
    chosen |= _of_one_loss({k: m for k, m in plain.items() if (m.metric, m.component) not in taken}, chosen, algorithm)
    untrained = _untrained(config or {})
    return {key: _judged(meaning, untrained) for key, meaning in chosen.items() if meaning.metric}


def _of_one_loss(
    plain: Mapping[str, MappedKey], chosen: Mapping[str, MappedKey], algorithm: str
) -> dict[str, MappedKey]:
    """Return `plain` where the whole loss of a learner that has nothing but a value is that of its critic."""
    traits = traits_of(algorithm)
    met = {m.metric for m in (*plain.values(), *chosen.values())}
    if "q_function" not in traits or "policy_gradient" in traits or {"critic/loss", "policy/loss"} & met:
        return dict(plain)
    return {k: replace(m, metric="critic/loss") if m.metric == "optim/loss_total" else m for k, m in plain.items()}


def _untrained(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the reward functions of weight 0: weights by name, or a list beside the list of `reward_funcs`."""
    weights, names = config.get("reward_weights"), config.get("reward_funcs")
    if isinstance(weights, Mapping):
        pairs: Iterable[tuple[Any, Any]] = cast(Mapping[Any, Any], weights).items()
    elif isinstance(weights, list) and isinstance(names, list):
        pairs = zip(cast(list[Any], names), cast(list[Any], weights), strict=False)
    else:
        return frozenset()
    return frozenset(str(name) for name, weight in pairs if weight == 0)


def _judged(meaning: MappedKey, untrained: frozenset[str]) -> MappedKey:
    if meaning.metric != "reward/component" or meaning.component not in untrained:
        return meaning
    return replace(meaning, metric="reward/true_objective", component="", note="A reward function of weight 0.")


def _is_canonical(key: str) -> bool:
    spec = metrics().get(key)
    return spec is not None and not spec.family


def _of_user(target: str) -> MappedKey:
    name, _, component = target.partition("@")
    known_metric(name)  # or says what is near
    return MappedKey(name, component=component, confidence="user")


def exact(key: str, found: Framework, algorithm: str, beside: Collection[str]) -> MappedKey | None:
    """Return what `found` says `key` means for `algorithm` in a log with the keys `beside`, or None.

    The metric is `""` for a key that is known to have no canonical meaning, and where the meaning hangs on an algorithm
    that is not known: its words would mislead.
    """
    table, patterns = index(found.name)
    for spelling in found.spellings(key):
        names = [n for n in table.get(spelling, ()) if _fits(n, algorithm, beside)]
        if not algorithm and len({(n.metric, n.transform) for n in names}) > 1 and not names[0].given:
            return MappedKey("")
        if names:
            return _meaning(names[0], found, algorithm, "")
        for name in patterns:
            match = matcher(name.pattern).fullmatch(spelling) if _fits(name, algorithm, beside) else None
            if match:
                return _meaning(name, found, algorithm, match.groupdict().get("component") or "")
    return None


def _fits(name: KeyName, algorithm: str, beside: Collection[str]) -> bool:
    trained = not name.algorithms or not algorithm or algorithm in name.algorithms
    return trained and all(key in beside for key in name.given)


def _meaning(name: KeyName, found: Framework, algorithm: str, component: str) -> MappedKey:
    late = name.timing == "previous_update" and algorithm in found.lagging
    family = bool(name.metric) and metrics()[name.metric].family
    return MappedKey(
        metric=name.metric,
        component=component if family else "",
        transform=name.transform,
        estimator=name.estimator,
        aggregation=name.aggregation,
        timing=name.timing if late else "",
        lag_rows=1 if late else 0,
        note=name.note,
    )


def aliases(keys: Collection[str]) -> dict[str, MappedKey]:
    """Return the meaning of keys whose words name a quantity plainly.

    Of two keys for one metric the more telling spelling counts; two that are equally telling cancel each other.
    """
    contexts = _contexts(keys)
    found: dict[tuple[str, str], list[tuple[Alias, str]]] = {}
    for key in keys:
        meaning = alias(key, contexts)
        if meaning is not None:
            found.setdefault((meaning.metric, meaning.component), []).append((meaning, key))
    chosen: dict[str, MappedKey] = {}
    for (metric, component), rivals in found.items():
        rank = min(meaning.rank for meaning, _ in rivals)
        best = [(meaning, key) for meaning, key in rivals if meaning.rank == rank]
        if len({meaning.words for meaning, _ in best}) == 1:
            transform = best[0][0].transform
            chosen |= {key: MappedKey(metric, component, transform, confidence="alias") for _, key in best}
    return chosen


def _contexts(keys: Collection[str]) -> set[str]:
    """Say what the log is of, from keys that need no context: `language` or `control`, then `episodes`, `policy` and
    `reward`."""
    metrics_met = {meaning.metric for key in keys if (meaning := alias(key, ())) is not None}
    contexts = {"language" if any(m.startswith(LANGUAGE) for m in metrics_met) else "control"}
    named = [set(words_of(key)) for key in keys]
    if any({"reward", "return"} & words for words in named):
        contexts.add("reward")
    played = any(m.startswith("episode/") for m in metrics_met)
    if "control" in contexts and POLICY & metrics_met:
        contexts.add("policy")
    if "control" in contexts and (played or any("episode" in w and {"reward", "return"} & w for w in named)):
        contexts.add("episodes")
    return contexts


def apply_transform(transform: str, values: NDArray[np.float64], config: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return `values` [n] in the canonical sense.

    Transforms: negate, exp, log, percent (x / 100), one_minus (1 - x), percent_left (1 - x / 100), scale:<factor>,
    divide_by:<config key>, negate_divide_by:<config key>. Where the configuration value is not known, the result is NaN
    everywhere: a number on an unknown scale is no evidence.
    """
    name, _, argument = transform.partition(":")
    with np.errstate(all="ignore"):
        if name in ("", "negate"):
            return -values if name else values
        if name in ("exp", "log"):
            return np.exp(values) if name == "exp" else np.log(values)
        if name in ("percent", "percent_left"):
            return values / 100 if name == "percent" else 1 - values / 100
        if name == "one_minus":
            return 1 - values
        if name == "scale":
            return values * float(argument)
        if name in ("divide_by", "negate_divide_by"):
            factor = _number(config.get(argument))
            if factor is None or factor == 0:
                return np.full_like(values, np.nan)
            return values / factor if name == "divide_by" else -values / factor
    raise ValueError(f"unknown transform {transform!r}")


def usable(meaning: MappedKey, config: Mapping[str, Any]) -> bool:
    """Whether the transform of `meaning` can be made with this configuration."""
    name, _, argument = meaning.transform.partition(":")
    return not name.endswith("divide_by") or _number(config.get(argument)) not in (None, 0.0)


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None

"""The name files: they parse, speak of metrics that exist, and never leave a key with two meanings."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from importlib.resources import files

import pytest

from firstbreak.vocabulary import algorithms, config_keys, framework, framework_names, metrics
from firstbreak.vocabulary._names import KeyName

TRANSFORM = re.compile(r"|negate|exp|log|percent|percent_left|one_minus|scale:-?[\d.]+|(negate_)?divide_by:[a-z_]+")
ESTIMATORS = {"", "k1", "k2", "k3", "exact_old_new", "exact_new_old"}
TIMINGS = {"", "previous_update", "before_update", "after_update"}
FIELDS = {"is", "match", "metric", "transform", "estimator", "aggregation", "timing", "algorithms", "given", "note"}
REQUIRED = """
stable_baselines3 cleanrl torchrl rllib rsl_rl tianshou skrl trl verl openrlhf areal unsloth prime_rl skyrl slime
nemo_rl roll open_instruct rl_games sample_factory pufferlib
"""


def test_the_promised_frameworks_are_there() -> None:
    assert set(REQUIRED.split()) <= set(framework_names())


@pytest.mark.parametrize("name", framework_names())
def test_every_entry_is_sound(name: str) -> None:
    found = framework(name)
    assert found.name == name
    assert found.clock in {"updates", "env_steps", "seconds", "rows"}
    assert found.title
    assert found.versions
    for key in found.keys:
        assert bool(key.exact) != bool(key.pattern), key
        assert not key.metric or key.metric in metrics(), key
        assert TRANSFORM.fullmatch(key.transform), key
        assert key.estimator in ESTIMATORS, key
        assert key.timing in TIMINGS, key
        assert set(key.algorithms) <= algorithms().keys(), key
        assert re.compile(key.pattern) is not None
        assert key.metric or key.note, f"a key without a meaning must say why: {key}"
    assert found.config.keys() <= config_keys().keys()
    assert set(found.lagging) <= algorithms().keys()
    assert found.default_algorithm in {"", *algorithms()}
    for sign in found.signs:
        assert sign
        assert all(re.compile(part) is not None for part in sign)


@pytest.mark.parametrize("name", framework_names())
def test_no_field_is_misspelt(name: str) -> None:
    text = files("firstbreak.vocabulary").joinpath("names").joinpath(f"{name}.toml").read_text("utf-8")
    for entry in tomllib.loads(text)["key"]:
        assert entry.keys() <= FIELDS, entry


@pytest.mark.parametrize("algorithm", sorted(algorithms()))
@pytest.mark.parametrize("name", framework_names())
def test_no_key_has_two_meanings_within_an_algorithm(name: str, algorithm: str) -> None:
    found = framework(name)
    inherited = framework(found.extends).keys if found.extends else ()
    own = found.keys[: len(found.keys) - len(inherited)]
    for keys in (own, inherited):
        fitting = [k for k in keys if (not k.algorithms or algorithm in k.algorithms) and not k.given]
        counted = Counter(k.exact or k.pattern for k in fitting)
        assert not [key for key, count in counted.items() if count > 1]


def families(name: str) -> list[KeyName]:
    """The patterns of a framework that stand for a family of metrics."""
    return [k for k in framework(name).keys if k.pattern and k.metric and metrics()[k.metric].family]


@pytest.mark.parametrize("name", [name for name in framework_names() if families(name)])
def test_families_name_their_component(name: str) -> None:
    assert all("(?P<component>" in key.pattern for key in families(name))

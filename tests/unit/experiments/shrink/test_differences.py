"""Differences of configurations: complete, and applied without side effects."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firstbreak.experiments.shrink import ABSENT, applied, differences
from firstbreak.experiments.shrink.differences import fingerprint, value_at

leaves = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(-1, 1), st.text("ab", max_size=2))
configs = st.recursive(
    st.dictionaries(st.sampled_from("abcd"), leaves, max_size=4),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), st.one_of(leaves, inner), max_size=4),
    max_leaves=12,
)


@given(configs, configs)
def test_all_differences_turn_the_good_into_the_bad(bad: dict[str, Any], good: dict[str, Any]) -> None:
    kept = deepcopy(good)
    every = differences(bad, good)
    assert fingerprint(_pruned(applied(good, every))) == fingerprint(_pruned(bad))
    assert fingerprint(good) == fingerprint(kept), "the good configuration was changed"
    assert not differences(applied(good, ()), good)


def _pruned(config: Any) -> Any:
    """Without empty sections, which say nothing."""
    if not isinstance(config, dict):
        return config
    made = {k: _pruned(v) for k, v in config.items()}
    return {k: v for k, v in made.items() if v != {}}


def test_values_that_python_calls_equal_are_told_apart() -> None:
    assert [d.key for d in differences({"a": True, "b": 1.0, "c": 1}, {"a": 1, "b": 1, "c": 1})] == ["a", "b"]


def test_a_setting_may_be_added_or_missing() -> None:
    first, second = differences({"ppo": {"clip": 0.2}}, {"ppo": {"kl": 0.1}})
    assert (first.key, first.good, first.bad) == ("ppo.clip", ABSENT, 0.2)
    assert (second.key, second.good, second.bad) == ("ppo.kl", 0.1, ABSENT)
    assert applied({"ppo": {"kl": 0.1}}, [second]) == {"ppo": {}}
    assert value_at({"ppo": {"kl": 0.1}}, ("ppo", "clip")) is ABSENT
    assert str(first) == "ppo.clip: (not set) -> 0.2"

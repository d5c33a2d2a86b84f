"""The `@rule` decorator and the registry."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from firstbreak.errors import UnknownNameError
from firstbreak.finding import Component, Link
from firstbreak.registry import all_rules, find_rule
from firstbreak.rule import Answer, Rule, field_docs, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Two thresholds."""

    limit: float = 1.0
    """The limit in nats
    on two lines."""
    bare: int = 2


@rule(
    "TST001",
    "test-rule",
    link=Link.NUMERICS,
    component=Component.LOSS,
    params=Params(),
    cases=(),
    needs=("a/b",),
    any_of=(("c/d", "e/f"), ("a/b", "g/h")),
)
def sample(view: RunView, params: Params) -> Answer:
    """The claim in one line.

    More text.
    """
    return None


def test_the_docstring_and_the_field_docs_are_kept() -> None:
    assert isinstance(sample, Rule)
    assert sample.claim == "The claim in one line."
    assert sample.param_docs == {"limit": "The limit in nats\non two lines.", "bare": ""}
    assert field_docs(Params) == sample.param_docs


def test_metrics_lists_the_needed_ones_first_and_none_twice() -> None:
    assert sample.metrics == ("a/b", "c/d", "e/f", "g/h")


def test_the_params_hash_changes_with_a_parameter_and_with_nothing_else() -> None:
    assert sample.params_hash == replace(sample, params=Params()).params_hash
    assert sample.params_hash != replace(sample, params=Params(limit=2.0)).params_hash
    assert len(sample.params_hash) == 8


@pytest.mark.parametrize("wrong", [Params, {"limit": 1.0}, None])
def test_params_must_be_an_instance_of_a_dataclass(wrong: object) -> None:
    register = rule("TST002", "x", link=Link.NUMERICS, component=Component.LOSS, params=wrong, cases=())
    with pytest.raises(TypeError, match="instance of a frozen dataclass"):
        register(lambda view, params: None)


def test_rules_are_found_by_name_and_code_in_any_case() -> None:
    first = all_rules()[0]
    assert find_rule(first.name) is first
    assert find_rule(first.code.lower()) is first
    assert find_rule(f" {first.name.upper()} ") is first


def test_an_unknown_rule_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'kl-overshoot'"):
        find_rule("kl-overshooot")

"""The plan, the guard against a second difference, the catalogue."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import ConfigError, InputError, UnknownNameError
from firstbreak.experiments import Subject, all_experiments, find_experiment
from firstbreak.experiments.experiment import names
from firstbreak.experiments.plan import Protocol, differences, insist_on_one_difference, plan

VALUES = st.one_of(st.integers(-3, 3), st.floats(allow_nan=True), st.text(max_size=3), st.booleans(), st.none())
SETTINGS = st.dictionaries(st.sampled_from("abcde"), VALUES, max_size=5)


@given(SETTINGS)
def test_an_arm_differs_from_itself_in_nothing(arm: dict[str, object]) -> None:
    assert differences(arm, dict(arm)) == ()
    with pytest.raises(ConfigError, match="nothing is changed"):
        insist_on_one_difference(arm, dict(arm), "a")


@given(SETTINGS, SETTINGS)
def test_the_guard_lets_exactly_one_difference_through(left: dict[str, object], right: dict[str, object]) -> None:
    absent = object()
    slow = [
        k
        for k in sorted({*left, *right})
        if repr((type(left.get(k, absent)), left.get(k, absent)))
        != repr((type(right.get(k, absent)), right.get(k, absent)))
        and not (left.get(k, absent) == right.get(k, absent) and type(left.get(k)) is type(right.get(k)))
    ]
    assert list(differences(left, right)) == slow
    if len(slow) == 1:
        insist_on_one_difference(left, right, slow[0])
    elif slow:
        with pytest.raises(ConfigError, match=r"differ in .*, [\s\S]*two things"):
            insist_on_one_difference(left, right, slow[0])


def test_a_difference_hidden_in_a_table_is_seen() -> None:
    left = {"reward": "own", "config": {"lr": 0.1, "inner": {"epochs": 4}}}
    right = {"reward": "reversed", "config": {"lr": 0.1, "inner": {"epochs": 1}}}
    assert differences(left, right) == ("config.inner.epochs", "reward")
    with pytest.raises(ConfigError, match=r"config\.inner\.epochs"):
        insist_on_one_difference(left, right, "reward")


def test_the_changed_variable_may_be_a_table() -> None:
    left, right = {"a": {"x": 1, "y": 2}, "b": 0}, {"a": {"x": 3, "y": 4}, "b": 0}
    insist_on_one_difference(left, right, "a")
    assert differences(left, right) == ("a.x", "a.y")
    with pytest.raises(ConfigError, match="b"):
        insist_on_one_difference(left, right | {"b": 1}, "a")


@pytest.mark.parametrize("one", all_experiments(), ids=lambda e: e.name)
def test_every_experiment_of_the_catalogue_says_what_it_must(one: object) -> None:
    from firstbreak.experiments import Experiment

    assert isinstance(one, Experiment)
    control, changed = one.arms
    insist_on_one_difference(control, changed, one.changes)
    assert one.hypothesis.endswith(".")
    assert one.prediction.endswith(".")
    assert one.pilot >= 2
    assert one.cost.words
    assert one.needs
    assert isinstance(one.reading.margin, int | float) is False or float(one.reading.margin) > 0  # type: ignore[arg-type]
    for part in (
        "What is changed",
        "Prediction",
        "How the verdict is drawn",
        "Cost",
        "When it cannot decide",
        "References",
    ):
        assert f"{part}:" in one.doc, f"the page of {one.name} says nothing under {part}"
    assert one.name in names()
    assert find_experiment(one.name.replace("-", " ").upper()) is one


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="reversed-reward"):
        find_experiment("reverse-reward")


def test_what_the_subject_lacks_is_named_with_the_way_to_give_it() -> None:
    with pytest.raises(InputError, match=r"needs env, expert[\s\S]*--with expert"):
        plan(find_experiment("oracle-against-random"), Subject(), Protocol())


def test_one_variable_may_be_a_table_and_must_differ() -> None:
    one = find_experiment("reversed-reward")
    two = replace(one, control={"kind": "own"}, changed={"kind": "reversed", "scale": 2.0})
    made = plan(two, Subject("t", "e"), Protocol())
    assert differences({"reward": made.control["reward"]}, {"reward": made.changed["reward"]}) == (
        "reward.kind",
        "reward.scale",
    )
    with pytest.raises(ConfigError, match="nothing is changed"):
        plan(replace(two, changed=two.control), Subject("t", "e"), Protocol())


@pytest.mark.parametrize(
    "wrong",
    [{"seeds": 1}, {"seeds": 0}, {"most": 1}, {"margin": 0.0}, {"margin": float("nan")}, {"margin": -1.0}],
    ids=str,
)
def test_a_protocol_that_can_decide_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Protocol(**wrong)  # type: ignore[arg-type]

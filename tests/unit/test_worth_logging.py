"""What is asked for is enough by itself, in reach of a user, and at links that nothing looks at yet."""

from __future__ import annotations

from itertools import combinations

import pytest

from firstbreak.diagnosis import Coverage, Skipped
from firstbreak.finding import Link
from firstbreak.worth_logging import alternatives, freed, logged_by_trainers, spoken, to_be_had, worth_logging

ENTROPY, KL, NORM, LENGTH = "policy/entropy", "policy/kl_old", "optim/grad_norm", "episode/length_mean"


def waits(link: Link, *items: str, applies: bool = True) -> Skipped:
    return Skipped("X", "rule", "not logged", items, applies, link)


def coverage(*skipped: Skipped) -> Coverage:
    return Coverage({}, 0, len(skipped), skipped)


def test_three_names_reach_as_many_links_as_any_three() -> None:
    rules = [
        *[waits(Link.NUMERICS, NORM)] * 3,
        waits(Link.EXPLORATION, ENTROPY),
        waits(Link.EXPLORATION, f"{ENTROPY} or {KL}", NORM),
        waits(Link.POLICY_UPDATE, KL),
        waits(Link.ENVIRONMENT_DATA, LENGTH),
    ]
    found = worth_logging(coverage(*rules))
    slow = max(len({s.link for s in freed(rules, three)}) for three in combinations((ENTROPY, KL, NORM, LENGTH), 3))
    assert len(set(found.links)) == slow == 4
    assert found.rules == len(freed(rules, found.names))
    assert found.names[0] == NORM, "of names that reach one link more each, the one that lets most rules look"


def test_a_rule_that_wants_two_is_not_unlocked_by_one() -> None:
    both = waits(Link.CRITIC, NORM, KL)
    assert worth_logging(coverage(both)).names == (NORM, KL)
    assert worth_logging(coverage(both), most=1).names == ()


@pytest.mark.parametrize(
    "item",
    ["env/dynamics_surprise", "advantage/abs_max", "more points (log oftener or run longer)", "event resume", "a run"],
)
def test_what_no_user_can_log_is_not_asked_for(item: str) -> None:
    assert not to_be_had(item)
    assert worth_logging(coverage(waits(Link.CRITIC, item))).names == ()


def test_of_names_of_which_one_is_enough_one_that_trainers_log_is_asked_for() -> None:
    assert "policy/action_std" in logged_by_trainers()
    assert alternatives("env/dynamics_surprise or policy/action_std") == ("policy/action_std",)
    assert worth_logging(coverage(waits(Link.CRITIC, "env/dynamics_surprise or policy/action_std"))).names == (
        "policy/action_std",
    )


def test_what_does_not_concern_the_run_or_it_cannot_have_is_not_asked_for() -> None:
    rules = coverage(waits(Link.CRITIC, NORM, applies=False), waits(Link.CRITIC, ENTROPY), waits(Link.CRITIC, KL))
    assert worth_logging(rules, could=lambda name: name != ENTROPY).names == (KL,)


def test_a_setting_is_given() -> None:
    assert worth_logging(coverage(waits(Link.CRITIC, "config gamma"))).spoken == ("--given gamma=",)
    assert spoken("config algorithm") == "--algorithm"
    assert spoken(KL) == KL

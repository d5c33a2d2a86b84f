"""Which of several signs goes first: an early specific warning beside later errors, and one that says less."""

from __future__ import annotations

import pytest

from firstbreak.cause import Cause
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.roots import explained_by_earlier, onset_order, preceded, telling_of
from firstbreak.stats import Order

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
EXPLORATION, REWARD = Link.EXPLORATION, Link.REWARD_SIGNAL


def cause(name: str, link: Link, **explains: float) -> Cause:
    weights = {rule.replace("_", "-"): weight for rule, weight in explains.items()}
    return Cause(name, link, Component.REWARD, "", weights, (), ())


def found(name: str, link: Link, severity: Severity, lo: float, hi: float) -> Finding:
    return Finding(name.upper(), name, link, Component.REWARD, severity, Onset(lo, hi), "", "m")


COLLAPSE = cause("collapse", EXPLORATION, late=3.0, early=1.5)
CHANGED = cause("changed", REWARD, sign=2.5)
SET_WRONG = cause("set-wrong", Link.SYSTEM_RESOURCES, sign=3.0)
LATE = found("late", EXPLORATION, ERROR, 117, 118)


def explained(sign: Finding, *more: Finding, causes: tuple[Cause, ...] = (CHANGED,)) -> bool:
    mine = [LATE, *more]
    return explained_by_earlier(COLLAPSE, mine, [*mine, sign], telling_of((COLLAPSE, *causes)), {"m": 1.0})


def test_an_early_warning_that_tells_of_an_outer_link_explains_a_late_error() -> None:
    assert explained(found("sign", REWARD, WARNING, 99, 100))


@pytest.mark.parametrize(
    ("sign", "more"),
    [
        (found("sign", REWARD, INFO, 99, 100), ()),
        (found("sign", REWARD, WARNING, 117, 118), ()),
        (found("sign", REWARD, WARNING, 99, 100), (found("early", EXPLORATION, WARNING, 50, 51),)),
        (found("sign", Link.NUMERICS, WARNING, 99, 100), ()),
    ],
    ids=("a note", "in the same row", "the cause spoke before", "telling, but no further out"),
)
def test_what_explains_nothing(sign: Finding, more: tuple[Finding, ...]) -> None:
    assert not explained(sign, *more)


def test_a_sign_of_one_cause_alone_may_be_of_any_link() -> None:
    assert explained(found("sign", Link.SYSTEM_RESOURCES, WARNING, 99, 100), causes=(SET_WRONG,))


def test_a_warning_that_overlaps_and_is_not_before_does_not_save_the_error() -> None:
    assert explained(found("sign", REWARD, WARNING, 99, 100), found("early", EXPLORATION, WARNING, 93, 103))


def test_what_is_there_in_the_first_row_was_there_before_what_was_still_fine_in_it() -> None:
    silent = found("silent", EXPLORATION, ERROR, 1, 1)
    leap = found("leap", Link.POLICY_UPDATE, ERROR, 1, 2)
    assert onset_order(silent, leap, {"m": 1.0}) is Order.BEFORE
    assert onset_order(leap, silent, {"m": 1.0}) is Order.AFTER
    assert preceded([leap], [leap, silent], {"m": 1.0})
    assert not preceded([silent], [leap, silent], {"m": 1.0})


@pytest.mark.parametrize(
    "other",
    [(1.0, 1.0), (0.5, 1.5), (0.0, 1.0)],
    ids=("in the same row", "perhaps earlier", "no later than it"),
)
def test_no_order_is_claimed_within_the_first_row(other: tuple[float, float]) -> None:
    silent = found("silent", EXPLORATION, ERROR, 1, 1)
    assert onset_order(silent, found("leap", Link.POLICY_UPDATE, ERROR, *other), {"m": 1.0}) is Order.TIED

"""What the table of metrics says is 0 by construction: rules ask for more than rounding, and a monitor for no past."""

from __future__ import annotations

import math

import pytest

from firstbreak.monitor import Monitor
from firstbreak.registry import all_rules
from firstbreak.vocabulary import metrics

ZEROS = {name: spec.zero for name, spec in metrics().items() if not math.isnan(spec.zero)}
LIMITS = ("limit", "frac", "off", "broken", "share")
"""What rules call the size from which on such a metric counts."""
OF_ROUNDING = {"log-probs-rounded"}
"""Rules about rounding itself, of which sound trainings in half precision have as much: no news, no row of its own."""


def test_what_is_0_by_construction_has_no_values_below_and_rounding_that_is_small():
    assert ZEROS
    assert {metrics()[name].lo for name in ZEROS} == {0}
    assert all(0 <= zero <= 0.05 for zero in ZEROS.values())


def test_rules_ask_for_more_than_rounding():
    asked = 0
    for rule in (rule for rule in all_rules() if rule.name not in OF_ROUNDING):
        zero = max((ZEROS[name] for name in rule.metrics if name in ZEROS), default=None)
        alone = zero is not None and all(name in ZEROS for name in rule.metrics)
        limits = [getattr(rule.params, name) for name in LIMITS if hasattr(rule.params, name)] if alone else []
        assert all(limit > zero for limit in limits), rule.name
        asked += len(limits)
    assert asked > 10


@pytest.mark.parametrize(
    ("metric", "value", "told"), [("policy/answers_moved_frac", 0.5, True), ("own/metric", 0.5, False)]
)
def test_its_first_value_that_is_something_is_looked_at_in_its_own_row_without_time_to_look(metric, value, told):
    monitor = Monitor(None, time_share=0.0, names={"own/metric": "policy/saturation_frac"})
    for row in range(40):
        asked = {"policy/answers_moved_frac": 0.0} if row % 8 == 0 else {}  # fewer than other keys must have had
        monitor.log({"policy/kl_old": 0.01 + 0.001 * (row % 3), **asked}, step=256 * row)
    looked = []
    judge, look = monitor._looks._judge, monitor._looks._judge.look
    judge.look = lambda *args, **more: (looked.append(1), look(*args, **more))[1]
    monitor.log({metric: value}, step=256 * 40 - 200)
    assert bool(looked) is told
    named = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "answers-change-at-rest"]
    assert named == ([256 * 40 - 200] if told else [])

"""Each rule on its own cases, and on healthy runs of every algorithm."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.engine import Ending, run_rules
from firstbreak.rule import Expect, Rule
from tests.rules.runs import CASES, RULES, Named, fired, healthy_log, loud, outcome_of


@pytest.mark.parametrize("named", CASES, ids=str)
def test_a_case_behaves_as_declared(named: Named) -> None:
    outcome = outcome_of(named)
    if named.case.expect is Expect.FIRES:
        assert fired(outcome), f"{outcome.status}: {outcome.reason}"
        return
    assert not fired(outcome), [f.message for f in outcome.findings]


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_a_rule_has_a_case_of_each_kind_and_looks_at_one_that_is_clear(rule: Rule) -> None:
    mine = [c for c in CASES if c.rule == rule.name]
    assert {c.case.expect for c in mine} == set(Expect)
    assert len({c.case.name for c in mine}) == len(mine)
    # A rule that only ever skips what it does not fire on would pass every other test.
    assert any(outcome_of(c).status is Ending.CLEAR for c in mine)


HEALTHY_RUNS = [(a, seed, n) for a in sorted(synth.HEALTHY) for seed, n in ((0, 120), (1, 120), (2, 40), (3, 400))]


@pytest.mark.parametrize(("algorithm", "seed", "n"), HEALTHY_RUNS)
def test_no_rule_fires_on_a_healthy_run(algorithm: str, seed: int, n: int) -> None:
    outcomes = run_rules(healthy_log(algorithm, seed, n), RULES)
    assert {o.rule.name: o.reason for o in outcomes if o.status is Ending.ERROR} == {}
    assert {o.rule.name: o.findings[0].message for o in outcomes if o.findings and loud(o.findings)} == {}

"""Every rule but those named fires on a fault injected into a real healthy run."""

from __future__ import annotations

from firstbreak.registry import all_rules

from .grafts import fires_on_a_graft

NOT_YET = frozenset(
    {
        "behaviour-uncorrected",  # the real run's configuration states a cap on the behaviour weight
        "entropy-collapse",  # the real run's return rises, so a certain policy has converged
        "length-lost",  # the real run's reward rises, so few words may do
        "wrong-groups-grow",  # the real run's own score rises
        "all-truncated",  # the real run's reward components go on paying, which contradicts it
        "episode-statistics-missing",  # the real run has episode statistics
        "reward-is-noise",  # the real run's score rises, so its reward says something
        "worse-than-random",  # the real run's monitor file holds the raw returns, and they rise
        "metrics-frozen",  # the real run's other metrics go on moving
        "reward-saturated-from-start",  # the real run's groups still differ
        # They hold a run against healthy ones of its task; the corpus has one real run of each. The fault benchmark,
        # where each task has five and more, measures them (docs/faults_results.md).
        *(rule.name for rule in all_rules() if rule.name.endswith("-departs")),
        # They weigh whatever moves against its own past and name no metric, so that a graft replaces none.
        *(rule.name for rule in all_rules() if rule.name.endswith("-moves-at-once")),
    }
)
"""Rules that no graft sets off: they judge the log as a whole, and the rest of the real run contradicts them."""


def test_rules_fire_on_faults_injected_into_real_runs() -> None:
    silent = {rule.name for rule in all_rules() if not fires_on_a_graft(rule)}
    assert silent == NOT_YET

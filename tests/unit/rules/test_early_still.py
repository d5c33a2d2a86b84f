"""`observation-shift` where a World tells early that nothing moved: of sixteen steps, which one wall explains."""

from __future__ import annotations

import pytest

from firstbreak.engine import run_rules
from firstbreak.monitor.history import History
from firstbreak.registry import find_rule

STILL = "obs/constant_frac"


def fires(early: list[tuple[float, float]], full: int = 20, still_from: int = 99, copies: int = 4) -> bool:
    """Rows every 64 steps, those from `still_from` on without any change, and `early` (step, share) ones between."""
    rows = [(64.0 * k, float(k >= still_from)) for k in range(1, full + 1)]
    history = History("x", algorithm="DQN", clock="env_steps", config={"n_envs": copies})
    for step, value in sorted(rows + early):
        history.add((STILL,), [value], step, 0.0)
    (outcome,) = run_rules(history.log(), [find_rule("observation-shift")])
    return bool(outcome.findings)


@pytest.mark.parametrize("after", [24, 40, 56])
def test_an_agent_that_stands_at_a_wall_for_a_few_steps_is_no_blank_observation(after: int) -> None:
    assert not fires([(64.0 * 15 + after, 1.0)])
    assert not fires([(64.0 * 20 + after, 1.0)])


@pytest.mark.parametrize("after", [24, 40])
def test_a_blank_observation_is_told_with_the_second_early_row(after: int) -> None:
    assert fires([(64.0 * 20 + after, 1.0), (64.0 * 20 + after + 16, 1.0)])


def test_a_full_row_in_which_nothing_moved_is_told_at_once() -> None:
    assert fires([], still_from=20)


def test_an_only_agent_may_stand_as_long_as_an_episode_lasts() -> None:
    assert not fires([], still_from=17, copies=1)
    assert fires([], full=40, still_from=17, copies=1)

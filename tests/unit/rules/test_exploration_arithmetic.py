"""Arithmetic and look-alikes of the exploration rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.engine import Ending, run_rules
from firstbreak.finding import Severity
from firstbreak.rule import Rule
from firstbreak.rules.exploration import (
    alpha_runaway,
    entropy_collapse,
    response_collapse,
    target_entropy_infeasible,
    token_entropy_collapse,
    zero_std_groups,
)
from firstbreak.runlog import RunLog

GRPO = synth.like("GRPO", n=300)


def severities(rule: Rule, log: RunLog) -> list[Severity]:
    return [f.severity for f in run_rules(log, [rule])[0].findings]


@given(st.floats(0, 1), st.integers(2, 8))
@settings(deadline=None, max_examples=40)
def test_silent_share_is_the_chance_of_equal_draws(p: float, group: int) -> None:
    total = sum(
        p ** bin(bits).count("1") * (1 - p) ** (group - bin(bits).count("1"))
        for bits in range(2**group)
        if bin(bits).count("1") in (0, group)
    )
    assert zero_std_groups.silent_share(p, group) == pytest.approx(total)


def test_silent_share_at_known_points() -> None:
    assert zero_std_groups.silent_share(0.02, 8) == pytest.approx(0.85, abs=0.005)
    assert zero_std_groups.silent_share(0.5, 8) == pytest.approx(2**-7)
    assert zero_std_groups.silent_share(0.18, 2) == pytest.approx(0.705, abs=0.001)


def ending(reward: synth.Shape) -> RunLog:
    """A run whose entropy, group spread and gradient end at nothing, with the given reward."""
    return GRPO(
        {
            "policy/entropy": synth.geometric(3.2, 0.006, 0.05, until=0.4),
            "group/zero_std_fraction": synth.clipped(synth.ramp(0.2, 1.2, 0.0, until=0.35), 0, 1),
            "optim/grad_norm": synth.geometric(0.5, 1e-4, until=0.4),
            "reward/train_mean": reward,
        }
    )


def swinging(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Reward of one fixed answer: it climbs first, then only the prompts drawn decide."""
    luck = rng.choice([0.0, 0.32, 0.32, 0.64], size=t.size)
    return np.where(t < 0.3, np.interp(t, [0, 0.3], [0, 0.9]), luck)


RULES = (zero_std_groups.detect, token_entropy_collapse.detect, response_collapse.detect)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_a_solved_run_and_a_collapsed_run_differ_by_their_reward_alone(rule: Rule) -> None:
    solved = synth.ramp(0.01, 1.29, 0.0, until=0.3)
    assert severities(rule, ending(solved)) == []
    assert severities(rule, ending(swinging)) == [Severity.ERROR]


def test_the_message_compares_with_what_the_pass_rate_predicts() -> None:
    log = synth.like("GRPO", n=1, config={"group_size": 2})(
        {"group/zero_std_fraction": synth.constant(0.77), "reward/train_mean": synth.constant(0.18)}
    )
    (finding,) = run_rules(log, [zero_std_groups.detect])[0].findings
    assert "predict 70%" in finding.message
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("start", "space", "looks"),
    [
        (0.69, None, True),
        (1.4189, None, False),
        (2 * 1.4189, None, False),
        (1.4189, "discrete", True),
        (0.69, "continuous", False),
    ],
)
def test_entropy_ratios_are_only_formed_where_they_mean_something(start: float, space: str | None, looks: bool) -> None:
    config = {} if space is None else {"action_space": space}
    shape = synth.geometric(start, 0.004 * start, 0.0, begin=0.05, until=0.4)
    fallen = synth.after(0.5, synth.flat(25.0, 0.05), synth.ramp(20, 200, 0.03, until=0.5))
    log = synth.like("PPO", config=config)({"policy/entropy": shape, "reward/episode_return_mean": fallen})
    status = run_rules(log, [entropy_collapse.detect])[0].status
    assert status is (Ending.FIRED if looks else Ending.SKIPPED)


@pytest.mark.parametrize(
    ("config", "target", "bad"),
    [
        ({"action_space": "discrete", "n_actions": 4}, 1.38, True),
        ({"action_space": "discrete", "n_actions": 4}, 0.7, False),
        ({"action_space": "discrete", "n_actions": 4}, -4.0, True),
        ({"action_space": "continuous", "action_dim": 6}, -6.0, False),
        ({"action_space": "continuous", "action_dim": 6}, 4.0, False),
        ({"action_space": "continuous", "action_dim": 6}, 4.3, True),
    ],
)
def test_entropy_targets_against_the_action_space(config: dict[str, object], target: float, bad: bool) -> None:
    log = synth.like("SAC", config=config)({"sac/target_entropy": synth.constant(target)})
    status = run_rules(log, [target_entropy_infeasible.detect])[0].status
    assert status is (Ending.FIRED if bad else Ending.CLEAR)


def test_a_temperature_that_levels_off_is_no_runaway() -> None:
    sac = synth.like("SAC", n=12)
    rising = sac({"sac/alpha": synth.geometric(0.93, 14.0, 0.01)})
    settling = sac({"sac/alpha": lambda t, rng: 1 + 3.5 * (1 - np.exp(-6 * t))})
    assert severities(alpha_runaway.detect, rising) == [Severity.WARNING]
    assert severities(alpha_runaway.detect, settling) == []

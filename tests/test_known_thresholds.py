"""The page of known thresholds is held to its word: real faults are found, false-alarm traps stay quiet."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.api import diagnose
from firstbreak.finding import Severity
from firstbreak.registry import all_rules
from firstbreak.rule import Status
from firstbreak.runlog import RunLog
from firstbreak.synth import after, constant, flat, geometric, jump, like, ramp

PAGE = Path(__file__).resolve().parent.parent / "docs" / "concepts" / "known_thresholds.md"
ALERTS, TREE = "The nine automated alerts", "The usual decision tree, from the top"
RULES = {rule.name: rule for rule in all_rules()}
NAN = float("nan")
RETURN, ENTROPY, NORM = "reward/episode_return_mean", "policy/entropy", "optim/grad_norm"
EV, CLIP, KL, STD = "critic/explained_variance", "policy/clip_fraction", "policy/kl_old", "policy/action_std_min"
FALLEN = after(0.5, flat(25.0, 0.05), ramp(20, 200, 0.03, until=0.5))
SOLVED = ramp(20, 500, 0.01, until=0.6)
PPO, SAC = like("PPO"), like("SAC")
CONTINUOUS = like("PPO", config={"action_space": "continuous", "action_dim": 4})
ONE_UPDATE = like("PPO", config={"n_epochs": 1, "n_minibatches": 1})
MANY_UPDATES = like("PPO", config={"n_epochs": 10, "n_minibatches": 4})
HALFWAY_NAN = {name: after(0.5, constant(NAN), flat(0.5)) for name in ("policy/loss", "critic/loss", ENTROPY)}
LARGE_Q = {
    "critic/q_mean": ramp(500, 5000),
    "critic/q2_mean": ramp(480, 4850),
    RETURN: ramp(500, 5200, 0.04),
    "policy/loss": ramp(-500, -5000),
}
STILL = {KL: constant(0.0), CLIP: constant(0.0), "policy/loss": flat(0, 1e-8)}


@dataclass(frozen=True)
class Row:
    """One line of a table of the page."""

    section: str
    checked: str
    why: str
    rules: tuple[str, ...]
    instead: str


def rows() -> list[Row]:
    found: list[Row] = []
    section = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith(("| ---", "| what people")):
            checked, why, rules, instead = (cell.strip() for cell in line.strip("|").split(" | "))
            found.append(Row(section, checked, why, tuple(re.findall(r"`([^`]+)`", rules)), instead))
    return found


ROWS = rows()


def values(log: RunLog, metric: str) -> np.ndarray:
    series = log.get(metric)
    assert series is not None
    return series.value


def test_every_row_is_complete_and_names_rules_that_exist() -> None:
    assert len(ROWS) >= 60
    for row in ROWS:
        assert all((row.checked, row.why, row.instead))
        assert row.rules or row.section == "Looks that no log can give", row.checked
        assert set(row.rules) <= set(RULES), row.checked


@pytest.mark.parametrize(("section", "size"), [(ALERTS, 9), (TREE, 8)])
def test_every_alert_and_branch_has_a_stable_rule(section: str, size: int) -> None:
    mine = [row for row in ROWS if row.section == section]
    assert len(mine) == size
    for row in mine:
        assert any(RULES[name].status is Status.STABLE for name in row.rules), row.checked


@dataclass(frozen=True)
class Situation:
    """A run that crosses a plain threshold, for a reason (then `rule` must fire) or by right (then nothing may)."""

    alert: str
    """How the first cell of the row of the page begins."""
    crosses: Callable[[RunLog], bool]
    """The threshold, taken literally."""
    run: Callable[[], RunLog]
    rule: str = ""


def above(metric: str, limit: float) -> Callable[[RunLog], bool]:
    return lambda log: bool((values(log, metric) > limit).any())


def below(metric: str, limit: float) -> Callable[[RunLog], bool]:
    return lambda log: bool((values(log, metric) < limit).any())


def any_nan(log: RunLog) -> bool:
    return any(bool(np.isnan(series.value).any()) for series in log.series)


def twins_apart(log: RunLog) -> bool:
    gap = np.abs(values(log, "critic/q_mean") - values(log, "critic/q2_mean"))
    return bool((gap > 100).any())


def never_clips(log: RunLog) -> bool:
    return not values(log, CLIP).any()


LARGE_GRADIENT, LOW_ENTROPY, THIN = above(NORM, 1e4), below(ENTROPY, 0.01), below(STD, 0.01)
LARGE_VALUE = above("critic/q_mean", 1000)
ADVANTAGE = above("advantage/abs_max", 100)

FAULTS = {
    "gradient jumps to 5e4": Situation(
        "gradient explosion", LARGE_GRADIENT, lambda: PPO({NORM: jump(0.6, 5e4, at=0.6)}), "grad-norm-explosion"
    ),
    "losses turn NaN": Situation("NaN in metrics", any_nan, lambda: PPO(HALFWAY_NAN), "nonfinite-metric"),
    "entropy gone, return fallen": Situation(
        "entropy collapse:",
        LOW_ENTROPY,
        lambda: PPO({ENTROPY: geometric(0.69, 0.003, until=0.4), RETURN: FALLEN}),
        "entropy-collapse",
    ),
    "spread gone, return fallen": Situation(
        "action dimension",
        THIN,
        lambda: CONTINUOUS({STD: geometric(1.0, 0.004, until=0.5), RETURN: FALLEN, ENTROPY: ramp(5.6, -10, until=0.5)}),
        "action-std-collapse",
    ),
    "Q grows exponentially": Situation(
        "Q value divergence",
        LARGE_VALUE,
        lambda: SAC({"critic/q_mean": geometric(1, 2e6), "critic/q2_mean": geometric(1, 2e6)}),
        "q-divergence",
    ),
    "Q beyond what rewards allow": Situation(
        "Q value divergence",
        below("critic/q_mean", -1000),
        lambda: like("SAC", config={"gamma": 0.99, "reward_max": 0.0, "reward_min": -16.0})(
            {"critic/q_mean": ramp(-20, -9000, begin=0.3), "critic/q2_mean": ramp(-20, -9000, begin=0.3)}
        ),
        "q-over-bound",
    ),
    "one critic runs away": Situation(
        "twin critics", twins_apart, lambda: SAC({"critic/q2_mean": ramp(-20, -600, begin=0.4)}), "twin-q-apart"
    ),
    "critic worse than a constant": Situation(
        "value function", below(EV, -0.5), lambda: PPO({EV: flat(-0.8, 0.1)}), "explained-variance-negative"
    ),
    "half of the samples clipped, large KL": Situation(
        "excessive PPO", above(CLIP, 0.5), lambda: PPO({CLIP: flat(0.55), KL: flat(0.09)}), "clip-fraction-high"
    ),
    "advantages grow a tail": Situation(
        "advantage explosion",
        ADVANTAGE,
        lambda: PPO({"advantage/abs_max": jump(40, 450), "advantage/std": flat(10)}),
        "advantage-outliers",
    ),
    "many updates, none moves the policy": Situation(
        "`clip_fraction = 0`", never_clips, lambda: MANY_UPDATES(STILL), "policy-frozen"
    ),
}

TRAPS = {
    "summed loss, steady norm of 2e4": Situation(
        "gradient explosion", LARGE_GRADIENT, lambda: PPO({NORM: flat(2e4, 0.2)})
    ),
    "norm grows slowly past 1e4": Situation(
        "gradient explosion", LARGE_GRADIENT, lambda: PPO({NORM: geometric(4e3, 2e4, 0.2)})
    ),
    "no episode finished yet": Situation(
        "NaN in metrics", any_nan, lambda: PPO({RETURN: after(0.1, ramp(20, 400, until=0.8), constant(NAN))})
    ),
    "explained variance of constant returns": Situation(
        "NaN in metrics", any_nan, lambda: PPO({EV: after(0.7, constant(NAN), ramp(0, 0.9, until=0.4)), RETURN: SOLVED})
    ),
    "SAC meets its entropy target": Situation(
        "entropy collapse:",
        LOW_ENTROPY,
        lambda: like("SAC", config={"target_entropy": -6.0, "action_dim": 6, "action_space": "continuous"})(
            {ENTROPY: ramp(3.0, -6.0, until=0.3)}
        ),
    ),
    "deterministic because solved": Situation(
        "entropy collapse:", LOW_ENTROPY, lambda: PPO({ENTROPY: geometric(0.69, 0.003), RETURN: SOLVED})
    ),
    "precise at the best return": Situation(
        "action dimension", THIN, lambda: CONTINUOUS({STD: geometric(1, 0.004, until=0.9), ENTROPY: ramp(5.6, -10)})
    ),
    "actions in small units": Situation(
        "action dimension", THIN, lambda: CONTINUOUS({STD: flat(0.008), ENTROPY: flat(-13)})
    ),
    "Q of 5000, returns of 5000": Situation("Q value divergence", LARGE_VALUE, lambda: SAC(LARGE_Q)),
    "150 apart at 5000": Situation("twin critics", twins_apart, lambda: SAC(LARGE_Q)),
    "solved: returns no longer vary": Situation(
        "value function",
        below(EV, -0.5),
        lambda: PPO({EV: jump(0.8, -0.8, at=0.6), "critic/loss": jump(60, 0.03, at=0.6), RETURN: SOLVED}),
    ),
    "untrained critic": Situation("value function", below(EV, -0.5), lambda: PPO({EV: jump(-1, 0.6, at=0.1)})),
    "small clip range, small steps": Situation(
        "excessive PPO",
        above(CLIP, 0.5),
        lambda: like("PPO", config={"clip_range": 0.05})({CLIP: flat(0.6), KL: flat(0.003)}),
    ),
    "rewards of 1000": Situation(
        "advantage explosion",
        ADVANTAGE,
        lambda: PPO(
            {
                "advantage/abs_max": flat(4000, 0.1),
                "advantage/std": flat(1000),
                RETURN: ramp(2e4, 4e5, 0.03, until=0.8),
                "critic/loss": geometric(6e7, 2e7, 0.2),
            }
        ),
    ),
    "one update per batch": Situation("`clip_fraction = 0`", never_clips, lambda: ONE_UPDATE({CLIP: constant(0.0)})),
    "one update per batch, KL of 0": Situation("`clip_fraction = 0`", never_clips, partial(ONE_UPDATE, STILL)),
}


def row_of(situation: Situation) -> Row:
    (row,) = [r for r in ROWS if r.section in (ALERTS, TREE) and r.checked.startswith(situation.alert)]
    return row


@pytest.mark.parametrize("name", FAULTS)
def test_the_real_fault_is_found_by_a_rule_of_its_row(name: str) -> None:
    fault = FAULTS[name]
    log = fault.run()
    assert fault.crosses(log)
    assert fault.rule in row_of(fault).rules
    found = {f.name: f.severity for f in diagnose(log).findings}
    assert fault.rule in found, found
    assert found[fault.rule].rank >= Severity.WARNING.rank


@pytest.mark.parametrize("name", TRAPS)
def test_a_healthy_run_across_the_plain_number_stays_quiet(name: str) -> None:
    trap = TRAPS[name]
    log = trap.run()
    assert trap.crosses(log)
    assert row_of(trap).rules
    loud = [f.name for f in diagnose(log).findings if f.severity.rank >= Severity.WARNING.rank]
    assert loud == []


def test_each_of_the_nine_alerts_has_a_fault_and_a_trap() -> None:
    alerts = {row.checked for row in ROWS if row.section == ALERTS}
    for situations in (FAULTS, TRAPS):
        assert alerts <= {row_of(s).checked for s in situations.values()}


def test_twins_that_agree_to_the_last_digit_are_a_fault_that_the_plain_number_passes() -> None:
    log = SAC({"critic/twin_gap": synth.constant(0.0)})
    assert "twin-q-identical" in {f.name for f in diagnose(log).findings}

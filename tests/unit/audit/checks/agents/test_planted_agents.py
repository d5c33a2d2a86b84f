"""Every planted fault of agents is named by its check, and its harmless twin is not."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.audit.planted_agent_conduct
import tests.audit.planted_agent_outcomes  # noqa: F401
from firstbreak.audit.sample import Sample, Turn
from firstbreak.check import LONGEST_MESSAGE
from tests.audit.agent_play import Plan, honest
from tests.audit.agent_tables import alarms, checks, fired, looks, table_of
from tests.audit.planted_agents import CASES, healthy, thorough

PLANTED = Path(__file__).resolve().parents[4] / "audit" / "planted"
FAULTS: list[dict[str, Any]] = tomllib.loads((PLANTED / "agents.toml").read_text("utf-8"))["fault"]
EXPECTED: dict[str, str] = tomllib.loads((PLANTED / "agents_expected.toml").read_text("utf-8"))
NAMES = [f["id"] for f in FAULTS]
ALSO_TRUE = {"doing-nothing-pays": {"episodes-finish-too-soon"}}
"""What else is said of a twin, rightly: agents that guess without a call do finish too soon."""


def test_every_listed_fault_and_twin_is_made() -> None:
    assert set(CASES) == {(name, which) for name in NAMES for which in ("fault", "twin")}
    assert set(EXPECTED) == set(NAMES)
    assert set(EXPECTED.values()) == {c.name for c in checks()}


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_is_named(name: str) -> None:
    found = looks(table_of(CASES[name, "fault"]()))
    symptom = found[EXPECTED[name]].symptom
    assert symptom is not None
    assert len(symptom.message) <= LONGEST_MESSAGE
    assert any(c.isdigit() for c in symptom.message)
    assert symptom.evidence


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_is_left_alone(name: str) -> None:
    table = table_of(CASES[name, "twin"]())
    assert EXPECTED[name] not in fired(table)
    assert set(alarms(table)) <= ALSO_TRUE.get(name, set())


def harder(seed: int) -> Plan:
    return Plan(thorough, cap=40, seed=seed)


HEALTHY = {
    "plain": lambda s: Plan(seed=s, tokens="own"),
    "weak": lambda s: Plan(lambda p: honest(p, skill=0.15), seed=s),
    "strong": lambda s: Plan(lambda p: honest(p, skill=0.97, slips=0.05), seed=s),
    "learning": lambda s: Plan(lambda p: honest(p, 0.2 + 0.7 * p.progress, 0.6 - 0.5 * p.progress), seed=s),
    "few": lambda s: Plan(prompts=8, seed=s),
    "penalty": lambda s: Plan(reward=lambda p: float(p.solved) - 0.02 * p.calls, seed=s),
    "noisy": lambda s: Plan(reward=lambda p: 100 * (p.solved + 0.3 * p.draw.random()), seed=s),
    "thorough": harder,
}


@pytest.mark.parametrize("kind", HEALTHY)
def test_a_healthy_agent_raises_no_alarm(kind: str) -> None:
    assert alarms(table_of(HEALTHY[kind](1).samples())) == {}


@pytest.mark.parametrize("name", ["text-only-success", "doing-nothing-pays"])
def test_the_unit_of_the_reward_does_not_matter(name: str) -> None:
    samples = CASES[name, "fault"]()
    larger = [replace(s, reward=250 * s.reward - 40) for s in samples]
    assert fired(table_of(samples)) == fired(table_of(larger))


def test_the_order_of_rows_does_not_matter() -> None:
    samples = CASES["calls-per-success-rise", "fault"]()
    assert fired(table_of(samples)) == fired(table_of(samples[::-1]))


def test_a_chat_without_tools_concerns_no_check() -> None:
    chat = (Turn("user", "Hello?"), Turn("assistant", "Done, I have booked it."))
    table = table_of([Sample("Hello?", "Done.", float(i % 2), turns=chat, group=str(i // 4)) for i in range(100)])
    for look in looks(table).values():
        assert look.skip is not None
        assert not look.skip.unlock_with


def test_texts_without_turns_concern_no_check() -> None:
    table = table_of([Sample("p", "r", float(i % 2)) for i in range(100)])
    assert all(look.skip is not None for look in looks(table).values())


def test_a_handful_of_episodes_is_too_few() -> None:
    table = table_of(healthy()[:8])
    assert all(look.skip is not None and look.skip.unlock_with for look in looks(table).values())


MISSING = {
    "failed-call-logged-as-success": "failed",
    "tool-calls-without-effect": "changed",
    "claims-done-state-unchanged": "changed",
}


@pytest.mark.parametrize("name", MISSING)
def test_what_the_log_does_not_say_of_calls_is_asked_for(name: str) -> None:
    def silent(sample: Sample) -> Sample:
        turns = [replace(t, calls=tuple(replace(c, **{MISSING[name]: None}) for c in t.calls)) for t in sample.turns]
        return replace(sample, turns=tuple(turns))

    look = looks(table_of(map(silent, healthy())))[name]
    assert look.skip is not None
    assert look.skip.unlock_with


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("calls-are-paid", {"success": None}),
        ("failed-episodes-paid", {"success": None}),
        ("episodes-finish-too-soon", {"success": None}),
        ("turns-grow-without-success", {"step": float("nan")}),
        ("calls-per-success-grow", {"step": float("nan")}),
        ("cost-grows-without-success", {"step": float("nan")}),
        ("tools-no-longer-called", {"step": float("nan")}),
        ("tool-output-echoed", {"reward": float("nan")}),
        ("loss-covers-tool-output", {"tokens": None}),
        ("call-of-no-return", {"success": None, "reward": float("nan")}),
    ],
)
def test_what_the_log_does_not_say_of_samples_is_asked_for(name: str, change: dict[str, Any]) -> None:
    look = looks(table_of(replace(s, **change) for s in healthy()))[name]
    assert look.skip is not None
    assert look.skip.unlock_with


def test_a_logged_baseline_that_does_nothing_is_compared() -> None:
    better = [replace(s, scores={"do_nothing_reward": 0.9}) for s in healthy()]
    worse = [replace(s, scores={"do_nothing_reward": 0.1}) for s in healthy()]
    assert "doing-nothing-pays" in fired(table_of(better))
    assert "doing-nothing-pays" not in fired(table_of(worse))


def test_growth_is_per_paid_episode_where_success_is_not_logged() -> None:
    samples = [replace(s, success=None) for s in CASES["turn-blow-up", "fault"]()]
    symptom = looks(table_of(samples))["turns-grow-without-success"].symptom
    assert symptom is not None
    assert "paid episode" in symptom.message


def test_a_tools_name_that_is_no_identifier_stays_out_of_the_report() -> None:
    def renamed(sample: Sample) -> Sample:
        turns = [replace(t, calls=tuple(replace(c, name=c.name + "\x1b[31m!") for c in t.calls)) for t in sample.turns]
        return replace(sample, turns=tuple(turns))

    symptom = looks(table_of(map(renamed, CASES["point-of-no-return", "fault"]())))["call-of-no-return"].symptom
    assert symptom is not None
    assert "\x1b" not in symptom.message
    assert "a tool" in symptom.message

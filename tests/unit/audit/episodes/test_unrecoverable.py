"""The call after which nobody succeeded, by branches of one prompt and by an oracle."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.api import audit
from firstbreak.audit.episodes.oracle import ask, verdict
from firstbreak.audit.episodes.unrecoverable import (
    Run,
    hypergeometric_variance,
    lost_calls,
    none_of,
    pooled,
    run_of,
    tarone,
)
from firstbreak.audit.sample import Sample, ToolCall, Turn
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.isolation import Limits
from tests.audit.planted_agents import healthy


@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 6))
def test_the_chance_of_none_is_that_of_all_deals(episodes: int, others: int, good: int) -> None:
    good = min(good, episodes + others)
    deals = list(itertools.combinations(range(episodes + others), good))
    slow = sum(all(i >= episodes for i in deal) for deal in deals) / len(deals)
    assert none_of(episodes, others, good) == pytest.approx(slow)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 12))
def test_the_variance_is_that_of_all_deals(drawn: int, others: int, good: int) -> None:
    total = drawn + others
    good = min(good, total)
    counts = [sum(i < drawn for i in deal) for deal in itertools.combinations(range(total), good)]
    mean = sum(counts) / len(counts)
    assert hypergeometric_variance(drawn, total, good) == pytest.approx(
        sum((c - mean) ** 2 for c in counts) / len(counts)
    )


@given(st.lists(st.floats(0, 1), max_size=12))
def test_tarones_level_is_the_largest_that_its_own_count_allows(least: list[float]) -> None:
    level = tarone(least)
    allowed = [k for k in range(1, len(least) + 1) if sum(p <= 0.05 / k for p in least) <= k]
    assert level == pytest.approx(0.05 / min(allowed, default=1))


def run(group: str, names: str, good: bool, row: int = 0) -> Run:
    return Run(group, tuple((n, n) for n in names), good, row)


def cancelled(prompts: int, seed: int = 0, matters: bool = True) -> list[Run]:
    """Sixteen episodes a prompt: `s` first, then in a third of them `c`, then `b`; success by chance unless `c`."""
    draw = Random(seed)
    runs: list[Run] = []
    for prompt in range(prompts):
        for _ in range(16):
            lost = draw.random() < 0.34
            good = draw.random() < 0.75 and not (lost and matters)
            runs.append(run(str(prompt), "scb" if lost else "sb", good, len(runs)))
    return runs


def test_the_call_of_no_return_is_found_in_one_large_group() -> None:
    runs = cancelled(1, seed=2)
    found = lost_calls(runs)
    assert [(b.call, b.tool) for b in found] == [(2, "c")]
    assert found[0].siblings_succeeded > 0
    assert 0 < found[0].high_frac < 1
    assert found[0].high_frac == pytest.approx(1 - 0.05 ** (1 / found[0].episodes))


def test_small_groups_are_pooled_over_prompts() -> None:
    runs = [r for i, r in enumerate(cancelled(40)) if i % 4 == 0]
    assert lost_calls(runs) == []
    worst = pooled(runs)[0]
    assert (worst.tool, worst.succeeded, worst.call) == ("c", 0, 2)
    assert worst.z < -4
    assert worst.high_frac < 0.1


def test_a_call_that_makes_no_difference_is_not_blamed() -> None:
    alarms = 0
    for seed in range(60):
        runs = cancelled(10, seed, matters=False)
        alarms += bool(lost_calls(runs)) or any(p.succeeded == 0 and p.z < -4 for p in pooled(runs))
    assert alarms <= 3


def slow_pool(runs: Sequence[Run], tool: str) -> tuple[int, int, float, float]:
    """The same forks by brute force over all prefixes."""
    n, good, expected, variance = 0, 0, 0.0, 0.0
    for group in sorted({r.group for r in runs}):
        mine = [r for r in runs if r.group == group]
        prefixes = {r.marks[:k] for r in mine for k in range(len(r.marks))}
        for prefix in prefixes:
            node = [r for r in mine if r.marks[: len(prefix)] == prefix]
            total, won = len(node), sum(r.good for r in node)
            for mark in {r.marks[len(prefix)] for r in node if len(r.marks) > len(prefix)}:
                child = [r for r in node if r.marks[: len(prefix) + 1] == (*prefix, mark)]
                if mark[0] != tool or not won or len(child) == total:
                    continue
                n, good = n + len(child), good + sum(r.good for r in child)
                expected += len(child) * won / total
                variance += hypergeometric_variance(len(child), total, won)
    return n, good, expected, variance


RUNS = st.lists(st.builds(run, st.sampled_from("pq"), st.text("abc", max_size=4), st.booleans()), max_size=14)


@given(RUNS)
def test_pooled_forks_are_those_of_the_slow_twin(runs: list[Run]) -> None:
    for one in pooled(runs):
        n, good, expected, variance = slow_pool(runs, one.tool)
        assert (one.episodes, one.succeeded) == (n, good)
        assert one.expected == pytest.approx(expected)
        assert one.z == pytest.approx((good - expected) / math.sqrt(variance) if variance > 1e-12 else 0.0, abs=1e-6)


@given(RUNS)
def test_renaming_tools_and_shuffling_runs_changes_nothing(runs: list[Run]) -> None:
    turned = [Run(r.group, tuple((f"t{n}", m) for n, m in r.marks), r.good, r.row) for r in runs[::-1]]

    def seen(found: list[Run]) -> list[tuple[int, int, float]]:
        return sorted((p.episodes, p.succeeded, round(p.z, 9)) for p in pooled(found))

    assert seen(runs) == seen(turned)


def test_a_sample_without_calls_is_no_run() -> None:
    assert run_of(Sample("p", "r"), True) is None
    made = run_of(healthy()[0], True)
    assert made is not None
    assert made.marks


# --- the oracle ---

ORACLE = '''
import json

def solvable(state):
    """Lost as soon as the last open slot was cancelled."""
    return all(c["name"] != "cancel" for c in state["calls"])

def raising(state):
    raise RuntimeError("no idea")

def hanging(state):
    import time
    time.sleep(600)

number = 3
'''


def lost_sample(row: int, *names: str, success: bool | None = False) -> Sample:
    turns = tuple(Turn("assistant", "", (ToolCall(n, "{}", "ok"),)) for n in names)
    return Sample("Book it.", "", 0.0, row=row, success=success, turns=turns)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "desk_oracle.py").write_text(ORACLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_oracle_names_the_call(there: Path) -> None:
    samples = [lost_sample(7, "show", "cancel", "book"), lost_sample(8, "show"), lost_sample(9, "cancel", success=True)]
    found = ask("desk_oracle:solvable", samples)
    assert found.trouble == ""
    assert [(v.row, v.calls, v.first_lost, v.wavers) for v in found.verdicts] == [(7, 3, 2, False), (8, 1, None, False)]


def test_the_audit_says_where_episodes_were_lost(there: Path) -> None:
    calls = [{"type": "function", "function": {"name": n, "arguments": "{}"}} for n in ("show", "cancel", "book")]
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"Book slot {number}."},
                *({"role": "assistant", "content": "", "tool_calls": [call]} for call in calls[: 1 + number % 3]),
            ],
            "reward": 0.0,
            "success": False,
        }
        for number in range(9)
    ]
    (there / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    seen = audit(there / "episodes.jsonl", oracle="desk_oracle:solvable")
    said = [note for note in seen.notes if "oracle" in note]
    assert said == [
        "the oracle judged 9 unsuccessful episodes: 6 were lost before they ended, at call 2 in the median, "
        "0 before any call"
    ]
    shown = next(t for t in seen.details["tables"] if "oracle" in t["title"])
    assert [row[1:3] for row in shown["rows"]] == [[2, 2], [2, 3]] * 3


def test_an_oracle_that_raises_or_hangs_is_survived(there: Path) -> None:
    found = ask("desk_oracle:raising", [lost_sample(0, "show")])
    assert found.verdicts == ()
    assert "no idea" in found.trouble
    found = ask("desk_oracle:hanging", [lost_sample(0, "show")], Limits(seconds=4, silence_s=1.5))
    assert found.verdicts == ()
    assert found.trouble


def test_an_oracle_that_is_none_is_refused(there: Path) -> None:
    with pytest.raises(InputError, match="not a function"):
        ask("desk_oracle:number", [])
    with pytest.raises(UnknownNameError):
        ask("desk_oracle:solvabel", [])


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_a_verdict_is_the_first_no(said: list[bool]) -> None:
    found = verdict(3, said)
    assert found.calls == len(said) - 1
    assert found.first_lost == (said.index(False) if False in said else None)
    assert found.wavers == (False in said and True in said[said.index(False) :])

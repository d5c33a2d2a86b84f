"""What is written is what `firstbreak audit` reads: chosen by reward, bounded, masked, and never in training's way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.reading.api import read_samples
from firstbreak.errors import InputError
from firstbreak.monitor.settling import RawSamples
from firstbreak.monitor.settling.raw_samples import LONGEST_CHARS

torch.set_num_threads(1)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def record(samples: RawSamples, rewards: Sequence[float], **more: Any) -> int:
    texts = [f"answer {i}" for i in range(len(rewards))]
    return samples.record([f"prompt {i}" for i in range(len(rewards))], texts, rewards, **more)


def test_twenty_are_kept_highest_lowest_and_random(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "raw.jsonl"
    samples = RawSamples(path)
    assert record(samples, list(range(100)), stop_reasons=["stop"] * 100, scores={"format": torch.ones(100)}) == 20
    found = rows(path)
    by = {why: [r["reward"] for r in found if r["chosen_as"] == why] for why in ("highest", "lowest", "random")}
    assert by["highest"] == [99, 98, 97, 96, 95, 94]
    assert by["lowest"] == [0, 1, 2, 3, 4, 5]
    assert len(by["random"]) == 8
    assert found[0]["stop_reason"] == "stop"
    assert found[0]["format"] == 1.0
    assert samples.faults == []


@given(st.lists(st.sampled_from([0.0, 1.0, float("nan")]), max_size=40), st.integers(1, 25))
def test_each_sample_at_most_once_and_as_many_as_there_are(rewards: list[float], keep: int) -> None:
    samples = RawSamples("never.jsonl", keep=keep)
    chosen = [place for place, _ in samples._chosen(np.array(rewards))]
    assert len(chosen) == len(set(chosen)) == min(keep, len(rewards))


def test_the_audit_reads_it(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl")
    for step in range(3):
        record(samples, [0.0, 1.0, 0.5], step=step, stop_reasons=["length", "stop", "stop"], answer=["4", "5", "6"])
    found = list(read_samples(tmp_path / "raw.jsonl"))
    assert len(found) == 9
    last = max(found, key=lambda s: (s.step, s.reward))
    assert (last.prompt, last.response, last.reward, last.step) == ("prompt 1", "answer 1", 1.0, 2.0)
    assert (last.stop_reason, last.truncated, last.answer) == ("stop", False, "5")
    assert sum(bool(s.truncated) for s in found) == 3


def test_only_every_nth_update_is_recorded(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl", every=5)
    assert [record(samples, [1.0]) for _ in range(11)] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    assert [r["step"] for r in rows(samples.path)] == [0, 5, 10]


def test_the_file_is_bounded_and_spread_over_the_whole_run(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl", keep=4, most_rows=40)
    for step in range(1000):
        record(samples, [0.0, 1.0, 2.0, 3.0, 4.0], step=step)
        assert samples._rows <= 40
    steps = sorted({r["step"] for r in rows(samples.path)})
    assert len(rows(samples.path)) <= 40
    assert steps[0] == 0
    assert steps[-1] >= 800
    gaps = np.diff(steps)
    assert gaps.max() <= 2 * gaps.min()


def test_a_run_that_is_resumed_appends(tmp_path: Path) -> None:
    for _ in range(2):
        record(RawSamples(tmp_path / "raw.jsonl"), [1.0, 2.0])
    assert len(rows(tmp_path / "raw.jsonl")) == 4


def test_personal_data_is_masked_where_that_is_asked_for(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl", mask=True)
    samples.record([[{"role": "user", "content": "I am a.b@example.org"}]], ["call +44 20 7946 0958"], [1.0])
    text = samples.path.read_text("utf-8")
    assert "example.org" not in text
    assert "7946" not in text
    assert "[e-mail]" in text


def test_long_texts_are_cut_in_the_middle(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl")
    samples.record(["p"], ["a" * 50_000 + "END"], [1.0])
    (row,) = rows(samples.path)
    assert len(row["response"]) < LONGEST_CHARS + 100
    assert row["response"].endswith("END")
    assert "characters left out" in row["response"]


def test_escapes_and_odd_values_are_written_as_plain_json(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl")
    samples.record(["\x1b[31m\ud800"], ["<b>\n\u2028"], [float("nan")], scores={"x": [object()], "y": [np.float32(2)]})
    assert samples.faults == []
    raw = samples.path.read_bytes()
    assert b"\x1b" not in raw
    assert raw.count(b"\n") == 1
    assert rows(samples.path)[0]["reward"] is None
    assert rows(samples.path)[0]["y"] == 2.0


def test_a_fault_in_writing_does_not_stop_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    samples = RawSamples(tmp_path / "file" / "raw.jsonl")
    assert record(samples, [1.0]) == 0
    assert record(samples, [1.0]) == 0
    assert len(samples.faults) == 1
    uneven = RawSamples(tmp_path / "raw.jsonl")
    assert uneven.record(["p"], ["a", "b"], [1.0]) == 0
    assert "unequal length" in uneven.faults[0]


def test_a_trl_reward_function_is_heard_and_unchanged(tmp_path: Path) -> None:
    samples = RawSamples(tmp_path / "raw.jsonl")

    def score(completions: list[str], **_: Any) -> list[float]:
        """Pay for length."""
        return [float(len(c)) for c in completions]

    heard = samples.around(score, eos_token_id=2)
    assert (heard.__name__, heard.__doc__) == ("score", "Pay for length.")
    given_rows = {
        "prompts": ["p", "q"],
        "completions": ["a", "bcd"],
        "completion_ids": [[5, 2], [5, 6]],
        "answer": ["x", "y"],
        "trainer_state": SimpleNamespace(global_step=7),
    }
    assert heard(**given_rows) == [1.0, 3.0]
    found = {r["prompt"]: r for r in rows(samples.path)}
    assert (found["p"]["stop_reason"], found["q"]["stop_reason"]) == ("stop", "length")
    assert (found["q"]["step"], found["q"]["answer"], found["q"]["reward"]) == (7.0, "y", 3.0)

    async def later(completions: list[str], **_: Any) -> list[float]:
        return [0.0 for _ in completions]

    assert asyncio.run(samples.around(later)(**given_rows)) == [0.0, 0.0]
    assert len(rows(samples.path)) == 4
    assert samples.faults == []


@pytest.mark.parametrize("bad", [{"path": "x.txt"}, {"every": 0}, {"keep": 0}, {"keep": 20, "most_rows": 30}])
def test_settings_that_cannot_be_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        RawSamples(**{"path": "x.jsonl", **bad})

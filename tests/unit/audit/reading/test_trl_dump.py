"""TRL's completions: of real runs, and of steps written as TRL writes them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.audit.reading.api import read_samples
from firstbreak.audit.reading.report import ReadReport
from firstbreak.audit.sample import Sample

LOGS = Path(__file__).parents[3] / "data" / "logs"


def read(path: Path) -> tuple[list[Sample], ReadReport]:
    report = ReadReport()
    return list(read_samples(path, report=report)), report


def test_trl_completions_of_a_real_run_with_the_weights_of_its_rewards() -> None:
    samples, report = read(LOGS / "trl_grpo_hackable")
    assert dict(report.formats) == {"trl": 5}
    assert report.rows == len(samples) == 320
    assert all(s.reward == s.scores["hackable"] for s in samples)
    assert {"true_accuracy"} <= samples[0].scores.keys()
    assert samples[0].step == 1
    assert samples[-1].step == 81
    assert any("reward functions" in note and ": 1, 0." in note for note in report.notes)


def test_a_trl_step_without_any_advantage_takes_the_weights_of_another_step() -> None:
    samples, _ = read(LOGS / "trl_grpo_collapse")
    assert not any(math.isnan(s.reward) for s in samples)
    assert all(s.advantage == 0 for s in samples if s.step == 481)


def trl_step(path: Path, step: int, rewards: Any, names: list[str], weight: list[float], **more: Any) -> None:
    """Write a step as TRL 1.16 does: two prompts as messages, groups of four, each divided by its spread."""
    import pandas

    paid = np.asarray(rewards) @ np.array(weight)
    groups = paid.reshape(2, 4)
    advantage = (groups - groups.mean(axis=1, keepdims=True)) / (groups.std(axis=1, ddof=1, keepdims=True) + 1e-4)
    rows = {
        "step": [step] * 8,
        "prompt": [[{"role": "user", "content": q}] for q in "ab" for _ in range(4)],
        "completion": [[{"role": "assistant", "content": f"answer {i}"}] for i in range(8)],
        **{name: [float(r[j]) for r in rewards] for j, name in enumerate(names)},
        **more,
        "advantage": advantage.reshape(-1).astype(np.float32).astype(float),
    }
    path.mkdir(parents=True, exist_ok=True)
    pandas.DataFrame(rows).to_parquet(path / f"completions_{step:05d}.parquet")


def test_trl_chats_with_functions_called_like_roles_and_weights_told_by_other_steps(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rewards = random.normal(size=(8, 2))
    trl_step(tmp_path / "completions", 2, rewards, ["success", "length"], [1.0, 0.5], answer=["7"] * 8)
    trl_step(tmp_path / "completions", 10, rewards * [1, 0], ["success", "length"], [1.0, 0.5], answer=["7"] * 8)
    samples, report = read(tmp_path)
    assert [s.step for s in samples] == [2] * 8 + [10] * 8
    assert [s.reward for s in samples[:8]] == pytest.approx((rewards @ [1.0, 0.5]).tolist(), abs=0.02)
    assert [s.reward for s in samples[8:]] == pytest.approx(rewards[:, 0].tolist())
    assert (samples[0].prompt, samples[0].response, samples[0].answer) == ("a", "answer 0", "7")
    assert samples[0].success is None
    assert samples[0].scores.keys() == {"reward/success", "reward/length"}
    assert sum("Weights" in note for note in report.notes) == 1


def test_trl_rewards_stay_unknown_where_no_advantage_tells(tmp_path: Path) -> None:
    trl_step(tmp_path, 1, np.ones((8, 2)), ["f", "g"], [1.0, 1.0])
    samples, report = read(tmp_path)
    assert all(math.isnan(s.reward) for s in samples)
    assert samples[0].scores == {"f": 1.0, "g": 1.0}
    assert any("do not tell" in note for note in report.notes)


def test_samples_of_one_prompt_at_one_step_share_a_group() -> None:
    samples, _ = read(LOGS / "trl_grpo_hackable")
    groups = {(s.step, s.prompt) for s in samples}
    assert len({s.group for s in samples}) == len(groups)


def test_a_function_that_is_not_paid_is_offered_as_the_judge() -> None:
    folder = LOGS / "trl_grpo_hackable"
    silent, named = ReadReport(), ReadReport()
    for report, columns in ((silent, {}), (named, {"human": "true_accuracy"})):
        for _ in read_samples(folder, columns=columns, report=report):
            pass
    assert any("--column human=true_accuracy" in note for note in silent.notes)
    assert not any("--column human" in note for note in named.notes)

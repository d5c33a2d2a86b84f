"""What doing nothing earns, through scorers that are honest, lenient, broken and hostile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from firstbreak.causes import all_causes
from firstbreak.errors import FirstbreakError, InputError
from firstbreak.isolation import Limits
from firstbreak.monitor.settling import BaselineScores, baseline_scores
from firstbreak.monitor.settling.do_nothing import bootstrap_mean
from firstbreak.registry import all_rules

PROMPTS = [f"What is {i} plus {i}?" for i in range(40)]
ANSWERS = [str(2 * i) for i in range(40)]
GOOD = np.tile([1.0, 1.0, 0.0, 1.0], (40, 1))
POOR = np.tile([0.0, 0.0, 0.0, 0.0], (40, 1))


def exact(prompt: str, response: str, answer: str) -> float:
    return float(response.strip() == answer)


def means(found: BaselineScores) -> dict[str, float]:
    return {one.name: one.mean for one in found.baselines}


def test_an_honest_scorer_pays_nothing_for_nothing_and_a_good_policy_beats_it() -> None:
    found = baseline_scores(exact, PROMPTS, answers=ANSWERS, policy_rewards=GOOD)
    assert found.verdict == "beats doing nothing"
    assert means(found)["empty"] == means(found)["constant"] == means(found)["another's answer"] == 0.0
    assert means(found)["common answer"] == pytest.approx(1 / 40)
    assert found.policy_mean == 0.75
    assert found.baselines[0].name == "common answer"
    assert found.cannot_tell


def test_a_policy_that_earns_nothing_does_not_beat_nothing() -> None:
    found = baseline_scores(exact, PROMPTS, answers=ANSWERS, policy_rewards=torch.from_numpy(POOR))
    assert found.verdict == "does not beat doing nothing"
    assert "does not beat" in found.meaning


@pytest.mark.parametrize(
    ("scorer", "culprit"),
    [
        (lambda prompt, response, answer: float(not response or answer == response), "empty"),
        (lambda prompt, response, answer: float("know" in response), "constant"),
        (lambda prompt, response, answer: float(prompt in response), "prompt copied"),
        (lambda prompt, response, answer: float(len(response.split()) > 3 and response != prompt), "random words"),
        (lambda prompt, response, answer: float(response.isdigit()), "another's answer"),
    ],
    ids=["pays for silence", "pays for a phrase", "pays for an echo", "pays for words", "pays for any number"],
)
def test_planted_faults_of_the_scorer_show_in_the_baseline_that_earns_most(scorer: Any, culprit: str) -> None:
    found = baseline_scores(scorer, PROMPTS, answers=ANSWERS, policy_rewards=GOOD)
    assert means(found)[culprit] == 1.0 == found.baselines[0].mean
    assert found.verdict == "does not beat doing nothing"


def test_without_the_policys_rewards_only_the_baselines_are_told() -> None:
    found = baseline_scores(exact, PROMPTS, answers=ANSWERS)
    assert found.verdict == "cannot tell"
    assert np.isnan(found.policy_mean)
    assert "policy" not in found.meaning


def test_a_slight_lead_cannot_be_told() -> None:
    random = np.random.default_rng(0)
    noisy = random.normal(0.05, 1.0, 40)
    assert baseline_scores(exact, PROMPTS, answers=ANSWERS, policy_rewards=noisy).verdict == "cannot tell"


def test_few_prompts_give_no_interval_and_no_verdict() -> None:
    found = baseline_scores(exact, PROMPTS[:5], answers=ANSWERS[:5], policy_rewards=[1.0] * 5)
    assert found.verdict == "cannot tell"


def test_what_the_scorer_raises_is_counted() -> None:
    def brittle(prompt: str, response: str, answer: str) -> float:
        if not response:
            raise SystemExit
        return float("nan") if response == prompt else 0.0

    found = baseline_scores(brittle, PROMPTS, answers=ANSWERS, policy_rewards=GOOD)
    failed = {one.name: one.failed for one in found.baselines}
    assert (failed["empty"], failed["prompt copied"], failed["constant"]) == (40, 40, 0)
    assert "80 answers" in found.meaning
    assert found.baselines[-1].scored == 0


def test_scorers_of_frameworks_are_called_as_they_want_it() -> None:
    def trl(completions: list[str], solution: list[str], **_: Any) -> list[float]:
        return [float(c == s) for c, s in zip(completions, solution, strict=True)]

    def verl(data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> dict[str, float]:
        return {"score": float(solution_str == ground_truth)}

    plain = baseline_scores(exact, PROMPTS, answers=ANSWERS)
    for other in (trl, verl):
        assert means(baseline_scores(other, PROMPTS, answers=ANSWERS)) == means(plain)


def test_the_same_seed_gives_the_same() -> None:
    one, other = (baseline_scores(exact, PROMPTS, answers=ANSWERS, policy_rewards=GOOD, seed=3) for _ in range(2))
    assert one == other


SCORERS = """
import os, sys, time
def fine(prompt, response, answer):
    print("noise")
    return float(response == answer)
def hangs(prompt, response, answer):
    if response == "": time.sleep(60)
    return 0.0
def dies(prompt, response, answer):
    if "know" in response: os._exit(3)
    return 0.0
"""


@pytest.fixture
def scorers(tmp_path: Path) -> str:
    path = tmp_path / "scorers.py"
    path.write_text(SCORERS)
    return str(path)


@pytest.mark.parametrize(
    ("name", "lost", "trouble"), [("fine", "", ""), ("hangs", "empty", "hung"), ("dies", "constant", "died")]
)
def test_a_scorer_in_a_file_runs_in_a_child_and_takes_nobody_along(
    scorers: str, name: str, lost: str, trouble: str
) -> None:
    limits = Limits(seconds=30, silence_s=0.7)
    found = baseline_scores(f"{scorers}:{name}", PROMPTS, answers=ANSWERS, policy_rewards=GOOD, limits=limits)
    assert [one.name for one in found.baselines if not one.scored] == ([lost] if lost else [])
    assert found.trouble.startswith(trouble)
    assert found.verdict == ("cannot tell" if trouble else "beats doing nothing")


def test_a_scorer_that_is_not_there_is_told(scorers: str) -> None:
    with pytest.raises(FirstbreakError, match="No name"):
        baseline_scores(f"{scorers}:nobody", PROMPTS)
    with pytest.raises(InputError, match="module:function"):
        baseline_scores("nonsense", PROMPTS)


@pytest.mark.parametrize("bad", [{"prompts": []}, {"answers": ["1"]}, {"policy_rewards": [1.0]}, {"columns": [{}]}])
def test_columns_of_unequal_length_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        baseline_scores(exact, **{"prompts": PROMPTS, **bad})


@given(st.lists(st.floats(-10, 10), min_size=8, max_size=30), st.floats(-5, 5))
def test_the_bootstrap_shifts_with_its_values_and_holds_the_mean(values: list[float], shift: float) -> None:
    found = np.array(values)
    mean, lo, hi = bootstrap_mean(found, np.random.default_rng(0), draws=100)
    moved = bootstrap_mean(found + shift, np.random.default_rng(0), draws=100)
    assert moved == pytest.approx((mean + shift, lo + shift, hi + shift), abs=1e-9)
    assert found.min() - 1e-9 <= lo <= hi <= found.max() + 1e-9


def test_the_bootstrap_agrees_with_scipys() -> None:
    values = np.random.default_rng(5).exponential(size=60)
    _, lo, hi = bootstrap_mean(values, np.random.default_rng(0), draws=8000)
    twin = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=8000, rng=np.random.default_rng(1))
    assert (lo, hi) == pytest.approx((twin.confidence_interval.low, twin.confidence_interval.high), abs=0.02)


def test_every_name_it_points_at_exists() -> None:
    known = {r.name for r in all_rules()} | {c.name for c in all_causes()}
    assert set(baseline_scores(exact, PROMPTS, answers=ANSWERS).settles) <= known

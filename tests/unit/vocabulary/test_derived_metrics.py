"""Metrics that a framework logs in parts: counts that are shares only beside another count."""

from __future__ import annotations

import pytest

from firstbreak.loading import load
from firstbreak.runlog import RunLog
from firstbreak.vocabulary import framework, framework_names, metrics
from firstbreak.vocabulary._mapping import exact

OPEN_INSTRUCT = {
    "val/stop_rate": 0.9,
    "debug/vllm_vs_local_logprob_diff_mean": 0.01,
    "objective/verifiable_correct_rate": 0.4,
    "objective/kl2_avg": 0.001,
    "batch/filtered_prompts_pct": 0.6,
}
AREAL = {"ppo_actor/update/actor_loss/avg": 0.1, "ppo_actor/task_reward/avg": 0.5, "rollout/reward": 0.5}


def run(**parts: list[float]) -> RunLog:
    """A log of open-instruct or AReaL with these further keys (`__` for `/`)."""
    given = {key.replace("__", "/"): values for key, values in parts.items()}
    plain = AREAL if any(key.startswith("ppo_actor") for key in given) else OPEN_INSTRUCT
    count = max(map(len, given.values()))
    rows = {key: list(enumerate([value] * count)) for key, value in plain.items()}
    return load({**rows, **{key: list(enumerate(values)) for key, values in given.items()}})


def value(log: RunLog, metric: str) -> list[float]:
    series = log.get(metric)
    assert series is not None, metric
    return series.value.tolist()


def test_groups_left_out_are_split_into_those_all_right_and_all_wrong() -> None:
    log = run(
        batch__filtered_prompts=[6, 8],
        batch__filtered_prompts_zero=[2, 8],
        batch__filtered_prompts_solved=[4, 0],
        batch__total_prompts=[4, 8],
    )
    assert log.framework == "open_instruct"
    assert value(log, "group/none_solved_fraction") == [0.2, 0.5]
    assert value(log, "group/all_solved_fraction") == [0.4, 0.0]


def test_lengths_of_areal_without_the_prompt_and_its_rate_of_success() -> None:
    log = run(
        ppo_actor__seq_len__avg=[700, 800],
        ppo_actor__prompt_len__avg=[200, 200],
        ppo_actor__correct_n_seqs=[32, 64],
        ppo_actor__n_seqs=[128, 128],
    )
    assert log.framework == "areal"
    assert value(log, "seq/len_mean") == [500, 600]
    assert value(log, "seq/total_len_mean") == [700, 800]
    assert value(log, "reward/success_rate") == [0.25, 0.5]
    made = log.get("reward/success_rate")
    assert made is not None
    assert made.source_key == "ppo_actor/correct_n_seqs / ppo_actor/n_seqs"


def test_a_part_that_is_not_logged_leaves_the_metric_out() -> None:
    log = run(batch__filtered_prompts_zero=[2, 8], batch__filtered_prompts=[6, 8])
    assert log.get("group/none_solved_fraction") is None


def test_a_row_without_a_whole_has_no_share() -> None:
    log = run(batch__filtered_prompts=[6, 0, 8], batch__filtered_prompts_zero=[2, 0, 8], batch__total_prompts=[4, 0, 8])
    made = log.get("group/none_solved_fraction")
    assert made is not None
    assert (made.step.tolist(), made.value.tolist()) == ([0, 2], [0.2, 0.5])


@pytest.mark.parametrize("name", [name for name in framework_names() if framework(name).derived])
def test_every_entry_is_sound(name: str) -> None:
    for entry in framework(name).derived:
        assert entry.metric in metrics(), entry
        assert entry.less or entry.over, entry
        assert len(set(entry.keys)) == len(entry.keys), entry
        for key in entry.keys:  # a monitor keeps numbers in the canonical sense, a reader as they were logged
            meaning = exact(key, framework(name), "", entry.keys)
            assert meaning is None or not meaning.transform, key

"""The filter keeps what teaches, counts what it throws away, and never starves a run."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.groups import Group, GroupFilter, read_group
from firstbreak.monitor.groups.filter import spread

torch.set_num_threads(1)

REWARDS = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=6)


def twin(rewards: Sequence[float], lo: float, hi: float, min_std: float) -> bool:
    """The decision written out."""
    mean = sum(rewards) / len(rewards)
    if mean < lo or mean > hi:
        return False
    std = (sum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1)) ** 0.5
    return max(rewards) != min(rewards) and std > min_std


@given(
    st.lists(REWARDS, max_size=30),
    st.sampled_from([-9.0, 0.2]),
    st.sampled_from([0.7, 9.0]),
    st.sampled_from([0.0, 0.3]),
)
def test_it_decides_as_the_slow_twin(groups: list[list[float]], lo: float, hi: float, min_std: float) -> None:
    keep = GroupFilter(lo=lo, hi=hi, min_std=min_std)
    decided = [keep(group) for group in groups]
    assert decided == [twin(group, lo, hi, min_std) for group in groups]
    report = keep.report()
    assert (report.seen, report.kept) == (len(groups), sum(decided))
    assert sum(report.rejected.values()) == len(groups) - sum(decided)
    silent = [g for g in groups if max(g) == min(g)]
    assert report.all_right + report.all_wrong + report.silent_between == len(silent)


@given(REWARDS, st.randoms(use_true_random=False))
def test_the_order_of_answers_does_not_matter(rewards: list[float], random: object) -> None:
    shuffled = list(rewards)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert GroupFilter()(rewards) == GroupFilter()(shuffled)


@given(REWARDS, st.sampled_from([0.5, 4.0]), st.sampled_from([-8.0, 0.0, 16.0]))
def test_without_bounds_scale_and_shift_of_the_reward_do_not_matter(
    rewards: list[float], scale: float, shift: float
) -> None:
    assert GroupFilter()(rewards) == GroupFilter()([scale * r + shift for r in rewards])


def test_equal_rewards_have_no_spread_whatever_floats_make_of_their_mean() -> None:
    assert spread(np.array([0.1] * 7)) == 0.0
    assert not GroupFilter()([0.1] * 7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_an_areal_trajectory_is_read_without_importing_torch(dtype: torch.dtype) -> None:
    trajectory = {
        "input_ids": torch.tensor([[5, 6, 7, 8], [5, 6, 9, 0]]),
        "loss_mask": torch.tensor([[0, 0, 1, 1], [0, 0, 1, 0]]),
        "attention_mask": torch.ones(2, 4),
        "rewards": torch.tensor([1, 0], dtype=dtype),
    }
    group = read_group(trajectory, most_tokens=2)
    assert group.rewards.tolist() == [1.0, 0.0]
    assert (group.length_tokens, group.truncated_frac) == (1.5, 0.5)
    assert len(group.prompt) == 16
    same = read_group({**trajectory, "input_ids": torch.tensor([[5, 6, 1, 1], [5, 6, 1, 1]])})
    other = read_group({**trajectory, "input_ids": torch.tensor([[5, 4, 1, 1], [5, 4, 1, 1]])})
    assert same.prompt == group.prompt != other.prompt
    padded = {
        "input_ids": torch.tensor([[0, 5, 6, 7], [0, 5, 6, 9]]),
        "loss_mask": torch.tensor([[0, 0, 0, 1], [0, 0, 0, 1]]),
        "attention_mask": torch.tensor([[0, 1, 1, 1], [0, 1, 1, 1]]),
        "rewards": torch.tensor([1, 0], dtype=dtype),
    }
    assert read_group(padded).prompt == group.prompt
    assert (
        read_group([1.0, 0.0], prompt="long " * 50).prompt == read_group({"rewards": [1.0], "uid": "long " * 50}).prompt
    )


@pytest.mark.parametrize("key", ["token_level_scores", "token_level_rewards"])
def test_a_group_of_verls_batch_is_read_under_verls_names(key: str) -> None:
    accept = GroupFilter()
    assert accept({key: torch.tensor([[0.0, 0, 1], [0, 0, 0]]), "uid": np.array(["a", "a"])})
    assert not accept({key: torch.tensor([[0.0, 0, 1], [0, 1, 0]]), "uid": np.array(["b", "b"])})
    assert not accept({"seq_reward": np.array([1.0, 1.0])})
    assert accept.faults == []


def test_a_reward_for_each_token_is_summed() -> None:
    assert read_group({"rewards": np.array([[0, 0, 1.0], [0, 0.5, 0]])}).rewards.tolist() == [1.0, 0.5]


def test_one_answer_alone_is_kept_since_it_can_have_no_spread() -> None:
    keep = GroupFilter(hi=0.9)
    assert keep([0.5])
    assert not keep([1.0])
    assert "no spread to judge by" in " ".join(keep.report().notes)


def test_answers_without_a_score_do_not_count_and_a_group_without_any_is_rejected() -> None:
    keep = GroupFilter()
    assert not keep([float("nan"), float("nan")])
    assert not keep([1.0, float("nan"), 1.0])
    assert keep([1.0, float("nan"), 0.0])
    assert keep.report().rejected == {"no score": 1, "no spread": 1}


def test_it_never_rejects_everything() -> None:
    keep = GroupFilter(most_rejections=4)
    decided = [keep([0.0, 0.0]) for _ in range(15)]
    assert [i for i, kept in enumerate(decided) if kept] == [4, 9, 14]
    assert keep.report().forced == 3
    assert "only to go on" in keep.report().meaning


def test_what_cannot_be_read_is_kept_and_told_once() -> None:
    keep = GroupFilter()
    with pytest.warns(RuntimeWarning, match="no rewards"):
        assert keep({"logprobs": [1.0]})
    assert keep({"logprobs": [1.0]})
    assert keep(["a", "b"])
    assert len(keep.faults) == 2
    assert keep.report().unread == 3
    assert keep.report().seen == 0


def test_right_and_wrong_go_by_the_best_and_worst_reward_or_by_the_mark() -> None:
    groups = [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.5, 0.5], [0.0, 1.0]]
    plain, marked = GroupFilter(), GroupFilter(solved_at=0.5)
    for group in groups:
        plain(group)
        marked(group)
    report = plain.report()
    assert (report.all_right, report.all_wrong, report.silent_between) == (2, 1, 1)
    report = marked.report()
    assert (report.all_right, report.all_wrong, report.silent_between) == (3, 1, 0)


def test_while_every_reward_is_the_same_right_and_wrong_stay_open() -> None:
    keep = GroupFilter()
    keep([0.0, 0.0])
    assert keep.report().silent_between == 1
    assert "solved_at" in " ".join(keep.report().notes)
    assert "group/all_solved_fraction" not in keep.numbers()


def test_bounds_go_by_the_pass_rate_where_a_mark_is_given() -> None:
    keep = GroupFilter(lo=0.25, hi=0.75, solved_at=10.0)
    assert [keep([10.0, 9, 9, 9]), keep([9.0, 9, 9, 8]), keep([10.0, 11, 12, 10])] == [True, False, False]


def test_rows_of_a_flat_batch_are_kept_by_group() -> None:
    uids = np.array(["b", "a", "b", "a", "c"], dtype=object)
    keep = GroupFilter()
    rows = keep.rows(uids, torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0]), lengths=torch.tensor([3, 4, 5, 6, 7]))
    assert rows.tolist() == [True, False, True, False, True]
    assert keep.report().prompts == 3
    with pytest.raises(InputError, match="5 prompts"):
        keep.rows(uids, [1.0])


@given(st.lists(REWARDS, min_size=1, max_size=20))
def test_the_metrics_are_those_of_a_slow_twin_and_begin_anew(groups: list[list[float]]) -> None:
    keep = GroupFilter(solved_at=1.0)
    decided = [keep({"rewards": g, "lengths": [len(g)] * len(g)}) for g in groups]
    found = keep.numbers()
    silent = [g for g in groups if max(g) == min(g)]
    means = [sum(g) / len(g) for g in groups]
    want = {
        "group/kept_fraction": sum(decided) / len(groups),
        "group/filtered_count": len(groups) - sum(decided),
        "group/zero_std_fraction": len(silent) / len(groups),
        "group/all_solved_fraction": sum(g[0] == 1.0 for g in silent) / len(groups),
        "group/none_solved_fraction": sum(g[0] < 1.0 for g in silent) / len(groups),
        "group/reward_std_mean": float(np.mean([np.std(g, ddof=1) for g in groups])),
        "reward/rollout_mean": float(np.mean(means)),
        "seq/len_sampled_mean": float(np.mean([len(g) for g in groups])),
    }
    kept = [m for m, d in zip(means, decided, strict=True) if d]
    if kept:
        want["reward/train_mean"] = float(np.mean(kept))
        want["seq/len_mean"] = float(np.mean([len(g) for g, d in zip(groups, decided, strict=True) if d]))
    assert found == pytest.approx(want, abs=1e-12)
    assert keep.numbers() == {}


def test_a_monitor_collects_the_metrics_and_knows_them() -> None:
    keep, monitor = GroupFilter(solved_at=1.0), Monitor(algorithm="GRPO")
    monitor.collect(keep.numbers)
    for step in range(3):
        keep([0.0, 1.0])
        keep([0.0, 0.0])
        monitor.log({"policy/loss": 0.1}, step=step)
    log = monitor.run_log()
    assert {"group/kept_fraction", "group/none_solved_fraction"} <= {s.metric for s in log.series}
    assert monitor.faults == []


def test_the_report_finds_that_long_answers_are_thrown_away_and_nothing_else() -> None:
    random = np.random.default_rng(0)
    keep = GroupFilter()
    for _ in range(400):
        silent = bool(random.random() < 0.5)
        length = random.normal(300.0 if silent else 200.0, 40.0)
        rewards = [0.0, 0.0] if silent else [0.0, 1.0]
        keep.should_accept(Group(np.array(rewards), str(random.integers(40)), length, float(random.random())))
    report = keep.report()
    gaps = {g.name: g for g in report.gaps}
    assert gaps["length_tokens"].differs
    assert gaps["length_tokens"].hi < -80
    assert not gaps["truncated_frac"].differs
    assert not gaps["prompt_reward_before"].differs
    assert "length_tokens" in report.meaning


def test_the_report_finds_prompts_that_never_reach_training() -> None:
    keep = GroupFilter()
    for _ in range(5):
        keep.should_accept([0.0, 0.0], prompt="hard")
        keep.should_accept([0.0, 1.0], prompt="fine")
        keep.should_accept([1.0, 1.0], prompt=7)
    report = keep.report()
    assert (report.prompts, report.prompts_never_kept, report.prompts_tried) == (3, 2, 3)
    assert report.never_kept_frac[1] < 2 / 3 < report.never_kept_frac[2]


def test_a_few_groups_give_no_interval() -> None:
    keep = GroupFilter()
    for _ in range(6):
        keep({"rewards": [0.0, 1.0], "lengths": [2, 2]})
        keep({"rewards": [0.0, 0.0], "lengths": [9, 9]})
    assert {g.differs for g in keep.report().gaps} == {None}


def test_an_empty_report_says_so() -> None:
    assert GroupFilter().report().meaning == "No group was seen."
    assert GroupFilter().numbers() == {}


def test_it_travels_to_another_process() -> None:
    keep = GroupFilter(most_rejections=3)
    keep([0.0, 0.0])
    copy = pickle.loads(pickle.dumps(keep))
    assert copy.report() == keep.report()
    assert copy([0.0, 1.0])


@pytest.mark.parametrize(
    "bad", [{"lo": 1.0, "hi": 0.0}, {"lo": float("nan")}, {"min_std": -1.0}, {"most_rejections": 0}]
)
def test_bounds_that_keep_nothing_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InputError):
        GroupFilter(**bad)  # type: ignore[arg-type]


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstbreak.monitor.groups.book.MOST_PROMPTS", 10)
    keep = GroupFilter()
    for i in range(200):
        keep.should_accept([i / 7.0, i / 7.0], prompt=i)
    report = keep.report()
    assert report.prompts == 10
    assert report.all_right + report.all_wrong + report.silent_between == 200
    assert "forgotten" in " ".join(report.notes)


def test_rewards_of_tokens_are_summed_for_each_answer() -> None:
    keep = GroupFilter()
    assert not keep([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert keep([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


def test_rounding_is_no_spread_and_small_rewards_are_no_rounding() -> None:
    keep = GroupFilter(solved_at=0.3)
    assert not keep([0.1 + 0.2, 0.3, 0.3])
    assert not keep([0.3, float(np.float32(0.3)), 0.3])
    assert keep([1e-9, 0.0, 0.0])
    assert keep.report().all_right == 2

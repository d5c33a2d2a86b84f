"""Many seeds together, the luck of the choice, and how reward and private set moved; against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.release.evidence import UNKNOWN, Odd, Run, Score
from firstbreak.release.results import final_score, many_seeds, private_change, reward_change, selection
from firstbreak.report.release import plots, words

from .conftest import some_run


def runs(scores: list[float], **changes: object) -> list[Run]:
    return [some_run(i, score=np.array([1.0, 2.0, s]), **changes) for i, s in enumerate(scores)]


def slow_iqm(values: list[float]) -> float:
    """The mean of what is left when a quarter is taken from each end, one by one."""
    left = sorted(values)
    for _ in range(len(values) // 4):
        left.remove(min(left))
        left.remove(max(left))
    return sum(left) / len(left)


@settings(max_examples=15)
@given(st.lists(st.floats(-1e3, 1e3), min_size=5, max_size=5))
def test_the_interquartile_mean_is_that_of_the_final_scores(scores: list[float]) -> None:
    found = many_seeds(runs(scores))
    (group,) = found.groups
    assert group.scores == tuple(scores)
    assert group.iqm is not None
    assert group.iqm.value == pytest.approx(slow_iqm(scores), abs=1e-9)
    assert group.iqm.lo <= group.iqm.value <= group.iqm.hi


@settings(max_examples=10)
@given(st.permutations([3.0, 1.0, 2.0, 9.0, 5.0]))
def test_the_order_of_runs_does_not_change_the_estimate(scores: list[float]) -> None:
    (group,) = many_seeds(runs(scores)).groups
    assert group.iqm is not None
    assert group.iqm.value == pytest.approx(slow_iqm([1.0, 2.0, 3.0, 5.0, 9.0]))


def test_a_single_run_gets_no_interval_and_is_told_why() -> None:
    (group,) = many_seeds(runs([5.0])).groups
    assert group.iqm is None
    assert group.mean is None
    assert group.improvement is None
    assert "no interval" in group.remarks[-1]
    assert group.profile is not None
    assert group.profile.lo is None


def test_runs_of_different_protocols_tasks_and_algorithms_are_not_pooled() -> None:
    mixed = [*runs([1.0, 2.0]), *runs([3.0, 4.0], protocol="p2"), *runs([5.0, 6.0], algorithm="SAC")]
    found = many_seeds(mixed)
    assert sorted(g.scores for g in found.groups) == [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]
    assert found.overall is None
    assert "not pooled" in found.remarks[0]


def test_runs_that_differ_in_more_than_the_seed_get_no_interval() -> None:
    (group,) = many_seeds(runs([1.0, 2.0, 3.0]), odd=[Odd("run2", "run0", ())]).groups
    assert group.iqm is None
    assert "run2" in group.remarks[-1]


def test_unequal_lengths_are_compared_where_all_have_been() -> None:
    short = some_run(0, step=np.array([100.0, 200.0]), score=np.array([1.0, 2.0]))
    long = some_run(1, step=np.array([100.0, 200.0, 900.0]), score=np.array([1.0, 3.0, 50.0]))
    (group,) = many_seeds([short, long]).groups
    assert (group.horizon, group.scores) == (200.0, (2.0, 3.0))
    assert "between 200 and 900" in group.remarks[0]


def test_a_run_that_died_counts_with_its_last_score_and_does_not_shorten_the_others() -> None:
    died = some_run(0, step=np.array([100.0]), score=np.array([7.0]), crashed=True)
    (group,) = many_seeds([died, *runs([5.0, 6.0])]).groups
    assert 7.0 in group.scores
    assert group.horizon == 3.0
    assert "died" in group.remarks[0]


def test_an_interval_beyond_all_scores_is_remarked_and_one_within_them_is_not() -> None:
    (few,) = many_seeds(runs([480.0, 500.0, 500.0])).groups
    assert few.mean is not None
    assert few.mean.hi > 500
    assert any("beyond all scores (480 to 500)" in remark for remark in few.remarks)
    (many,) = many_seeds(runs([float(v) for v in range(30)])).groups
    assert not any("beyond all scores" in remark for remark in many.remarks)


def test_seeds_that_all_score_the_same_get_no_interval_and_are_told_why() -> None:
    (group,) = many_seeds(runs([5.0, 5.0, 5.0])).groups
    assert group.iqm is not None
    assert group.iqm.remark
    assert group.iqm.lo == -np.inf
    assert "no interval" in words.interval(group.iqm)
    assert "inf" not in str(plots.seeds(group))


def test_runs_without_an_evaluation_are_named() -> None:
    mute = some_run(3, metric="", score=np.empty(0), step=np.empty(0))
    found = many_seeds([*runs([1.0, 2.0]), mute])
    assert "run3" in found.remarks[0]
    assert many_seeds([mute]).groups == ()


def test_unknown_protocols_are_pooled_and_the_doubt_is_told() -> None:
    (group,) = many_seeds(runs([1.0, 2.0], protocol=UNKNOWN)).groups
    assert any("not recorded" in remark for remark in group.remarks)


def test_the_baseline_must_be_of_the_same_task_and_protocol() -> None:
    better, worse = runs([9.0, 8.0, 9.5]), runs([1.0, 2.0, 1.5], algorithm="DQN")
    (group,) = many_seeds(better, worse).groups
    assert group.improvement is not None
    assert group.improvement.value == 1.0
    (apart,) = many_seeds(better, runs([1.0, 2.0], protocol="p2")).groups
    assert apart.improvement is None
    assert any("not compared" in remark for remark in apart.remarks)
    (alone,) = many_seeds(better, runs([1.0])).groups
    assert alone.improvement is None


def test_tasks_are_pooled_only_in_one_unit() -> None:
    a, b = runs([0.2, 0.4, 0.6], task="A"), runs([0.1, 0.3, 0.5], task="B")
    assert many_seeds([*a, *b]).overall is not None
    c = runs([20.0, 40.0, 60.0], task="C")
    foreign = many_seeds([*a, *c])
    assert foreign.overall is None
    assert "--scale C=LOW:HIGH" in foreign.remarks[0]
    scaled = many_seeds([*a, *c], scale={"C": (0.0, 100.0)})
    assert scaled.overall is not None
    assert scaled.overall.value == pytest.approx(slow_iqm([0.2, 0.4, 0.6] * 2))


@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=30), st.floats(1, 40)
)  # fmt: skip
def test_the_final_score_is_the_mean_of_the_last_tenth(scores: list[float], horizon: float) -> None:
    run = some_run(0, step=np.arange(1.0, len(scores) + 1), score=np.array(scores))
    upto = [(i + 1, s) for i, s in enumerate(scores) if i + 1 <= horizon]
    late = [s for step, s in upto if step >= horizon - 0.1 * horizon] or [upto[-1][1]]
    assert final_score(run, horizon) == pytest.approx(sum(late) / len(late))


def table(split: str, checkpoint: str, values: dict[str, list[float]], protocol: str = "p1") -> list[Score]:
    return [Score(split, checkpoint, run, v, protocol) for run, several in values.items() for v in several]


def test_the_luck_of_the_choice_is_what_fresh_seeds_do_not_confirm() -> None:
    random = np.random.default_rng(0)
    many = [some_run(i, score=50 + random.normal(0, 10, 20), step=np.arange(20.0)) for i in range(8)]
    fresh = table("fresh", "best", {run.name: [50.0 + 0.1 * i, 50.0 - 0.1 * i] for i, run in enumerate(many)})
    found = selection(many, fresh)
    assert found.gain is not None
    assert found.gain.lo > 0
    assert found.gain.value == pytest.approx(np.mean([run.score.max() - 50 for run in many]))
    assert found.corrected is not None
    assert found.corrected.value == pytest.approx(50.0)
    assert found.evaluations == 20


def test_without_fresh_seeds_only_the_most_that_luck_can_do_is_told() -> None:
    many = [some_run(i, score=np.full(10, 50.0), noise=2.0) for i in range(3)]
    found = selection(many, [])
    assert found.gain is None
    assert found.expected == pytest.approx(2.0 * 1.5388, rel=1e-3)
    assert selection(runs([1.0]), []).expected is None
    one = selection(runs([1.0, 2.0]), table("fresh", "best", {"run0": [1.0]}))
    assert one.gain is None
    assert "single run" in one.remarks[-1]
    two = selection(runs([1.0, 2.0, 3.0]), table("fresh", "best", {"run0": [1.0], "run1": [1.5]}))
    assert two.gain is not None
    assert two.remarks == ("2 of 3 runs have a fresh evaluation",)
    assert two.expected is None


def test_the_private_set_is_compared_run_by_run_under_one_protocol() -> None:
    after = table("private", "best", {"0": [9.0], "1": [8.0], "2": [9.5]})
    before = table("private", "baseline", {"0": [2.0], "1": [1.0], "2": [3.0]})
    moved, protocols = private_change([*after, *before])
    assert moved is not None
    assert (moved.direction, protocols) == ("up", ("p1",))
    assert moved.difference is not None
    assert moved.difference.value == pytest.approx(np.mean([7.0, 7.0, 6.5]))
    apart, several = private_change([*after, *table("private", "baseline", {"0": [1.0]}, "q")])
    assert apart is None
    assert several == ("p1", "q")
    assert private_change(after)[0] is None
    single, _ = private_change([after[0], before[0]])
    assert single is not None
    assert single.direction == "unclear"
    assert single.difference is None


def test_the_training_reward_is_compared_with_the_baseline_where_there_is_one() -> None:
    mine = [some_run(i, reward=(10.0, 50.0 + i)) for i in range(4)]
    others = [some_run(i, reward=(10.0, 90.0 + i)) for i in range(4)]
    within, against = reward_change(mine, ()), reward_change(mine, others)
    assert within is not None
    assert against is not None
    assert (within.direction, against.direction) == ("up", "down")
    assert reward_change([replace(mine[0], reward=None)], ()) is None

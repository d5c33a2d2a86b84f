from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.ingest import Context, ingest
from firstbreak.ingest.attempts import Attempt, attempts, joined
from firstbreak.ingest.axis import with_real_steps
from firstbreak.ingest.foreign import on_one_axis
from firstbreak.ingest.state import run_state
from firstbreak.ingest.tidy import one_row_earlier, tidy
from firstbreak.runlog import Event, Recording
from firstbreak.series import Curve, Scope

NAN = float("nan")


def curve(step: Any, value: Any = None, wall: Any = None) -> Curve:
    return Curve(step, step if value is None else value, wall)


def recording(reader: str = "tensorboard", path: str = "a", **curves: Curve) -> Recording:
    return Recording(path, reader, curves={key.replace("__", "/"): c for key, c in curves.items()})


# ---- points in order ----------------------------------------------------------------------------------------------


def test_later_points_replace_what_a_resume_overlaps() -> None:
    tidied, resumes = tidy(curve([1, 2, 3, 4, 5, 3, 4, 5, 6], [1, 2, 3, 4, 5, 30, 40, 50, 60]))
    assert tidied.step.tolist() == [1, 2, 3, 4, 5, 6]
    assert tidied.value.tolist() == [1, 2, 30, 40, 50, 60]
    assert resumes == [3]


def test_a_resume_from_far_back_drops_the_whole_tail() -> None:
    tidied, resumes = tidy(curve([10, 20, 30, 40, 15, 45], [1, 2, 3, 4, 5, 6]))
    assert tidied.step.tolist() == [10, 15, 45]
    assert resumes == [15]


def test_a_point_slightly_out_of_order_is_not_a_resume() -> None:
    tidied, resumes = tidy(curve([1, 2, 4, 3, 5]))
    assert tidied.value.tolist() == [1, 2, 3, 4, 5]
    assert resumes == []


def test_the_last_of_several_points_at_a_step_counts_unless_they_are_episodes() -> None:
    repeated = curve([1, 1, 2], [5, 6, 7])
    assert tidy(repeated)[0].value.tolist() == [6, 7]
    assert tidy(repeated, keep_repeats=True)[0].value.tolist() == [5, 6, 7]


def test_points_without_a_step_are_dropped() -> None:
    assert tidy(curve([1, NAN, 3], [1, 2, 3]))[0].value.tolist() == [1, 3]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-5, 20), max_size=60), st.booleans())
def test_steps_never_go_back(steps: list[int], keep: bool) -> None:
    tidied, _ = tidy(curve(np.array(steps, dtype=float), np.arange(len(steps))), keep_repeats=keep)
    moves = np.diff(tidied.step)
    assert np.all(moves >= 0 if keep else moves > 0)
    assert set(tidied.step) <= set(steps)
    if steps:
        assert len(tidied) > 0


def test_one_row_earlier() -> None:
    rows = np.array([256.0, 512.0, 682.0, 768.0])
    moved = one_row_earlier(curve([512, 682], [1, 2]), rows)
    assert moved.step.tolist() == [256, 512]
    assert one_row_earlier(curve([256], [1]), rows).step.tolist() == [0]


# ---- attempts -----------------------------------------------------------------------------------------------------


def segment(name: str, steps: list[float], values: list[float], wall: float) -> Recording:
    return recording(path=name, loss=Curve(steps, values, [wall + i for i in range(len(steps))]))


def test_a_later_segment_is_a_resume() -> None:
    first = segment("1", [1, 2, 3, 4], [1, 2, 3, 4], 100)
    second = segment("2", [3, 4, 5], [30, 40, 50], 200)
    (attempt,) = attempts([second, first])
    whole = joined(attempt)
    assert whole.curves["loss"].value.tolist() == [1, 2, 30, 40, 50]
    assert whole.events == [Event("resume", 3.0, "2")]


def test_a_copy_of_the_beginning_counts_once() -> None:
    short = segment("1", [1, 2], [1, 2], 100)
    long = segment("2", [1, 2, 3], [1, 2.00001, 3], 200)
    (attempt,) = attempts([short, long])
    whole = joined(attempt)
    assert whole.curves["loss"].value.tolist() == [1, 2.00001, 3]
    assert "beginning" in str(whole.problems[0])


def test_other_numbers_from_the_same_step_are_another_run() -> None:
    assert len(attempts([segment("1", [1, 2], [1, 2], 100), segment("2", [1, 2], [1, 3], 200)])) == 2


def test_files_without_a_key_in_common_are_parts() -> None:
    parts = [recording(path="1", a=curve([1, 2])), recording(path="2", b=curve([1, 2]))]
    (attempt,) = attempts(parts)
    assert sorted(joined(attempt).curves) == ["a", "b"]
    assert not joined(attempt).events


def test_joining_leaves_the_parts_as_they_were() -> None:
    first, second = segment("1", [1, 2], [1, 2], 1), segment("2", [2, 3], [20, 30], 9)
    joined(Attempt([first, second]))
    assert first.curves["loss"].value.tolist() == [1, 2]
    assert first.events == []


# ---- axes, clocks, state ------------------------------------------------------------------------------------------


def test_row_numbers_give_way_to_the_logged_step() -> None:
    rows = np.arange(10.0)
    raw = recording("wandb", global_step=curve(rows, rows * 100), loss=curve([1, 5]))
    raw.events.append(Event("end", 9))
    found = with_real_steps(raw)
    assert found.curves["loss"].step.tolist() == [100, 500]
    assert "global_step" not in found.curves
    assert found.events[0].at == 900


@pytest.mark.parametrize("value", [np.zeros(10), np.arange(10.0)[::-1], np.full(10, NAN)])
def test_row_numbers_stay_where_the_logged_step_is_no_axis(value: np.ndarray[Any, Any]) -> None:
    raw = recording("wandb", global_step=curve(np.arange(10.0), value), loss=curve([1, 5]))
    assert with_real_steps(raw) is raw


def test_curves_that_count_updates_are_put_on_environment_steps() -> None:
    n = np.arange(1.0, 21.0)
    raw = recording(
        training__reward=curve(n * 1000, wall=n * 10),
        test__reward=curve(n[::5] * 1000, wall=n[::5] * 10 + 0.1),
        update__loss=curve(n, wall=n * 10 + 0.5),
        update__fine=curve(np.arange(100.0), wall=np.linspace(10, 200, 100)),
        short=curve([1, 2], wall=[10, 200]),
    )
    found = on_one_axis(raw, "env_steps")
    assert found.curves["update/loss"].step.tolist() == (n * 1000).tolist()
    assert found.curves["update/loss"].value.tolist() == n.tolist()
    assert np.unique(found.curves["update/fine"].step).size == 100
    for key in ("training/reward", "test/reward", "short"):
        assert found.curves[key] is raw.curves[key]
    assert "2 metrics" in str(found.problems[0])


def test_curves_of_one_axis_stay() -> None:
    n = np.arange(1.0, 21.0)
    raw = recording(a=curve(n, wall=n * 10), b=curve(n[::4], wall=n[::4] * 10 + 1), c=curve(n, wall=np.full(20, 5.0)))
    for clock in ("updates", "env_steps", "rows"):
        assert on_one_axis(raw, clock) is raw


def test_state() -> None:
    done = Recording("a", "x", modified=1000.0)
    assert run_state([done], {"total_steps": 100}, 99, None) == "finished"
    assert run_state([done], {"total_steps": 100}, 50, None) == ""
    assert run_state([done], {"total_steps": 100}, 50, 1100.0) == "running"
    assert run_state([done], {"total_steps": 100}, 50, 99_999.0) == "stalled"
    assert run_state([done], {}, 50, 99_999.0) == ""
    assert run_state([Recording("a", "x", ended="crashed")], {"total_steps": 1}, 50, None) == "crashed"
    slow = recording(a=curve([1, 2, 3], wall=[0, 3600, 7200]))
    slow.modified = 7200.0
    assert run_state([slow], {"total_steps": 100}, 3, 7200.0 + 9 * 3600) == "running"


# ---- the whole ----------------------------------------------------------------------------------------------------


def sb3(**curves: Curve) -> Recording:
    found = recording("sb3", **curves)
    found.framework, found.clock = "stable_baselines3", "env_steps"
    return found


ROWS = {"rollout__ep_rew_mean": curve([256, 512, 768]), "time__total_timesteps": curve([256, 512, 768])}


def test_what_the_previous_update_did_is_moved_to_its_row() -> None:
    after = curve([512, 768], [0.1, 0.2])
    log = ingest([sb3(**ROWS, train__approx_kl=after, train__clip_range=after, train__value_loss=after)], Context("x"))
    assert (log.framework, log.algorithm, log.clock) == ("stable_baselines3", "PPO", "env_steps")
    series = log.get("policy/kl_old")
    assert series is not None
    assert series.step.tolist() == [256, 512]
    assert series.lag_rows == 0
    assert "row before" in series.note


def test_the_same_metric_from_two_sources_is_counted_once_from_the_more_precise() -> None:
    rough = recording("tensorboard", "tb", rollout__ep_rew_mean=curve([256, 512, 768], [1.1, 2.2, 3.3]))
    fine = sb3(rollout__ep_rew_mean=curve([256, 512, 768], [1.11, 2.22, 3.33]))
    log = ingest([rough, fine], Context("x", rank_of=lambda name: 60 if name == "sb3" else 40))
    series = log.get("reward/episode_return_mean")
    assert series is not None
    assert series.value.tolist() == [1.11, 2.22, 3.33]
    assert set(log.provenance.readers) == {"tensorboard", "sb3"}
    assert not log.unmapped


def test_a_source_that_was_cut_short_gives_way() -> None:
    rough = recording("tensorboard", "tb", rollout__ep_rew_mean=curve(np.arange(100.0)))
    fine = sb3(rollout__ep_rew_mean=curve(np.arange(10.0)))
    log = ingest([rough, fine], Context("x", rank_of=lambda name: 60 if name == "sb3" else 40))
    series = log.get("reward/episode_return_mean")
    assert series is not None
    assert len(series) == 100


def test_several_episodes_may_end_at_one_step() -> None:
    log = ingest([sb3(**ROWS, monitor__r=curve([10, 10, 20], [1, 2, 3]))], Context("x"))
    series = log.get("reward/raw_episode_return")
    assert series is not None
    assert series.value.tolist() == [1, 2, 3]


def test_wall_time_ties_steps_to_seconds() -> None:
    log = ingest([sb3(rollout__ep_rew_mean=curve([100, 200], wall=[1000.0, 1010.0]))], Context("x"))
    assert log.clocks is not None
    assert log.clocks.convert(150, "seconds") == pytest.approx(5.0)


def test_another_clock_is_converted_through_what_ties_it() -> None:
    main = sb3(**ROWS, time__iterations=curve([256, 512, 768], [1, 2, 3]))
    other = recording("table", "other.csv", policy__kl_old=curve([1, 3], [0.1, 0.3]))
    other.clock = "updates"
    log = ingest([main, other], Context("x", names={"policy/kl_old": "policy/kl_old"}))
    series = log.get("policy/kl_old")
    assert series is not None
    assert series.step.tolist() == [256, 768]


def test_what_cannot_be_tied_is_not_used_and_says_so() -> None:
    other = recording("table", "other.csv", my_kl=curve([0, 1], [0.1, 0.3]))
    other.clock = "rows"
    log = ingest([sb3(**ROWS), other], Context("x", names={"my_kl": "policy/kl_old"}))
    assert log.get("policy/kl_old") is None
    assert "my_kl" in log.unmapped
    assert any("nothing ties" in str(problem) for problem in log.provenance.problems)


def test_resumes_become_one_event() -> None:
    steps = [1, 2, 3, 4, 5, 6, 3, 4, 5, 6]
    found = recording("jsonl", reward=curve(steps), loss=curve(steps), kl=curve(steps))
    log = ingest([found], Context("x"))
    assert [(event.name, event.at) for event in log.events] == [("resume", 3.0)]


def test_starting_again_is_not_a_resume() -> None:
    log = ingest([recording("jsonl", reward=curve([1, 2, 1, 2, 3], [1, 2, 10, 20, 30]))], Context("x"))
    assert [(event.name, event.at) for event in log.events] == [("restart", 1.0)]
    assert log.last_step == 3 or not log.series


def test_the_users_words_win() -> None:
    found = recording("jsonl", my_metric=curve([1, 2], [0.5, NAN]))
    found.config = {"learning_rate": 0.1}
    context = Context("x", names={"my_metric": "policy/entropy"}, config={"gamma": 0.5}, overrides={"gamma": 0.9})
    log = ingest([found], context)
    series = log.get("policy/entropy", Scope())
    assert series is not None
    assert series.confidence == "user"
    assert np.isnan(series.value[1])
    assert log.config["gamma"] == 0.9
    assert log.config["lr"] == 0.1


def test_empty_and_all_nan_curves() -> None:
    log = ingest([sb3(**ROWS, train__value_loss=curve([256, 512], [NAN, NAN]), odd__key=curve([], []))], Context("x"))
    series = log.get("critic/loss")
    assert series is not None
    assert np.isnan(series.value).all()
    assert "odd/key" in log.unmapped


# ---- what the name of a run says ----------------------------------------------------------------------------------


def test_the_task_in_a_runs_name_counts_where_its_settings_name_none() -> None:
    rows = recording(rollout__ep_rew_mean=curve([1, 2, 3]))
    assert ingest([rows], Context(path="runs/CartPole-v1__ppo__1")).config["max_episode_steps"] == 500
    named = ingest([rows], Context(path="runs/CartPole-v1__ppo__1", config={"env": "Mine-v0"}))
    assert named.config["env_id"] == "Mine-v0"
    assert "max_episode_steps" not in named.config


# ---- shares -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "read"), [([10, 20, 15], [0.1, 0.2, 0.15]), ([0.1, 0.2, 1.0], None), ([NAN, NAN, NAN], [NAN] * 3)]
)
def test_percent_of_at_most_one_may_be_a_fraction_and_is_not_read(values: Any, read: list[float] | None) -> None:
    curves = {"policy_loss": curve([1, 2, 3]), "clip_pct": curve([1, 2, 3], values)}
    log = ingest([Recording("a", "tensorboard", curves=curves)], Context("run"))
    found = [series.value.tolist() for series in log.series if series.metric == "policy/clip_fraction"]
    np.testing.assert_equal(found, [] if read is None else [read])
    assert ("clip_pct" in log.unmapped) == (read is None)

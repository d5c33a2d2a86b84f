import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from firstbreak.monitor.adapters.summary_writer import MonitoredWriter
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action
from tests.unit.monitor.adapters.answering import Answering, Broken


def test_the_real_writer_writes_the_same_and_the_monitor_gets_rows(tmp_path):
    monitor = Answering()
    with MonitoredWriter(monitor, SummaryWriter(str(tmp_path))) as writer:
        writer.add_text("hyperparameters", "|a|b|")
        for step in (10, 20):
            writer.add_scalar("losses/approx_kl", 0.01 * step, step)
            writer.add_scalar("losses/entropy", 0.5, global_step=step)
            writer.add_scalars("both", {"x": 1.0, "y": math.nan}, step)
        assert writer.log_dir == str(tmp_path)
    assert [step for step, _ in monitor.given] == [10.0, 20.0]
    first = monitor.given[0][1]
    assert first.pop("both/y") != first.get("both/y")
    assert first == {"losses/approx_kl": pytest.approx(0.1), "losses/entropy": 0.5, "both/x": 1.0}
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [e.value for e in events.Scalars("losses/approx_kl")] == pytest.approx([0.1, 0.2])
    assert "hyperparameters/text_summary" in events.Tags()["tensors"]


def slow_rows(scalars):
    """Rows as a person would cut them: a new one where the step changes or a tag comes again."""
    rows = []
    for tag, value, step in scalars:
        if not rows or rows[-1][0] != step or tag in rows[-1][1]:
            rows.append((step, {}))
        rows[-1][1][tag] = value
    return rows


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(allow_nan=False), st.integers(0, 4)), max_size=30))
@settings(max_examples=60, deadline=None)
def test_rows_are_cut_where_the_step_changes_or_a_tag_comes_again(scalars):
    monitor = Answering()
    writer = MonitoredWriter(monitor)
    for tag, value, step in scalars:
        writer.add_scalar(tag, value, step)
    writer.close()
    assert monitor.given == slow_rows(scalars)


def test_scalars_without_step_are_counted():
    monitor = Answering()
    writer = MonitoredWriter(monitor)
    for value in (1.0, 2.0, 3.0):
        writer.add_scalar("loss", value)
    writer.flush()
    assert monitor.given == [(0.0, {"loss": 1.0}), (1.0, {"loss": 2.0}), (2.0, {"loss": 3.0})]


def test_judge_gives_the_verdict_at_once():
    writer = MonitoredWriter(Answering(Action.STOP_TRAINING, at=1))
    writer.add_scalar("loss", 1.0, 1)
    assert writer.judge().proceed
    writer.add_scalar("loss", 2.0, 2)
    assert writer.judge().stop_training
    assert writer.verdict.stop_training


def test_without_a_writer_everything_else_goes_nowhere():
    writer = MonitoredWriter(Answering())
    writer.add_histogram("weights", [1, 2], 0)
    with pytest.raises(AttributeError):
        _ = writer.log_dir


def test_a_broken_monitor_and_odd_steps_stop_nothing(tmp_path):
    writer = MonitoredWriter(Broken(), SummaryWriter(str(tmp_path)))
    for step in (1, 2):
        writer.add_scalar("loss", 1.0, step)
    assert writer.judge().proceed
    writer.close()
    odd = MonitoredWriter(Answering())
    odd.add_scalar("loss", 1.0, "late")
    assert odd.judge().proceed
    assert odd.monitor.given == [(0.0, {"loss": 1.0})]


def test_cleanrl_keys_raise_an_alarm():
    monitor = Monitor(None, algorithm="PPO")
    writer = MonitoredWriter(monitor)
    for step in range(512, 30 * 512, 512):
        broken = step > 20 * 512
        writer.add_scalar("losses/approx_kl", math.nan if broken else 0.01, step)
        writer.add_scalar("losses/value_loss", 1.0 + step % 3, step)
        writer.add_scalar("charts/SPS", 100.0, step)
    writer.close()
    monitor.close()
    assert "nonfinite-metric" in {alarm.finding.name for alarm in monitor.alarms}

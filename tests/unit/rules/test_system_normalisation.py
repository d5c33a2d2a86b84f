"""Throughput and memory are judged per unit of work, and an ended log is not a stalled one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstbreak import synth
from firstbreak.engine import Ending, run_rules
from firstbreak.rules.system_resources import gpu_memory_growth, run_stalled, throughput_decay
from firstbreak.series import Curve
from firstbreak.window import cut

GRPO = synth.like("GRPO")
SLOWER = {"time/step": synth.ramp(30, 200)}


def test_longer_steps_are_excused_by_longer_responses() -> None:
    assert run_rules(GRPO(SLOWER), [throughput_decay.detect])[0].findings
    longer = GRPO(SLOWER | {"seq/len_mean": synth.ramp(200, 1333)})
    assert not run_rules(longer, [throughput_decay.detect])[0].findings


def test_shorter_responses_do_not_make_a_constant_step_a_decay() -> None:
    shorter = GRPO({"time/step": synth.flat(30, 0.05), "seq/len_mean": synth.ramp(800, 100)})
    assert run_rules(shorter, [throughput_decay.detect])[0].status is Ending.SKIPPED


def test_averages_since_the_start_are_not_judged() -> None:
    log = synth.like("PPO", framework="stable_baselines3")({"time/fps": synth.ramp(5000, 1000)})
    assert run_rules(log, [throughput_decay.detect])[0].status is Ending.SKIPPED


@pytest.mark.parametrize(("length", "alarm"), [(250.0, True), (900.0, False)])
def test_memory_that_follows_the_longest_response_is_no_leak(length: float, alarm: bool) -> None:
    log = GRPO({"system/gpu_mem_gb": synth.ramp(40, 65, 0.005), "seq/len_max": synth.ramp(240, length)})
    assert bool(run_rules(log, [gpu_memory_growth.detect])[0].findings) is alarm


@pytest.mark.parametrize("state", ["finished", "running", "crashed", ""])
def test_only_a_stalled_log_is_stalled(state: str) -> None:
    log = GRPO({})
    assert run_rules(replace(log, state="stalled"), [run_stalled.detect])[0].findings
    assert not run_rules(replace(log, state=state), [run_stalled.detect])[0].findings


def test_a_log_without_rows_never_stalled() -> None:
    empty = replace(GRPO({}), state="stalled", series=())
    assert run_rules(empty, [run_stalled.detect])[0].status is Ending.SKIPPED
    assert len(cut(GRPO({}), hi=3).series[0].curve) == len(Curve([1, 2, 3], [0, 0, 0]))

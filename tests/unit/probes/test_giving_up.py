"""Trainings that nobody needs any more are given up at once, also those that say nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from firstbreak.isolation import Limits
from firstbreak.probes.ladder.trial import Order
from firstbreak.probes.running.children import Children

SILENT = """
import pathlib, time

def train(make_env, *, total_steps, seed):
    (pathlib.Path(__file__).parent / "begun").touch()
    time.sleep(100)
"""


@pytest.mark.parametrize("ahead", [True, False])
def test_closing_does_not_wait_for_a_silent_training(tmp_path: Path, ahead: bool) -> None:
    (tmp_path / "silent_trainer.py").write_text(SILENT)
    children = Children(f"{tmp_path / 'silent_trainer.py'}:train", None, 64, Limits(90.0, 80.0), jobs=1)
    orders = [Order("constant-value", "discrete", 0)]
    if ahead:
        children.order_ahead(orders)
    else:
        children._start([orders], even_if_stopped=True)
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert (tmp_path / "begun").exists()
    start = time.monotonic()
    children.close()
    assert time.monotonic() - start < 20
    assert children.done == {}
    assert children.fault is None

"""An adapter that was given the wrong thing says so when it is made: later its faults are kept from sight."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from firstbreak import Monitor
from firstbreak.errors import InputError
from firstbreak.monitor.adapters import areal, reference, rsl_rl, sb3, summary_writer, verl
from firstbreak.monitor.adapters.parts import refusing

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from firstbreak.monitor.adapters import torchrl

torch.set_num_threads(1)


class Tracker:
    """Has what verl's and AReaL's loggers have, and a runner of rsl_rl."""

    def log(self, data: Any, step: Any, backend: Any = None) -> None:
        """Log nowhere."""

    commit = learn = log


GIVEN: list[Callable[[Any], Any]] = [
    sb3.MonitorCallback,
    torchrl.MonitorHook,
    summary_writer.MonitoredWriter,
    reference.log_to,
    lambda monitor: verl.monitored(Tracker(), monitor),
    lambda monitor: areal.monitored(Tracker(), monitor),
    lambda monitor: rsl_rl.watch_runner(Tracker(), monitor),
]


@pytest.mark.parametrize("give", GIVEN)
@pytest.mark.parametrize("wrong", ["runs/x", None, Tracker()], ids=["a path", "nothing", "a logger"])
def test_what_is_no_monitor_is_refused(give: Callable[[Any], Any], wrong: Any) -> None:
    with pytest.raises(InputError, match=rf"type {type(wrong).__name__} was given as monitor"):
        give(wrong)


@pytest.mark.parametrize(
    ("watch", "says"),
    [(verl.monitored, "verl's `Tracking`"), (areal.monitored, "`StatsLogger`"), (rsl_rl.watch_runner, "Runner")],
)
def test_so_is_what_cannot_be_watched(watch: Callable[[Any, Any], Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        watch(object(), Monitor())


@pytest.mark.parametrize("rows", [0, -1, 2.5, True])
@pytest.mark.parametrize("adapter", [sb3.MonitorCallback, torchrl.MonitorHook, reference.log_to])
def test_checkpoints_are_some_rows_apart(adapter: Any, rows: Any) -> None:
    with pytest.raises(InputError, match="checkpoint_rows"):
        adapter(Monitor(), checkpoint_rows=rows)


def test_so_are_optimisers_without_names_and_what_is_no_loss_module() -> None:
    network: Any = torch.nn.Linear(2, 2)
    with pytest.raises(InputError, match="By name"):
        torchrl.LossWatch(network, [torch.optim.Adam(network.parameters())])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="LossModule"):
        torchrl.LossWatch("loss", {})


def test_a_monitor_is_taken() -> None:
    monitor = Monitor()
    assert refusing.insist(monitor, 10) is monitor


@pytest.mark.full
def test_arguments_in_the_wrong_order_are_refused() -> None:
    from firstbreak.monitor.adapters import transformers, trl

    for watch in (transformers.watch, trl.watch):
        with pytest.raises(InputError, match="no `add_callback`"):
            watch(object(), Monitor())
        with pytest.raises(InputError, match="given as monitor"):
            watch(Tracker(), Tracker())  # type: ignore[arg-type]

"""A TorchRL trainer's replay buffer that is emptied, or whose newest rows do not follow from one another, is named."""

from __future__ import annotations

import pytest
import torch

from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import torchrl_worlds as worlds

torch.set_num_threads(1)
SIZE, CHAIN = "replay/size", "replay/chain_broken_frac"


class Rows(Monitor):
    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        self.seen += [(step, name, metrics[name]) for name in (SIZE, CHAIN) if name in metrics]
        return super()._log(metrics, step, clock)

    def of(self, wanted):
        return [value for _, name, value in self.seen if name == wanted]


def buffer_of(trainer):
    return next(iter(trainer._process_optim_batch_ops))[0].__wrapped__.__self__.replay_buffer


def emptied(trainer):
    buffer_of(trainer).empty()


def aliased(trainer):
    """What followed is written over by what comes next but one, as when one array is handed out."""
    buffer = buffer_of(trainer)
    usual = buffer.extend

    def extend(rows):
        rows["next", "observation"] = rows["next", "observation"].roll(-1, 0)
        return usual(rows)

    buffer.extend = extend


def train(make, fault=None, batches=40, **more):
    from firstbreak.monitor.adapters.torchrl import MonitorHook  # its own imports warn, but for those of the worlds

    monitor, seen = Rows(), []

    class Planting(MonitorHook):
        def register(self, trainer, name="monitor"):
            super().register(trainer, name)
            trainer.register_op("post_steps", self._count)

        def _count(self):
            seen.append(1)
            if fault is not None and len(seen) == 30:
                fault(self._trainer)

    make(frames=32 * batches, hook=Planting(monitor), **more)
    monitor.close()
    assert monitor.faults == []
    return monitor


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("make", [worlds.sac, worlds.td3])
def test_a_sound_buffer(make, copies):
    monitor = train(make, copies=copies)
    assert monitor.of(SIZE)[:3] == [32, 64, 96]
    assert monitor.of(SIZE)[-1] == 500  # it is full, and written over
    assert set(monitor.of(CHAIN)) == {0.0}
    assert not [alarm for alarm in monitor.alarms if alarm.finding.name.startswith("replay")]


def test_batches_that_are_drawn_from_themselves_are_no_replay():
    assert train(worlds.ppo).seen == []


def several_steps(rows):
    """What followed lies three steps on, as with returns of several steps."""
    rows["next", "observation"] = rows["next", "observation"].roll(-2, 0)


def test_rows_of_several_steps_never_follow_from_one_another():
    monitor = train(worlds.sac, on_batch=several_steps)
    assert monitor.of(CHAIN) == []
    assert len(monitor.of(SIZE)) == 40


@pytest.mark.parametrize(("fault", "name"), [(emptied, "replay-emptied"), (aliased, "replay-chain-broken")])
def test_what_is_lost_or_written_over_is_named(fault, name):
    large = {"storage": worlds.LazyTensorStorage(5000)}
    monitor = train(worlds.sac, fault, buffer=large)
    found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == name]
    assert found
    assert 32 * 30 < found[0] <= 32 * 33

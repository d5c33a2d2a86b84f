"""Numbers put together when they are first asked for, against a history that puts all together at every row."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firstbreak.monitor.history import History
from firstbreak.monitor.shelf import MANY_BATCHES
from firstbreak.runlog import RunLog
from firstbreak.series import Series
from firstbreak.stats import median

KEYS = ("policy/kl_old", "policy/entropy", "critic/loss", "reward/episode_return", "time/env_steps", "my/own")
LAYOUTS = (KEYS, KEYS[:2], KEYS[1:4], (KEYS[3],), KEYS[4:])


def told(series: Series) -> tuple[object, ...]:
    wall = None if series.wall is None else series.wall.tolist()
    numbers = (series.step.tolist(), [repr(value) for value in series.value.tolist()], wall, repr(series.whole))
    return series.metric, series.scope, series.source_key, numbers, series.proven, len(series)


def same(one: RunLog, other: RunLog) -> None:
    assert [told(series) for series in one.series] == [told(series) for series in other.series]
    assert one.last_step == other.last_step == max((s.step.item(-1) for s in one.series if len(s)), default=0.0)
    assert one.unmapped.keys() == other.unmapped.keys()
    assert (one.clocks is None) == (other.clocks is None)
    if one.clocks is not None and other.clocks is not None:
        assert one.clocks.at.tolist() == other.clocks.at.tolist()
        assert {k: v.tolist() for k, v in one.clocks.others.items()} == {
            k: v.tolist() for k, v in other.clocks.others.items()
        }


@pytest.mark.parametrize("seed", range(8))
def test_whatever_was_asked_on_the_way_the_run_is_the_same(seed: int) -> None:
    chance = np.random.default_rng(seed)
    at_once, late = History("", algorithm="PPO"), History("", algorithm="PPO")
    layouts, step = LAYOUTS[: 1 + seed % len(LAYOUTS)], 0.0
    for row in range(400):
        step = max(0.0, step + float(chance.choice([0, 1, 1, 1, 1, -5], p=[0.1, 0.3, 0.3, 0.1, 0.18, 0.02])))
        keys = layouts[int(chance.integers(len(layouts)))]
        values = np.where(chance.random(len(keys)) < 0.02, math.nan, chance.normal(size=len(keys))).tolist()
        for history in (at_once, late):
            history.add(keys, values, step, 1e9 + row)
        at_once.log()
        if chance.random() < 0.2:
            log = late.late_log()
            for series in log.series:
                if chance.random() < 0.3:
                    assert len(series.curve.step) == len(series.value)
        if chance.random() < 0.01:
            for history in (at_once, late):
                history.configure({"gamma": float(row)})
        if chance.random() < 0.01:
            step = max(0.0, step - 20)
            for history in (at_once, late):
                history.cut(step)
        if chance.random() < 0.02:
            same(at_once.log(), late.late_log())
    same(at_once.log(), late.log())


def test_what_is_not_asked_for_is_not_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clocks: of a look that reads one key, one track takes its rows."""
    from firstbreak.monitor.track import Track

    taken: list[Track] = []
    real = Track.extend

    def extend(self: Track, *rows: object, **more: bool) -> None:
        taken.append(self)
        real(self, *rows, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Track, "extend", extend)
    history = History("", algorithm="PPO", clock="updates")
    for row in range(MANY_BATCHES // 2):
        history.add(KEYS, [1.0] * len(KEYS), float(row), 0.0)
        log = history.late_log()
        assert log.last_step == row
        loss = log.get("critic/loss")
        assert loss is not None
        assert median(loss.value) == 1.0
    assert len(set(taken)) == 1


def test_a_log_that_is_kept_stays_as_it_was() -> None:
    history = History("", algorithm="PPO", clock="updates")
    history.add(KEYS, [1.0] * len(KEYS), 0.0, 0.0)
    kept, looked_at = history.log(), history.late_log()
    history.add(KEYS, [2.0] * len(KEYS), 1.0, 0.0)
    history.log()
    assert [series.value.tolist() for series in kept.series] == [[1.0]] * len(kept.series)
    assert looked_at.series[0].value.tolist() == [1.0]  # put together before, for `kept`
    newer = history.late_log()
    history.add(KEYS, [3.0] * len(KEYS), 2.0, 0.0)
    stale = history.late_log()
    history.add(KEYS, [4.0] * len(KEYS), 3.0, 0.0)
    history.late_log()
    assert newer.series[0].value.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="earlier row"):
        assert stale.series[0].value.size

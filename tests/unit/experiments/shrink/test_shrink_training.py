"""Shrinking real trainings: the settings that together hold a policy down, out of those that merely differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firstbreak.experiments.shrink import shrink
from firstbreak.experiments.shrink.numbers import Size
from tests.unit.experiments.batch.trainers import train

GOOD = {"learning_rate": 6.0, "max_staleness": 0, "length_pays": 0.0, "style_pays": 0.0, "updates": 60}
BAD = {"learning_rate": 0.5, "max_staleness": 20, "length_pays": 0.02, "style_pays": 0.05, "updates": 60}


def scores_low(config: Mapping[str, Any], seed: int) -> bool:
    """Whether the private score stays below 0.8 over the second half of a training."""
    scores: list[float] = []
    settings = dict(config)
    train(seed=seed, log=lambda metrics, update: scores.append(metrics["reward/eval_mean"]), **settings)
    later = scores[len(scores) // 2 :]
    return sum(later) / len(later) < 0.8


def test_a_slow_rate_and_stale_data_do_it_together() -> None:
    found = shrink(BAD, GOOD, scores_low)
    assert {d.key for d in found.needed} == {"learning_rate", "max_staleness"}
    assert {d.key for d in found.given_up} == {"length_pays", "style_pays"}
    assert found.minimal
    assert found.pilot[0].shown == found.pilot[0].runs
    assert found.pilot[1].shown == 0


def test_and_it_shows_in_a_shorter_run() -> None:
    found = shrink(BAD, GOOD, scores_low, sizes=(Size("updates"),))
    assert found.config["updates"] < 60
    assert found.again is not None
    assert found.again.shows


IDLE = {"folder": "a", "name": "first", "log_every": 1, "save_every": 50, "workers": 2, "verbose": 0, "entity": "me"}
"""What a configuration holds beside what trains."""


def test_two_of_twelve_settings_are_found_to_be_needed() -> None:
    good = {**GOOD, **IDLE}
    bad = {**BAD, **{name: f"{value}1" if isinstance(value, str) else value + 1 for name, value in IDLE.items()}}
    differing = [name for name in bad if bad[name] != good[name]]
    tried: list[int] = []

    def low(config: Mapping[str, Any], seed: int) -> bool:
        tried.append(seed)
        return scores_low({k: v for k, v in config.items() if k not in IDLE}, seed)

    found = shrink({**bad, "without": "style"}, {**good, "without": ""}, low)
    assert len(differing) + 1 == 12
    assert {d.key for d in found.needed} == {"learning_rate", "max_staleness"}
    assert len(found.given_up) == 10
    assert found.minimal
    assert len(tried) < 2**8, "far fewer trainings than subsets"

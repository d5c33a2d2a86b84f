"""The walk: every experiment that needs a trainer was made on a real one, where it is true and where it is not."""

from __future__ import annotations

import json

from benchmarks.settle.walk import KEPT, key
from benchmarks.settle.walk_cases import CASES
from firstbreak.experiments.experiment import TRAINER, all_experiments


def test_every_experiment_with_a_trainer_is_walked_both_ways() -> None:
    walked = {(case.experiment, case.confirms) for case in CASES}
    for one in all_experiments():
        if TRAINER.name in {need.name for need in one.needs}:
            assert {(one.name, True), (one.name, False)} <= walked, one.name


def test_what_is_kept_is_what_the_cases_ask_for_and_came_out_as_they_say() -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    assert set(kept) == {key(case) for case in CASES}
    for case in CASES:
        made = kept[key(case)]
        assert made["why"] == case.why
        assert made["wanted"] == ("confirmed" if case.confirms else "refuted")
        assert made["outcome"] == made["wanted"], made

"""Experiments that train: each confirmed, refuted, inconclusive and not reproduced, on a small real trainer."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.errors import FirstbreakError, InputError
from firstbreak.experiments.language.reference import builtin
from firstbreak.experiments.language.training import Curves
from firstbreak.experiments.result import Outcome, Result, Why
from tests.unit.experiments.batch.here import conduct

CONFIRMED, REFUTED, OPEN = Outcome.CONFIRMED, Outcome.REFUTED, Outcome.INCONCLUSIVE


def trained(name: str, trainer: str = "train", *, most: int = 5, margin: float | None = None,
            settings: dict[str, Any] | None = None, **given: Any) -> Result:  # fmt: skip
    target = f"trainers.py:{trainer}"
    return conduct(name, trainer=target, steps=60, most=most, margin=margin, settings=settings, **given)


CASES: list[tuple[str, dict[str, Any], Outcome, Why]] = [
    ("length-penalty", {"settings": {"length_pays": 0.1}}, CONFIRMED, Why.DECIDED),
    ("length-penalty", {"settings": {"length_pays": 0.1, "length_needed": 6}, "penalty": 0.3}, REFUTED, Why.DECIDED),
    (
        "length-penalty",
        {"settings": {"length_pays": 0.1, "length_needed": 3}, "penalty": 0.12, "margin": 0.03},
        OPEN,
        Why.TOO_FEW_SEEDS,
    ),
    ("length-penalty", {}, OPEN, Why.NOT_REPRODUCED),
    ("component-ablation", {"settings": {"style_pays": 0.9}, "component": "style"}, CONFIRMED, Why.DECIDED),
    ("component-ablation", {"component": "style"}, REFUTED, Why.DECIDED),
    (
        "component-ablation",
        {"settings": {"style_pays": 0.9}, "component": "style", "margin": 0.178},
        OPEN,
        Why.TOO_FEW_SEEDS,
    ),
    ("one-setting", {"settings": {"style_pays": 0.9}, "setting": "style_pays", "value": 0.0}, CONFIRMED, Why.DECIDED),
    ("one-setting", {"setting": "max_staleness", "value": 2}, REFUTED, Why.DECIDED),
    (
        "one-setting",
        {
            "settings": {"length_pays": 0.1},
            "setting": "length_pays",
            "value": 0.0,
            "reading": "seq/len_mean",
            "moves": "down",
        },
        CONFIRMED,
        Why.DECIDED,
    ),
    ("train-on-test", {"settings": {"wrong_labels": True}}, CONFIRMED, Why.DECIDED),
    ("train-on-test", {"settings": {"learning_rate": 0.0}}, REFUTED, Why.DECIDED),
    ("train-on-test", {"settings": {"wrong_labels": True}, "margin": 0.63}, OPEN, Why.TOO_FEW_SEEDS),
    ("train-on-test", {}, OPEN, Why.NOT_REPRODUCED),
    ("sync-vs-async", {"settings": {"max_staleness": 20}}, CONFIRMED, Why.DECIDED),
    ("sync-vs-async", {"settings": {"max_staleness": 2}}, REFUTED, Why.DECIDED),
    (
        "sync-vs-async",
        {"settings": {"max_staleness": 8, "learning_rate": 2.0}, "margin": 0.057},
        OPEN,
        Why.TOO_FEW_SEEDS,
    ),
]


@pytest.mark.parametrize(("name", "how", "outcome", "why"), CASES)
def test_each_verdict_on_a_real_training(name: str, how: dict[str, Any], outcome: Outcome, why: Why) -> None:
    result = trained(name, **how)
    assert (result.outcome, result.why) == (outcome, why), (result.words, result.effects)


def test_the_arms_differ_in_the_changed_setting_alone_whatever_it_is_called() -> None:
    result = trained(
        "sync-vs-async",
        "narrow",
        settings={"max_head_offpolicyness": 20},
        max_staleness_argument="max_head_offpolicyness",
    )
    assert result.outcome is REFUTED
    assert result.used["control"] == {"max_staleness": 20}
    assert result.used["changed"] == {"max_staleness": 0}


def test_a_trainer_that_lacks_the_setting_is_told_how_to_name_it() -> None:
    with pytest.raises(InputError, match="takes no without") as caught:
        trained("component-ablation", "narrow", component="style")
    assert "--with without_argument=NAME" in caught.value.hint


def test_a_trainer_that_ignores_its_seed_is_found_out() -> None:
    result = trained("component-ablation", "seedless", component="style")
    assert result.why is Why.SEED_IGNORED


def test_a_trainer_that_logs_nothing_or_no_score_is_refused() -> None:
    with pytest.raises(InputError, match="logged nothing"):
        trained("sync-vs-async", settings={"silent": True})
    with pytest.raises(InputError, match="logged no my/score"):
        trained("sync-vs-async", score="my/score")


def test_curves_average_over_their_ends() -> None:
    curves = Curves()
    for update in range(1, 41):
        curves.add({"a": float(update), "b": float("nan"), "c": "text"}, update)
        if update % 20 == 0:
            curves.add({"rare": float(update)}, update)
    assert curves.start("a") == 2.5  # updates 1 to 4
    assert curves.end("a") == 35.0  # updates 30 to 40
    assert curves.rise("a") == 32.5
    assert (curves.start("rare"), curves.end("rare")) == (20.0, 40.0)
    assert set(curves.values) == {"a", "rare"}


def test_only_known_small_trainers_are_offered() -> None:
    assert callable(builtin("GRPO"))
    with pytest.raises(FirstbreakError, match="No language trainer named 'GRP'"):
        builtin("GRP")
    with pytest.raises(FirstbreakError, match="No setting of GRPO named 'temprature'"):
        builtin("GRPO")(updates=1, seed=0, log=print, temprature=1.0)

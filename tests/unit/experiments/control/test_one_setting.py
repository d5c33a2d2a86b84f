"""One setting by its meaning or its own name; a second one, an unknown one and one that changes nothing are refused."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.experiments import Subject
from firstbreak.experiments.control.one_setting import change_of, keyword_of
from tests.unit.experiments.control.test_control_verdicts import TOYS


def subject(setting: Any, value: Any, trainer: str = "good_with_epochs", **settings: Any) -> Subject:
    given = {"setting": setting, "value": value}
    return Subject(f"{TOYS}:{trainer}", f"{TOYS}:arms", settings=settings, given=given)


def grpo(*, updates: int, seed: int, log: Any, beta: float = 0.04, **settings: Any) -> None:
    """A trainer of a language model."""


@pytest.mark.parametrize(
    ("setting", "value", "changed"),
    [
        ("learning_rate", 0.1, {"learning_rate": 0.1}),
        ("learning_rate", "x10", {"learning_rate": 5.0}),
        ("learning_rate", "x0.5", {"learning_rate": 0.25}),
        ("epochs", 7, {"epochs": 7}),
        ("discount", 0.5, {"gamma": 0.5}),
    ],
)
def test_what_is_changed(setting: str, value: Any, changed: dict[str, Any]) -> None:
    settings, new = change_of(subject(setting, value))
    assert settings == changed
    assert new == next(iter(changed.values()))


def test_the_users_own_value_is_what_counts() -> None:
    assert change_of(subject("learning_rate", "x10", learning_rate=0.2))[0] == {"learning_rate": 2.0}


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("learning_rate,epochs", 1, "more than one setting"),
        ("learning_rate epochs", 1, "more than one setting"),
        (["learning_rate", "epochs"], 1, "more than one setting"),
        ("learning_rate", {"learning_rate": 1, "epochs": 2}, "more than one setting"),
        ("no_such_setting", 1, "has no setting no_such_setting"),
        ("entropy_coefficient", 0, "has no setting that is known as entropy coefficient"),
        ("learning_rate", 0.5, "nothing is changed"),
        ("discount", "x2", "there is no x2 of it"),
    ],
)
def test_what_is_refused(setting: Any, value: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        change_of(subject(setting, value))


def test_a_language_model_is_told_by_keyword() -> None:
    def asked(setting: str, value: Any, settings: dict[str, Any] | None = None, **given: Any) -> tuple[str, Any]:
        named = {"setting": setting, "value": value, **given}
        return keyword_of(Subject("m:grpo", settings=settings or {}, given=named), grpo)

    assert asked("kl_coefficient", "x10") == ("beta", pytest.approx(0.4))
    assert asked("kl_coefficient", "x10", {"beta": 1.0}) == ("beta", 10.0)
    assert asked("clip_high", 0.28) == ("clip_high", 0.28)
    assert asked("entropy_coefficient", 0, entropy_coefficient_setting="bonus") == ("bonus", 0)
    with pytest.raises(InputError, match="known as entropy coefficient"):
        asked("entropy_coefficient", 0)
    with pytest.raises(InputError, match="nothing is changed"):
        asked("beta", 0.04)

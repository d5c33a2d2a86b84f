"""Settings, seeds and the folder of a run, from its command."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.context.settings import arguments, run_folder, seeds, word_value


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("python t.py --lr 3e-4 --gamma=0.99", {"lr": 3e-4, "gamma": 0.99}),
        ("python t.py --anneal --seed 1", {"anneal": True, "seed": 1}),
        ("python t.py --shift -0.5 --flag --n 3", {"shift": -0.5, "flag": True, "n": 3}),
        ("python t.py algo.lr=1e-3 +env.id=Ant-v4 ++x=null", {"algo.lr": 1e-3, "env.id": "Ant-v4", "x": None}),
        ("python -m train --model gpt2", {"model": "gpt2"}),
        ("python t.py", {}),
        ("", {}),
    ],
)
def test_options_of_a_command(command: str, found: dict[str, Any]) -> None:
    options = arguments(command.split())
    options.pop("m", None)
    assert options == found


@given(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.booleans()))
def test_numbers_survive_the_command_line(value: float) -> None:
    back = word_value(str(value))
    assert back == value
    assert isinstance(back, bool) == isinstance(value, bool)


@given(st.text(max_size=60))
def test_any_word_has_a_value(text: str) -> None:
    value = word_value(text)
    assert value is None or isinstance(value, str | bool | int | float)
    assert not (isinstance(value, float) and math.isnan(value) and "nan" not in text.lower())


def test_seeds_are_found_in_all_three_places() -> None:
    found = seeds({"seed": 3}, {"env.env_seed": 4, "seed": 5, "seedling": 6}, {"PYTHONHASHSEED": "0"})
    assert found == {"argument --seed": 3, "config env.env_seed": 4, "environment PYTHONHASHSEED": 0}


@pytest.mark.parametrize("value", [None, True, -1, "random", 1.5, []])
def test_what_is_no_seed_is_none(value: Any) -> None:
    assert seeds({"seed": value}, {}, {}) == {}


def test_the_folder_that_a_command_names_is_the_runs() -> None:
    assert str(run_folder(arguments(["t.py", "--output_dir", "runs/a"]))) == "runs/a"
    assert run_folder(arguments(["t.py", "--out", "3"])) is None
    assert run_folder({}) is None

"""A limit that is passed for some rows on end, against the slow way: look at every row for itself."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.finding import Detection
from firstbreak.lasting import lasting
from firstbreak.view import RunView

METRIC = "sample/unlike_policy_z"


@dataclass(frozen=True)
class Limits:
    limit: float = 2.0
    rows: int = 3


def ask(values: list[float], *, either_sign: bool = False) -> Detection | None:
    """What is found in a run whose metric takes these values, a row at each of the steps 1, 2, ..."""
    log = synth.run({METRIC: lambda t, rng: np.asarray(values)}, n=len(values))
    return lasting(RunView(log), METRIC, Limits(), lambda value: f"{value:g}", either_sign=either_sign)


def first_of_three(values: list[float]) -> int | None:
    """Index of the first of three rows on end that reach 2, looked for one by one."""
    for index in range(len(values) - 2):
        if all(value >= 2.0 for value in values[index : index + 3]):
            return index
    return None


@given(st.lists(st.integers(-3, 4), min_size=1, max_size=12))
def test_rows_are_counted_one_by_one(values: list[int]):
    found = ask([float(v) for v in values])
    at = first_of_three([float(v) for v in values])
    assert (found is None) == (at is None)
    if found is not None and at is not None:
        counted = statistics.median([v for v in values[at:] if v >= 2])
        assert found.evidence == {"value": counted, "limit": 2.0}
        assert found.message == f"{counted:g}"
        assert (found.onset.lo, found.onset.hi) == (float(max(at, 1)), float(at + 1))


@pytest.mark.parametrize(("either_sign", "fires"), [(False, False), (True, True)])
def test_the_other_side_counts_where_it_is_asked_for(either_sign: bool, fires: bool):
    found = ask([0.0, -3.0, -3.0, -3.0], either_sign=either_sign)
    assert (found is not None) == fires
    if found is not None:
        assert found.evidence["value"] == -3.0

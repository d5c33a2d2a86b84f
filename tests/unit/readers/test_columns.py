from __future__ import annotations

import numpy as np
import pytest

from firstbreak.readers.columns import Columns, as_number, numbers


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1.5", 1.5), (True, 1.0), ("False", 0.0), ("inf", np.inf), ("-Infinity", -np.inf), (3, 3.0), (10**400, np.inf)],
)
def test_what_counts_as_a_number(cell: object, number: float) -> None:
    assert as_number(cell) == number


@pytest.mark.parametrize("cell", ["", None, "abc", [1], {}, "2024"[:0]])
def test_what_does_not(cell: object) -> None:
    assert as_number(cell) is None


def test_a_date_is_seconds_since_the_epoch() -> None:
    assert as_number("2024-01-02T03:04:05+00:00") == 1704164645.0


def test_empty_and_null_are_missing_but_nan_is_kept() -> None:
    values, places, _ = numbers(["1", "", "nan", None, "inf"])
    assert places is not None
    assert places.tolist() == [0, 2, 4]
    assert np.isnan(values[1])
    assert np.isinf(values[2])


def test_text_is_told_apart() -> None:
    values, places, text = numbers(["a", "2", "b"])
    assert values.tolist() == [2.0]
    assert places is not None
    assert places.tolist() == [1]
    assert text == "b"


def test_sparse_columns_keep_their_rows() -> None:
    columns = Columns()
    columns.add(("a", "b"), ["1", ""])
    columns.add(("a", "b"), ["2", "5"])
    columns.add(("b",), ["6"])
    columns.flush()
    rows, values = columns.column("b")
    assert rows.tolist() == [1, 2]
    assert values.tolist() == [5.0, 6.0]
    assert columns.filled("a").tolist() == [1.0, 2.0, 2.0]


def test_memory_is_bounded_and_every_kept_point_is_a_real_one() -> None:
    columns = Columns(limit=1000)
    for i in range(5000):
        columns.add(("step", "eval"), [i, i if i % 1000 == 999 else None])
        if i % 100 == 0:
            columns.flush()
    columns.flush()
    rows, values = columns.column("step")
    assert values.size <= 1000
    assert np.array_equal(rows, values)
    assert columns.column("eval")[1].tolist() == [999, 1999, 2999, 3999, 4999]
    assert columns.thinned > 1


@pytest.mark.parametrize("plain", [True, False])
def test_rows_of_layouts_that_take_turns_stay_in_order(plain: bool) -> None:
    columns = Columns()
    for row in range(9):
        if row % 3:
            columns.add(("a", "b"), [row, 10.0 * row])
        else:
            columns.add(("b", "c"), [10.0 * row, float(row) if plain or row else None])
    columns.flush()
    assert columns.keys == (["b", "c", "a"] if plain else ["b", "a", "c"])
    assert [found.tolist() for found in columns.column("b")] == [list(range(9)), [10.0 * row for row in range(9)]]
    assert columns.column("a")[0].tolist() == [1, 2, 4, 5, 7, 8]
    assert columns.column("c")[1].tolist() == ([0.0, 3.0, 6.0] if plain else [3.0, 6.0])


def test_an_integer_beyond_a_float_is_infinite_among_plain_numbers() -> None:
    columns = Columns()
    columns.add(("a",), [10**400])
    columns.add(("a",), [1])
    columns.flush()
    assert columns.column("a")[1].tolist() == [float("inf"), 1.0]

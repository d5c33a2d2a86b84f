"""A stretch of a run: up to a step, the last share, the last steps."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.api import windowed
from firstbreak.errors import InputError
from firstbreak.loading import load
from firstbreak.runlog import RunLog
from firstbreak.window import cut, last_part


def log_of_rows(n: int = 100, step: float = 1.0) -> RunLog:
    return synth.run({"policy/loss": synth.ramp(0.0, 1.0, 0.0)}, n=n, step=step)


def steps(log: RunLog) -> list[float]:
    return log.series[0].step.tolist()


def test_both_ends_belong_to_the_stretch() -> None:
    assert steps(cut(log_of_rows(), 10, 12)) == [10.0, 11.0, 12.0]


def test_values_and_wall_times_stay_with_their_steps() -> None:
    log = load([{"step": i, "policy/loss": i * 10.0, "timestamp": 1.7e9 + i} for i in range(10)])
    part = cut(log, lo=7)
    assert part.series[0].value.tolist() == [70.0, 80.0, 90.0]
    if log.series[0].wall is not None:
        assert part.series[0].wall is not None
        assert part.series[0].wall.tolist() == log.series[0].wall[7:].tolist()


def test_series_that_end_before_it_are_dropped_and_unmapped_keys_are_cut() -> None:
    log = load({"policy/loss": [(i, 1.0) for i in range(10)], "my key": [(i, 2.0) for i in range(20)]})
    part = cut(log, lo=15)
    assert part.series == ()
    assert part.unmapped["my key"].step.tolist() == [15, 16, 17, 18, 19]


@pytest.mark.parametrize(
    ("text", "first"), [("20%", 81.0), ("30", 70.0), ("1e1", 90.0), ("100%", 1.0), ("500%", 1.0), ("9999", 1.0)]
)
def test_the_last_part(text: str, first: float) -> None:
    part = steps(last_part(log_of_rows(), text))
    assert part[0] == first
    assert part[-1] == 100.0


def test_a_share_counts_from_where_the_log_begins() -> None:
    resumed = cut(log_of_rows(1000), lo=901)
    assert steps(last_part(resumed, "50%"))[0] == 951.0


@pytest.mark.parametrize("text", ["", "%", "half", "0", "-5", "-20%", "nan", "20 %%"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a length") as caught:
        last_part(log_of_rows(), text)
    assert "20%" in caught.value.hint


def test_a_stretch_without_numbers_is_an_error_that_says_where_the_run_ends() -> None:
    with pytest.raises(InputError, match=r"(?s)no numbers in the part asked for.*step 100"):
        windowed(log_of_rows(), until=0.5)
    assert steps(windowed(log_of_rows(), last="10", until=50)) == list(range(40, 51))

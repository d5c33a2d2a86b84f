"""The screen against a slow twin that counts every row in at once, value by value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from firstbreak.monitor.attention import SLOWLY, Screens
from firstbreak.monitor.ranges import APART, BESIDE, EVERY, GROSS, LAG, REACH, SETTLED, Ranges

Row = dict[str, float]
ZERO = 1e-3


@dataclass
class Twin:
    """What was seen of one key."""

    low: float = math.inf
    high: float = -math.inf
    last: float = math.nan
    mean: float = math.nan
    away: float = 0.0
    rise: float = -math.inf
    fall: float = -math.inf
    pace: float = math.nan
    seen: int = 0
    still: int = 0
    bad: bool = False
    zero: float = math.nan

    def take(self, value: float, follow: bool) -> tuple[bool, bool]:
        """Return whether the value is odd, and whether it is gross."""
        odd = gross = False
        moved, step = value != self.last, value - self.last
        if math.isfinite(value):
            if self.seen >= SETTLED:
                odd = self.outside(value, REACH) or value * self.low < 0 < self.low or value * self.high < 0 > self.high
                odd = odd or (moved and self.still >= SETTLED)
                farthest = value > self.high or value < self.low
                odd = odd or (farthest and abs(value - self.mean) > APART * self.away)
                pace = 0.0 if math.isnan(self.pace) else self.pace
                leapt = step > APART * max(self.rise, pace) or -step > APART * max(self.fall, pace)
                odd = odd or (leapt and abs(value - self.mean) > BESIDE * self.away)
            odd = odd or (abs(value) > self.zero and not abs(self.last) > self.zero)
            gross = odd and self.outside(value, GROSS)
            self.low, self.high, self.seen = min(self.low, value), max(self.high, value), self.seen + 1
            if not math.isnan(step):
                self.rise, self.fall = max(self.rise, step), max(self.fall, -step)
                if follow:
                    pace = abs(step) if math.isnan(self.pace) else self.pace
                    self.pace = pace + LAG * (abs(step) - pace)
            if follow and math.isnan(self.mean):
                self.mean = value
            elif follow:
                change = value - self.mean
                self.mean, self.away = self.mean + LAG * change, self.away + LAG * (abs(change) - self.away)
        else:
            odd, self.bad, value = not self.bad, True, math.nan
        self.still, self.last = 0 if moved else self.still + 1, value
        return odd, gross

    def outside(self, value: float, times: float) -> bool:
        if self.low > self.high:  # nothing was seen yet
            return True
        reach = times * (self.high - self.low)
        return value > self.high + reach or value < self.low - reach


def course(chance: np.random.Generator, kind: int, rows: int) -> list[float]:
    """Values of a key: noise, what rests and moves, heavy tails, gaps, a trend, signs that change, what is 0."""
    noise = chance.normal(size=rows)
    rare = chance.random(rows) < 0.04
    return [
        5.0 + noise,
        np.where(rare, noise, 3.0),
        np.abs(chance.standard_t(2, size=rows)),
        np.where(rare, chance.choice([math.nan, math.inf], size=rows), noise),
        np.arange(rows) + np.where(rare, 1000.0, 0.0),
        10**noise * np.where(rare, -1, 1),
        (17.0 + np.abs(noise)).cumsum() - np.where(chance.random(rows) < 0.02, 1000.0, 0.0).cumsum(),
        np.where(np.repeat(chance.random(rows), 3)[:rows] < 0.1, noise, ZERO * chance.uniform(-1, 1, size=rows)),
    ][kind].tolist()


@pytest.mark.parametrize("seed", range(12))
def test_rows_counted_in_together_are_judged_as_if_each_were_at_once(seed: int) -> None:
    chance, rows = np.random.default_rng(seed), 200
    keys = [f"k{i}" for i in range(8)]
    zeros = {"k7": ZERO}
    values = {key: course(chance, kind, rows) for kind, key in enumerate(keys)}
    layouts = [tuple(keys), tuple(reversed(keys[1:4])), ("k7", "k5", "k0")][: 1 + seed % 3]
    screens = Screens(set(keys), lambda key: zeros.get(key, math.nan))
    twins = {key: Twin(zero=zeros.get(key, math.nan)) for key in keys}
    told = 0
    for at in range(rows):
        layout = layouts[0] if chance.random() < 0.7 else layouts[int(chance.integers(len(layouts)))]
        expected = [twins[key].take(values[key][at], (at + 1) % EVERY == 0) for key in layout]
        odd = screens.odd(layout, [values[key][at] for key in layout])
        assert odd == [key for key, (is_odd, _) in zip(layout, expected, strict=True) if is_odd]
        assert list(screens.gross) == [key for key, (_, gross) in zip(layout, expected, strict=True) if gross]
        told += len(odd)
    assert told > 3


def test_ordinary_rows_are_compared_with_a_band_and_counted_in_once_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clocks: what an ordinary row costs is two comparisons a value, and one counting-in is for `SLOWLY` rows."""
    asked: list[str] = []
    for name in ("strange", "take", "band"):
        real = getattr(Ranges, name)

        def counted(*args: object, name: str = name, real: object = real, **more: object) -> object:
            asked.append(name)
            return real(*args, **more)  # type: ignore[operator]

        monkeypatch.setattr(Ranges, name, counted)
    chance, screens = np.random.default_rng(0), Screens({"a", "b"})
    for _ in range(40):
        screens.odd(("a", "b"), chance.uniform(1, 2, size=2).tolist())
    asked.clear()
    for _ in range(10 * SLOWLY):
        assert screens.odd(("a", "b"), chance.uniform(1, 2, size=2).tolist()) == []
    assert asked.count("take") == asked.count("band") == 10
    assert "strange" not in asked


def test_a_fall_of_what_only_grew_is_odd_though_the_level_was_seen_before() -> None:
    screens = Screens({"replay/size"})
    sizes = [0.0, *(1000.0 + 17.0 * row for row in range(60)), 14.0, 31.0, 48.0]
    odd = [row for row, size in enumerate(sizes) if screens.odd(("replay/size",), [size])]
    assert odd == [61]


@pytest.mark.parametrize("before", [[], [0.0], [ZERO, -ZERO, 0.0] * 10])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_0_by_construction_is_news_wherever_it_is_something_after_nothing(
    before: list[float], sign: int
) -> None:
    screens = Screens({"a"}, lambda _: ZERO)
    course = [*before, 0.2 * sign, 0.2 * sign, 0.1 * sign, 0.0, 0.0, 2 * ZERO * sign, 0.0]
    odd = [row for row, value in enumerate(course) if screens.odd(("a",), [value])]
    assert odd[0] == len(before)
    assert odd[-1] >= len(before) + 5
    assert len(before) + 5 in odd
    assert screens.odd(("a",), [9.0])
    assert screens.gross == ("a",)


def test_rounding_of_what_is_0_by_construction_is_no_news() -> None:
    chance, screens = np.random.default_rng(0), Screens({"a"}, lambda _: ZERO)
    assert not any(screens.odd(("a",), [value]) for value in (ZERO * chance.uniform(0, 1, size=SETTLED)).tolist())

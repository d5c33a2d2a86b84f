"""Whether what is absent was usual enough to be missed, and what is new only rare: from means, spreads and ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..series import Floats

ODDS = 1e-3
"""Chance up to which an absence may be one. Engineering default: a tenth of a per cent of healthy runs."""

MOSTLY = 0.5
"""Share of the rows before, of those whose values differ, that must be of one kind. Engineering default."""


def shares_apart(distance: Floats, spread: Floats) -> Floats:
    """Return for each row [n] the least share of values that are not the one value from which they are measured.

    Args:
        distance: Of each row's mean from that value [n].
        spread: Standard deviation of each row's values [n].

    Returns:
        By the inequality of Cauchy and Schwarz E[Y]^2 <= E[Y^2] P(Y > 0) for the distance Y >= 0 of one value,
        P(Y > 0) >= d^2 / (d^2 + s^2) (Paley and Zygmund 1932). Values of two sizes attain it.
    """
    power = distance**2 + spread**2
    return np.divide(distance**2, power, out=np.ones_like(power), where=power > 0)


def least_events(share: Floats) -> float:
    """Return how many events a row holds on average at least, where rows [n] hold them at these shares, none at 0.

    A row of m values has shares in steps of 1/m, so that 1/m is at most the least of the shares and of their
    differences; and shares that scatter by more than p (1 - p) / m (the variance of a binomial share) come as if from
    fewer values, for events that come together. The fewer of the two stand.
    """
    mean, apart = float(share.mean()), np.diff(np.sort(share))
    step = float(np.min(np.append(apart[apart > 1e-6], share.min())))  # float32 means
    values = 1 / step
    if share.size > 1 and share.var() > 0:
        values = min(values, mean * (1 - mean) / float(share.var(ddof=1)))
    return mean * values


def missed(distance: Floats, spread: Floats, absent: int, places: int, odds: float = ODDS) -> bool:
    """Whether what made rows differ has been absent for longer than chance explains.

    Rows that held k events on average hold none, m rows in a row, with probability exp(-k m) (Poisson 1837); as many
    stretches as there are `places` could have been such.

    Args:
        distance: Of the mean of each row before from the value that all have now [n].
        spread: Standard deviation of the values of each of them [n].
        absent: Rows without an event.
        places: Rows before, at each of which one may have looked.
        odds: Chance that is left.
    """
    return absent * least_events(shares_apart(distance, spread)) >= float(np.log(places / odds))


def few_strangers(rows: Sequence[Floats], place: int, few: float) -> bool:
    """Whether few values of row `place` lie beyond all before and unlike any of them, and the others as ever.

    Where the mean lies within a share p of the range from one end, at most 2 p of the values lie in the far half of it
    (Markov's inequality). Rows before that were as lopsided tell of the same kind of value at another size.

    Args:
        rows: Mean of each row's values, the least and the largest [n each]; where one is not known, the answer is no.
        place: Row that is asked about; there are some before.
        few: Largest share of the range.
    """
    if len(rows) != 3:
        return False
    mean, low, high = rows
    reach = high - low
    differs = reach[:place] > 0
    for near, far, outward in ((low, high, 1.0), (high, low, -1.0)):
        share = np.divide(np.abs(mean - near), reach, out=np.ones_like(reach), where=reach > 0)
        beyond = outward * far[place] > (outward * far[:place]).max()
        within = near[:place].min() <= near[place] <= near[:place].max()
        known = differs.any() and (share[:place][differs] <= few).mean() >= MOSTLY
        if beyond and within and share[place] <= few and not known:
            return True
    return False


def other_shares(rows: Sequence[Floats], spread: Floats, place: int, recent: int, times: float) -> bool:
    """Whether values of kinds that were seen before may come in other shares from row `place` on.

    No value lies beyond all before, some lie where those of the last rows did, and they scatter otherwise. Values that
    changed their sign scatter as before, and lie elsewhere.

    Args:
        rows: Mean of each row's values, the least and the largest [n each]; where one is not known, the answer is no.
        spread: Their standard deviation [n].
        place: Row that is asked about; the one just before may hold both and is left out.
        recent: Rows up to `place` that say what was usual.
        times: Factor between two spreads that are not alike.
    """
    if len(rows) != 3 or place < 2 or spread.size != rows[0].size:
        return False
    _, low, high = rows
    usual = slice(max(place - recent, 0), place - 1)
    known = low[: place - 1].min() <= low[place] and high[place] <= high[: place - 1].max()
    alike = low[place] <= high[usual].max() and high[place] >= low[usual].min()
    before = float(np.median(spread[usual]))
    return bool(known and alike and not before / times <= spread[place] <= before * times)

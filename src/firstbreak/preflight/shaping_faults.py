"""Names for what is wrong with a shaping term: each mistake leaves a gap of its own shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .shaping import Fault

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
LEAST_ENDS = 3
"""Ends of one kind that must agree when the potential after them is not known."""


@dataclass(frozen=True)
class Steps:
    """Columns [N] of recorded steps; `after` is NaN where it is not known."""

    f: Array
    phi: Array
    after: Array
    over: Mask
    cut: Mask
    gamma: float
    room: float
    """What rounding explains."""
    action: Array | None = None
    later: Array | None = None
    """A dynamic potential of the state before, at the time after."""

    @property
    def known(self) -> Mask:
        """Steps inside an episode whose next potential is known."""
        return np.isfinite(self.after) & ~self.over & ~self.cut

    @property
    def first(self) -> Mask:
        """First steps of all episodes but the first."""
        return np.concatenate([[False], (self.over | self.cut)[:-1]])

    def off(self, values: Array, rows: Mask) -> Mask:
        """Rows among `rows` where the term is not `values`."""
        return rows & ~(np.abs(self.f - values) <= self.room)


def faults_of(s: Steps) -> tuple[list[Fault], float | None]:
    """Return the faults of a term whose potential is known, and the discount it uses where that can be told."""
    faults, gamma, scale = list[Fault](), s.gamma, _scale(s)
    if scale != 1.0:
        s = Steps(s.f, s.phi * scale, s.after * scale, s.over, s.cut, s.gamma, s.room, s.action, s.later)
    core = s.known & ~s.first
    if s.off(gamma * s.after - s.phi, core).any():
        inner, gamma = _inner(s, core)
        faults.append(inner)
        if not inner.name.startswith("gamma"):
            return faults, None  # ends and starts would be judged by a term that is something else
    faults += _starts(s, gamma)
    faults += _ends(s, gamma)
    return faults, gamma


def _scale(s: Steps) -> float:
    """A positive number by which the term is multiplied: then it belongs to that multiple of the potential."""
    rows = s.known
    wanted = s.gamma * s.after[rows] - s.phi[rows]
    power = float(wanted @ wanted)
    scale = float(s.f[rows] @ wanted) / power if power > 0 else 1.0
    fits = bool((np.abs(s.f[rows] - scale * wanted) <= s.room).all())
    return scale if fits and scale > 0 and abs(scale - 1) > 1e-6 else 1.0


def _inner(s: Steps, rows: Mask) -> tuple[Fault, float]:
    """Name what is wrong inside episodes, and the discount that the rest is to be judged by."""
    seen = _gamma(s, rows)
    if seen is not None:
        missing = abs(seen - 1) < 1e-6
        name, words = ("gamma-missing", "no discount") if missing else ("gamma-wrong", f"discount {seen:.4g}")
        text = f"the term uses {words} instead of the agent's {s.gamma:.4g}"
        return Fault(name, text, {"gamma_seen": seen, "gamma": s.gamma}), seen
    for name, text, values in _known_shapes(s):
        if not s.off(values, rows & np.isfinite(values)).any():
            return Fault(name, text, {"steps": float(rows.sum())}), s.gamma
    return _by_gap(s, rows), s.gamma


def _gamma(s: Steps, rows: Mask) -> float | None:
    """The discount g with which f = g after - phi holds in all `rows`."""
    after = s.after[rows]
    power = float(after @ after)
    if power <= 0:
        return None
    g = float((s.f[rows] + s.phi[rows]) @ after) / power
    return g if 0 <= g <= 1.001 and not s.off(g * s.after - s.phi, rows).any() else None


def _known_shapes(s: Steps) -> Iterator[tuple[str, str, Array]]:
    """Mistakes whose terms can be written down: name, words, terms [N]."""
    if s.later is not None:
        text = "the potential changes over time, but the newest one is used for the state before as well"
        yield "dynamic-as-static", text, s.gamma * s.after - s.later
    lossless = "going back costs nothing: a loop of states has a positive sum"
    yield "no-loss-for-going-back", lossless, np.maximum(0.0, s.after - s.phi)
    yield "no-loss-for-going-back", lossless, np.maximum(0.0, s.gamma * s.after - s.phi)
    staying = "the potential itself is paid, not its difference: staying in one state pays every step"
    yield "pays-for-staying", staying, s.after
    yield "pays-for-staying", staying, s.phi
    yield "sign-wrong", "the sign is turned: going up costs", s.phi - s.gamma * s.after


def _by_gap(s: Steps, rows: Mask) -> Fault:
    """Name a mistake by how the gap behaves."""
    gap = (s.f - (s.gamma * s.after - s.phi))[rows]
    wrong = float((np.abs(gap) > s.room).mean())
    size = float(np.abs(gap).max())
    if np.ptp(gap) <= s.room:
        return Fault("constant-added", f"a constant {gap[0]:.3g} is paid in every step", {"constant": float(gap[0])})
    if s.action is not None and explained_by_action(gap, s.action[rows]) > 0.99:
        return Fault("depends-on-action", f"a remainder of up to {size:.3g} depends on the action", {"largest": size})
    if wrong < 0.5:
        text = f"telescoping fails in {100 * wrong:.1f} % of steps only, as when a potential changes over time"
        return Fault("dynamic-as-static", text, {"wrong_frac": wrong, "largest": size})
    text = f"not potential-based: off by up to {size:.3g}, in {100 * wrong:.0f} % of steps"
    return Fault("not-a-potential", text, {"wrong_frac": wrong, "largest": size})


def explained_by_action(gap: Array, action: Array) -> float:
    """R2 of the gap [n] on the action: values, sizes, squares, length, and each value by itself if there are few."""
    a = action.reshape(gap.size, -1)
    size = np.linalg.norm(a, axis=1)
    columns = [np.ones(gap.size), *a.T, *np.abs(a).T, *(a**2).T, size]
    kinds = np.unique(a[:, 0])
    if kinds.size <= 20:
        columns += [(a[:, 0] == k).astype(float) for k in kinds]
    table = np.stack(columns, axis=1)
    rest = gap - table @ np.linalg.lstsq(table, gap, rcond=None)[0]
    spread = float(np.var(gap))
    return 1 - float(np.var(rest)) / spread if spread > 0 else 0.0


def _starts(s: Steps, gamma: float) -> Iterator[Fault]:
    """The first step of an episode may still hold the potential of the one before."""
    rows = s.first & s.known
    if not s.off(gamma * s.after - s.phi, rows).any():
        return
    before = np.concatenate([[np.nan], s.after[:-1]])
    before_or_zero = np.where(np.concatenate([[False], s.over[:-1]]), 0.0, before)
    for kept in (before, before_or_zero, np.concatenate([[np.nan], s.phi[:-1]])):
        if np.isfinite(kept[rows]).all() and not s.off(gamma * s.after - kept, rows).any():
            wrong = int(s.off(gamma * s.after - s.phi, rows).sum())
            text = f"{wrong} first steps use the potential that the previous episode left behind"
            yield Fault("previous-potential-kept", text, {"first_steps": float(wrong)})
            return
    bad = s.off(gamma * s.after - s.phi, rows)
    if not s.off(gamma * s.after - s.phi, s.known & ~s.first).any():
        text = f"the first step of {int(bad.sum())} episodes does not start from its own potential"
        yield Fault("previous-potential-kept", text, {"first_steps": float(bad.sum())})


def _ends(s: Steps, gamma: float) -> Iterator[Fault]:
    """At a true end the potential is 0; at a time limit it is kept."""
    kept, zeroed = gamma * s.after - s.phi, -s.phi
    s = replace(s, over=s.over & ~s.first, cut=s.cut & ~s.first)  # one-step episodes are judged by their start
    ends = s.over & np.isfinite(s.after) & (np.abs(s.after) > s.room)
    wrong = ends & ~s.off(kept, ends) & s.off(zeroed, ends)
    if wrong.any():
        mean = float(s.after[wrong].mean())
        text = f"{int(wrong.sum())} true ends keep a potential of {mean:.3g} on average; it must be 0 there"
        yield Fault("terminal-potential-kept", text, {"ends": float(wrong.sum()), "potential": mean})
    elif (off := s.off(zeroed, s.over)).any():
        size = float(np.abs((s.f + s.phi)[off]).max())
        text = f"{int(off.sum())} true ends are off by up to {size:.3g} from minus the last potential"
        yield Fault("terminal-potential-kept", text, {"ends": float(off.sum()), "largest": size})
    known = s.cut & np.isfinite(s.after) & (np.abs(s.after) > s.room)
    blind = s.cut & ~np.isfinite(s.after) & (np.abs(s.phi) > s.room)
    rows = known if known.any() else blind
    wrong = rows & ~s.off(zeroed, rows)
    if wrong.sum() >= (1 if known.any() else LEAST_ENDS) and wrong.sum() >= 0.5 * rows.sum():
        text = f"{int(wrong.sum())} time limits set the potential to 0; it must be kept where the learner bootstraps"
        yield Fault("time-limit-as-terminal", text, {"cuts": float(wrong.sum())})

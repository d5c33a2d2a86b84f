"""Checks a shaping term whose potential is not known: is there any potential that explains it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .shaping import Fault
from .shaping_faults import Steps, explained_by_action, faults_of
from .shaping_smooth import Judged, judge_smooth

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_STATES = 400
EXACT = 1e-6
"""Share of variance that may be left when states come back and each has a potential of its own."""
LEAST_LOOPS = 10
"""Independent loops that must close before a potential is believed. Engineering default."""


def judge_unknown(
    f: Array, before: Array, after: Array, over: Mask, cut: Mask, gamma: float, action: Array | None, endless: bool
) -> Judged:
    """Judge a term [N] without its potential: over closed loops where states come back, else over a smooth fit."""
    both = np.concatenate([before, after])
    cells, index = np.unique(both, axis=0, return_inverse=True)
    index = index.reshape(-1)
    if len(cells) > min(MOST_STATES, 0.2 * f.size):
        return judge_smooth(f, before, after, over, cut, gamma, action, endless)
    table = np.eye(len(cells))[index]
    here, there = table[: f.size], table[f.size :]
    inner = ~over & ~cut
    start, end = index[: f.size][inner], index[f.size :][inner]
    loops = independent_loops(start, end, len(cells))
    tested = f"{loops} independent closed loops over {len(cells)} states that come back"
    tested += f"; {int(over.sum())} true ends, {int(cut.sum())} time limits"
    if not f[inner].any():
        return Judged((), None, 0.0, "the term is 0 in every step inside an episode", tested)
    for g in dict.fromkeys((gamma, 1.0)):
        phi, left = _fit(f, here, there, inner, g)
        rest = f - (g * (there @ phi) - here @ phi)
        if left <= EXACT and not _of_action(rest, left, action, inner) and not _one_sided(f[inner]):
            faults, seen, gap = _sound(f, here @ phi, there @ phi, over, cut, g, gamma)
            why = "" if faults or loops >= LEAST_LOOPS else f"only {loops} loops closed; record more play"
            if not faults and not why and not over.any() and not endless:
                why = "no true end was recorded, where the potential must be 0; record one, or say endless=True"
            return Judged(tuple(faults), seen, gap, why, tested)
    phi, left = _fit(f, here, there, inner, gamma)
    gap = f - (gamma * (there @ phi) - here @ phi)
    largest = float(np.abs(gap[inner]).max())
    loop = _best_loop(f[inner], start, end, len(cells))
    named = _name(f, gap, inner, index[: f.size] != index[f.size :], action, left, there, loop)
    if named.name in ("loop-pays", "not-a-potential") and _differs_on_same_step(f[inner], start, end):
        why = "the same step pays differently at other times: a potential that changes over time may explain it"
        return Judged((), None, largest, f"{why}; give it with dynamic=True", tested)
    return Judged((named,), None, largest, "", tested)


def independent_loops(start: NDArray[np.int64], end: NDArray[np.int64], count: int) -> int:
    """Return how many independent loops the steps from `start` to `end` [n] close among `count` states.

    Distinct steps less the rank of their incidence matrix (Kirchhoff 1847); there and back is a loop, too.
    """
    edges = np.unique(np.stack([start, end], axis=1), axis=0)
    incidence = np.zeros((len(edges), count))
    rows = np.arange(len(edges))
    np.add.at(incidence, (rows, edges[:, 1]), 1.0)
    np.add.at(incidence, (rows, edges[:, 0]), -1.0)
    return len(edges) - int(np.linalg.matrix_rank(incidence)) if len(edges) else 0


def _differs_on_same_step(f: Array, start: NDArray[np.int64], end: NDArray[np.int64]) -> bool:
    """Whether one transition between two states has had terms that rounding does not make alike."""
    _, step = np.unique(np.stack([start, end], axis=1), axis=0, return_inverse=True)
    step = step.reshape(-1)
    low, high = np.full(step.max() + 1, np.inf), np.full(step.max() + 1, -np.inf)
    np.minimum.at(low, step, f)
    np.maximum.at(high, step, f)
    return bool((high - low).max() > 1e-4 * float(np.abs(f).max()))


def _sound(
    f: Array, phi: Array, after: Array, over: Mask, cut: Mask, g: float, gamma: float
) -> tuple[list[Fault], float | None, float]:
    """A potential explains the inner steps: judge the discount and the ends."""
    faults = list[Fault]()
    if g != gamma:
        text = f"the term uses no discount instead of the agent's {gamma:.4g}"
        faults.append(Fault("gamma-missing", text, {"gamma_seen": g, "gamma": gamma}))
    if g < 1:
        seen = np.isin(after, phi[~over & ~cut])
        room = 1e-4 * max(float(np.abs(f).max()), float(np.abs(phi).max()), 1e-12)
        known = np.where(seen & ~over, after, np.nan)
        found, _ = faults_of(Steps(f, phi, known, over, cut, g, room))
        faults += [one for one in found if one.name in ("terminal-potential-kept", "time-limit-as-terminal")]
    gap = np.where(over | cut, 0.0, f - (g * after - phi))
    return faults, g, float(np.abs(gap).max())


def _name(
    f: Array, gap: Array, inner: Mask, moved: Mask, action: Array | None, left: float, there: Array,
    loop: float | None,
) -> Fault:  # fmt: skip
    values = f[inner]
    share = 100 * left
    if _of_action(gap, left, action, inner):
        return Fault(
            "depends-on-action", f"{share:.0f} % of the term depends on the action", {"unexplained_frac": left}
        )
    alone = _left(values, there[inner], _solve(there[inner], values))
    if alone <= EXACT:
        stay = float(np.abs(values[~moved[inner]]).max()) if (~moved[inner]).any() else float(np.abs(values).max())
        text = f"the term depends on the next state alone: staying in one state pays up to {stay:.3g} every step"
        return Fault("pays-for-staying", text, {"unexplained_frac": left, "largest": stay})
    if _one_sided(values):
        text = f"never negative, so going back costs nothing and a loop pays; {share:.0f} % fits no potential"
        return Fault("no-loss-for-going-back", text, {"unexplained_frac": left, "loop_per_step": loop or 0.0})
    if loop is not None and loop > 0:
        text = f"a loop of states pays {loop:.3g} per step, and {share:.0f} % of the term fits no potential"
        return Fault("loop-pays", text, {"unexplained_frac": left, "loop_per_step": loop})
    text = f"no potential explains {share:.0f} % of the term's variance"
    return Fault("not-a-potential", text, {"unexplained_frac": left})


def _solve(table: Array, values: Array) -> Array:
    return np.asarray(np.linalg.lstsq(table, values, rcond=1e-10)[0], dtype=np.float64)


def _of_action(gap: Array, left: float, action: Array | None, rows: Mask) -> bool:
    """Whether what no potential explains is explained by the action."""
    return action is not None and left > EXACT and explained_by_action(gap[rows], action[rows]) > 0.9


def _one_sided(values: Array) -> bool:
    """Whether the term pays in some steps, takes in none, and is exactly 0 in a tenth or more."""
    return bool(values.min() >= 0 and (values == 0).mean() >= 0.1 and values.any())


def _fit(f: Array, here: Array, there: Array, rows: Mask, gamma: float) -> tuple[Array, float]:
    """Weights of the potential that fits best, and the share of the term's variance that it leaves."""
    table = gamma * there[rows] - here[rows]
    weights = _solve(table, f[rows])
    return weights, _left(f[rows], table, weights)


def _left(values: Array, table: Array, weights: Array) -> float:
    power = float(np.mean(values**2))
    return float(np.mean((values - table @ weights) ** 2)) / power if power > 0 else 0.0


def _best_loop(f: Array, start: NDArray[np.int64], end: NDArray[np.int64], count: int) -> float | None:
    from .reward.loops import max_mean_cycle

    return max_mean_cycle(count, start, end, f)

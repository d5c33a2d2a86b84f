"""Checks a shaping term whose potential is not known: is there any potential that explains it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .shaping import Fault
from .shaping_faults import Steps, explained_by_action, faults_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_STATES = 400
EXACT = 1e-6
"""Share of variance that may be left when states come back and each has a potential of its own."""
SMOOTH = 0.02
"""The same for a smooth potential of real-valued states, which features fit only nearly."""
CLEARLY = 0.3
"""Share left from which no smooth potential explains the term."""


def unknown_faults(
    f: Array, before: Array, after: Array, over: Mask, cut: Mask, gamma: float, action: Array | None
) -> tuple[list[Fault], float | None, float]:
    """Return the faults of a term, the discount it uses where that can be told, and the largest gap of a step."""
    both = np.concatenate([before, after])
    cells, index = np.unique(both, axis=0, return_inverse=True)
    index = index.reshape(-1)
    exact = len(cells) <= min(MOST_STATES, 0.2 * f.size)
    table = np.eye(len(cells))[index] if exact else _features(both)
    here, there = table[: f.size], table[f.size :]
    inner = ~over & ~cut
    limit = EXACT if exact else SMOOTH
    for g in dict.fromkeys((gamma, 1.0)):
        phi, left = _fit(f, here, there, inner, g)
        rest = f - (g * (there @ phi) - here @ phi)
        if left <= limit and not _of_action(rest, left, action, inner) and not _one_sided(f[inner]):
            return _sound(f, here @ phi, there @ phi, over, cut, g, gamma, exact)
    phi, left = _fit(f, here, there, inner, gamma)
    gap = f - (gamma * (there @ phi) - here @ phi)
    largest = float(np.abs(gap[inner]).max())
    moved = (index[: f.size] != index[f.size :]) if exact else np.ones(f.size, dtype=bool)
    loop = _best_loop(f[inner], index[: f.size][inner], index[f.size :][inner], len(cells)) if exact else None
    named = _name(f, gap, inner, moved, action, left, there, loop, exact)
    if not exact and left < CLEARLY and named.name == "not-a-potential":
        return [], None, largest
    return [named], None, largest


def _sound(
    f: Array, phi: Array, after: Array, over: Mask, cut: Mask, g: float, gamma: float, exact: bool
) -> tuple[list[Fault], float | None, float]:
    """A potential explains the inner steps: judge the discount, and the ends if each state has its own potential."""
    faults = list[Fault]()
    if g != gamma:
        text = f"the term uses no discount instead of the agent's {gamma:.4g}"
        faults.append(Fault("gamma-missing", text, {"gamma_seen": g, "gamma": gamma}))
    if exact and g < 1:
        seen = np.isin(after, phi[~over & ~cut])
        room = 1e-4 * max(float(np.abs(f).max()), float(np.abs(phi).max()), 1e-12)
        known = np.where(seen & ~over, after, np.nan)
        found, _ = faults_of(Steps(f, phi, known, over, cut, g, room))
        faults += [one for one in found if one.name in ("terminal-potential-kept", "time-limit-as-terminal")]
    gap = np.where(over | cut, 0.0, f - (g * after - phi))
    return faults, g, float(np.abs(gap).max())


def _name(
    f: Array, gap: Array, inner: Mask, moved: Mask, action: Array | None, left: float, there: Array,
    loop: float | None, exact: bool,
) -> Fault:  # fmt: skip
    values = f[inner]
    share = 100 * left
    if _of_action(gap, left, action, inner):
        return Fault(
            "depends-on-action", f"{share:.0f} % of the term depends on the action", {"unexplained_frac": left}
        )
    alone = _left(values, there[inner], _solve(there[inner], values))
    if alone <= (EXACT if exact else min(SMOOTH, left / 4)):
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


def _features(states: Array) -> Array:
    """A constant, standardised states, squares, distances to random states and from the centre [n, k]."""
    scale = states.std(axis=0)
    x = (states - states.mean(axis=0))[:, scale > 1e-12] / scale[scale > 1e-12]
    random = np.random.default_rng(0)
    centres = x[random.integers(0, len(x), min(60, len(x)))]
    away = np.sqrt(((x[:, None, :] - centres[None]) ** 2).sum(axis=2) + 1e-9)
    size = np.sqrt((states**2).sum(axis=1, keepdims=True))
    return np.hstack([np.ones((len(x), 1)), x, x**2, size, away])

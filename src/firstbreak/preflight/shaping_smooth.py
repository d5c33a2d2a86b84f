"""A shaping term of unknown potential on states that do not come back: what recorded steps can and cannot prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .shaping import Fault
from .shaping_faults import Steps, faults_of
from .shaping_features import action_features, clock_features, features

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
PROVEN = 1e-6
"""Share of a held-out term's power that rounding may leave: 0.1 % of its size. Engineering default."""
CONTRAST = 100.0
"""How many times better an explanation must be than the one it replaces. Engineering default."""
LEAST_WITNESSES = 3
"""Times that pay without loss must be seen. Engineering default."""
LEAST_ROWS = 5
"""Fitted steps per weight of the potential. Engineering default."""


@dataclass(frozen=True)
class Judged:
    """What was found: faults, the discount seen, the largest gap, why it cannot be told ("" where it can), what was
    tested."""

    faults: tuple[Fault, ...]
    gamma_seen: float | None
    gap: float
    undecided: str
    tested: str


@dataclass(frozen=True)
class _Steps:
    """Terms `f` [N] with the features `here` and `there` [N, F] of both states; learned on some steps, tried on others.

    `inner` are steps inside an episode, `done` ends of either kind.
    """

    f: Array
    here: Array
    there: Array
    action: Array | None
    gamma: float
    inner: Mask
    done: Mask
    learn: Mask
    held: Mask

    def left(self, columns: Array) -> tuple[Array, float]:
        """Return the weights of `columns` [N, K] and the share of the power that they leave on held-out steps."""
        learn, held = self.learn, self.held
        weights = np.asarray(np.linalg.lstsq(columns[learn], self.f[learn], rcond=1e-10)[0], dtype=np.float64)
        power = float(np.mean(self.f[held] ** 2))
        rest = float(np.mean((self.f[held] - columns[held] @ weights) ** 2))
        return weights, rest / power if power > 0 else float(rest > 0)

    def with_action(self, g: float) -> float:
        """Return the share that a potential discounted by `g` and the action together leave; inf without actions."""
        if self.action is None:
            return float("inf")
        return self.left(np.hstack([g * self.there - self.here, action_features(self.action)]))[1]


def judge_smooth(
    f: Array, before: Array, after: Array, over: Mask, cut: Mask, gamma: float, action: Array | None, endless: bool
) -> Judged:
    """Judge terms [N] of steps from `before` to `after` [N, D]; `endless`: the task has no true ends."""
    inner = ~over & ~cut
    table = features(np.concatenate([before, after]))
    here, there = table[: f.size], table[f.size :]
    learn, held = _halves(inner, over | cut)
    tested = f"no closed loops (states do not come back); a smooth potential on {int(held.sum())} held-out steps"
    if not f[inner].any():
        return Judged((), None, 0.0, "the term is 0 in every step inside an episode", tested)
    paid = _pays_without_loss(f, over | cut) if gamma < 1 else 0
    if learn.sum() < LEAST_ROWS * table.shape[1] or not held.any():
        if paid >= LEAST_WITNESSES:
            return Judged((_lossless(paid),), None, float(np.abs(f).max()), "", tested)
        more = f"{int(inner.sum())} steps inside episodes are too few for {table.shape[1]} weights of a potential"
        return Judged((), None, float(np.abs(f).max()), more, tested)
    steps = _Steps(f, here, there, action, gamma, inner, over | cut, learn, held)
    shares = {g: steps.left(g * there - here) for g in dict.fromkeys((gamma, 1.0))}
    own = shares[gamma][1]
    gap = float(np.abs((f - (gamma * there - here) @ shares[gamma][0])[inner]).max())
    tested += f", which leaves {own:.2g} of the term's power (believed up to {PROVEN:g})"
    for g, (weights, share) in shares.items():
        believed = share <= PROVEN and (g == gamma or own > CONTRAST * share)
        if believed and not steps.with_action(g) < share / CONTRAST:  # or the action explains the little that is left
            blind = _blind(g * there - here, there, learn, held)
            if blind:
                return Judged((), None, gap, f"the same steps let {blind} pass as a potential's", tested)
            return _ends(f, here @ weights, there @ weights, over, cut, g, gamma, gap, tested, endless)
    fault, why = _no_potential(steps, own, paid)
    return Judged(() if fault is None else (fault,), None, gap, why, tested)


def _no_potential(steps: _Steps, own: float, paid: int) -> tuple[Fault | None, str]:
    """Say what else explains the terms, of which a potential leaves the share `own`, or why nothing is said of them.

    `paid`: how often a loop was seen to pay.
    """
    with_action = steps.with_action(steps.gamma)
    if with_action <= max(PROVEN, own / CONTRAST):
        better = f"{own / with_action:.0f}" if with_action > 1e-6 * own else "over a million"
        text = f"part of the term depends on the action: a fit with the action leaves {better} times less"
        return Fault("depends-on-action", text, {"unexplained_frac": own}), ""
    alone = steps.left(steps.there)[1]
    if alone <= max(PROVEN, min(1e-4, own / CONTRAST)) and own > CONTRAST * alone:
        stay = float(np.abs(steps.f[steps.inner]).max())
        text = f"the term depends on the next state alone: staying in one state pays up to {stay:.3g} every step"
        return Fault("pays-for-staying", text, {"unexplained_frac": own, "largest": stay}), ""
    if paid >= LEAST_WITNESSES:
        return _lossless(paid), ""
    columns = (clock_features(steps.here, steps.there, steps.gamma, clock) for clock in _clocks(steps.done))
    if min(steps.left(one)[1] for one in columns) <= max(PROVEN, own / CONTRAST):
        return None, "a potential that changes over time would explain it; give it with dynamic=True"
    return None, f"no potential that was tried explains {100 * own:.2g} % of the term, but another, rougher one may"


def _lossless(times: int) -> Fault:
    text = f"paid {times} times between steps that paid 0, and going back cost nothing: a loop pays"
    return Fault("no-loss-for-going-back", text, {"witnesses": float(times)})


def _pays_without_loss(f: Array, done: Mask) -> int:
    """How often an episode pays 0, then more than 0, then 0 again, where the term is never negative.

    A discounted potential cannot: 0 twice running means that it is 0 on both sides of the pay, except by accident.
    """
    if float(f[~done].min()) < 0:
        return 0
    count = 0
    for rows in np.split(f, np.flatnonzero(done) + 1):
        zeros, paid = np.flatnonzero(rows[:-1] == 0), np.flatnonzero(rows[:-1] > 0)
        if zeros.size:
            count += int(((paid > zeros[0]) & (paid < zeros[-1])).sum())
    return count


def _halves(inner: Mask, done: Mask) -> tuple[Mask, Mask]:
    """Every other episode to fit and to test; halves of the rows where there is only one."""
    number = np.concatenate([[0], np.cumsum(done)[:-1]])
    odd = number % 2 == 1 if number[-1] else np.arange(done.size) >= done.size // 2
    return inner & ~odd, inner & odd


def _blind(table: Array, there: Array, learn: Mask, held: Mask) -> str:
    """Pay for being in a state that these steps cannot tell from a potential's term; "" where they can."""
    for name, decoy in (("pay for the place", there[:, 1] ** 2), ("pay for the distance", np.abs(there[:, 1:]).sum(1))):
        values = cast(Array, decoy - np.mean(decoy))
        weights = cast(Array, np.linalg.lstsq(table[learn], values[learn], rcond=1e-10)[0])
        power = float(np.mean(values[held] ** 2))
        if float(np.mean((values[held] - table[held] @ weights) ** 2)) <= CONTRAST * PROVEN * power:
            return name
    return ""


def _clocks(done: Mask) -> tuple[Array, Array]:
    """Time before each step: within the episode and in the whole recording, as a share of the longest."""
    whole = np.arange(done.size, dtype=np.float64)
    starts = np.concatenate([[0], np.flatnonzero(done) + 1])
    inside = whole - starts[np.searchsorted(starts, whole, side="right") - 1]
    return inside / max(float(inside.max()), 1.0), whole / done.size


def _ends(
    f: Array, phi: Array, after: Array, over: Mask, cut: Mask, g: float, gamma: float, gap: float, tested: str,
    endless: bool,
) -> Judged:  # fmt: skip
    """A potential explains the inner steps: judge the discount and the ends."""
    faults = list[Fault]()
    if g != gamma:
        text = f"the term uses no discount instead of the agent's {gamma:.4g}"
        faults.append(Fault("gamma-missing", text, {"gamma_seen": g, "gamma": gamma}))
    elif g < 1:
        room = 1e-3 * max(float(np.abs(f).max()), float(np.abs(phi).max()), 1e-12)
        found, _ = faults_of(Steps(f, phi, after, over, cut, g, room))
        faults += [one for one in found if one.name in ("terminal-potential-kept", "time-limit-as-terminal")]
    ends = int(over.sum())
    tested += f"; {ends} true ends, {int(cut.sum())} time limits"
    why = ""
    if not faults and not ends and not endless:
        why = "no true end was recorded, where the potential must be 0; record one, or say endless=True"
    elif not faults and ends and g == 1:
        why = "without a discount the level of the potential at true ends cannot be told; give the potential"
    return Judged(tuple(faults), g, gap, why, tested)

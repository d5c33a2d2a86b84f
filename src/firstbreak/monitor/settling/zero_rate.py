"""A run at learning rate 0: nothing may move, so whatever moves is not learning."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...errors import InputError
from ...stats import compare
from .weights import Fingerprint, fingerprint

RATIO_BOUND = 0.02
"""Distance of a ratio from 1 that proves it wrong, as in the rule `ratio-off-at-first-minibatch`."""
KL_BOUND_NATS = 1e-3
"""KL of the update that numerics do not make: float32 leaves 1e-8, bfloat16 some 1e-4. Engineering default."""
GAP_STEP_NATS = 0.05
"""Change of the log-prob gap between trainer and sampler that precision does not make, as in `weight-sync-fault`."""
Z_DRIFT = 4.0
"""Standard errors by which a quantity must have moved between the halves of the run, as in other rules."""
LEAST = 16
"""Rows for a judgement on drift: two halves of 8."""

AT_ONE = ("policy/ratio_first_minibatch", "policy/ratio_mean", "policy/ratio_min", "policy/ratio_max")
AT_ZERO = {
    "policy/kl_old": KL_BOUND_NATS, "policy/kl_k1": KL_BOUND_NATS, "policy/clip_fraction": 1e-3,
    "optim/weight_delta": 0.0,
}  # fmt: skip
STEADY = ("async/logprob_mismatch", "policy/kl_ref", "reward/rollout_mean", "reward/train_mean", "policy/entropy")


@dataclass(frozen=True)
class Expectation:
    """One thing that must hold at learning rate 0, and what was seen."""

    name: str
    must: str
    seen: float
    """The worst value, or the change between the halves; NaN where it was not logged."""
    holds: bool | None
    """None where it could not be looked at."""


@dataclass(frozen=True)
class ZeroRateResult:
    """What `ZeroRate.result` returns."""

    expectations: tuple[Expectation, ...]
    rows: int
    steps: int
    """Optimiser steps made at rate 0."""
    moved: tuple[str, ...] = ()
    """Names of weights that changed all the same, at most 8."""

    @property
    def broken(self) -> tuple[Expectation, ...]:
        """What did not hold."""
        return tuple(e for e in self.expectations if e.holds is False)

    @property
    def verdict(self) -> str:
        """`holds`, `broken` or `cannot tell`."""
        if self.broken:
            return "broken"
        looked = {e.name for e in self.expectations if e.holds}
        return "holds" if self.steps and "weights" in looked and len(looked) > 1 else "cannot tell"

    @property
    def meaning(self) -> str:
        """What it says, in a few sentences."""
        if self.verdict == "cannot tell":
            missing = ", ".join(e.name for e in self.expectations if e.holds is None)
            return f"Nothing is proven: {self.steps} optimiser steps, {self.rows} rows; not looked at: {missing}."
        if not self.broken:
            looked = ", ".join(e.name for e in self.expectations if e.holds)
            return (
                f"At learning rate 0 everything stood still: {looked}. What moves in the real run comes from updates."
            )
        return " ".join(_reading(e, self.moved) for e in self.broken)

    @property
    def cannot_tell(self) -> str:
        """What it does not say."""
        return (
            "Whether the gradient is right: at rate 0 no gradient has any effect. Rewards drift by chance in few rows."
        )

    @property
    def settles(self) -> tuple[str, ...]:
        """Rules and causes that it helps to decide."""
        found = [name for e in self.broken for name in _POINTS_AT.get(e.name, ())]
        known = ("wrong-old-logprob", "weights-not-synchronised", "trainer-sampler-mismatch")
        return tuple(dict.fromkeys(found)) or known


_POINTS_AT: dict[str, tuple[str, ...]] = {
    "async/logprob_mismatch": ("weights-not-synchronised", "engine-cache-stale"),
    "policy/kl_ref": ("reference-drift", "reference-moves"),
    "reward/rollout_mean": ("weights-not-synchronised", "reward-changed"),
    "reward/train_mean": ("weights-not-synchronised", "reward-changed"),
    **dict.fromkeys((*AT_ONE, "policy/kl_old", "policy/kl_k1", "policy/clip_fraction"), ("wrong-old-logprob",)),
}


def _reading(one: Expectation, moved: Sequence[str]) -> str:
    """Return what the failure of an expectation says."""
    if one.name == "weights":
        return (
            f"Weights changed without learning ({', '.join(moved[:3])}): another optimiser, an average, a sync or a "
            f"normaliser writes them, or a gradient is not finite."
        )
    if one.name in AT_ONE or one.name in AT_ZERO:
        what = f"{one.name} is {one.seen:.3g} and must be {one.must}"
        return (
            f"{what}: stored and recomputed log-probs differ (another action, mask, dropout, precision or old batch)."
        )
    if one.name == "async/logprob_mismatch":
        return f"The gap between trainer and sampler moved by {one.seen:.3g} nats: the sync changes the sampler."
    return f"{one.name} moved by {one.seen:.3g} without learning: data, sampler or scorer changed."


class ZeroRate:
    """Collects the rows of a run at learning rate 0; made by `zero_learning_rate`."""

    def __init__(self, weights: Any, names: Mapping[str, str]) -> None:
        self.steps = 0
        self._names = dict(names)
        self._weights = weights
        self._before: Fingerprint | None = None if weights is None else fingerprint(weights)
        self._after: Fingerprint | None = None
        self._rows: dict[str, list[float]] = {}
        self._count = 0

    def log(self, metrics: Mapping[str, Any]) -> None:
        """Keep a row of metrics under canonical names (or those given as `names`)."""
        self._count += 1
        for key, value in metrics.items():
            name = self._names.get(key, key)
            if name in (*AT_ONE, *AT_ZERO, *STEADY):
                self._rows.setdefault(name, []).append(float(value))

    def end(self) -> None:
        """Look at the weights again; done when the block ends."""
        self._after = None if self._weights is None else fingerprint(self._weights)

    def result(self) -> ZeroRateResult:
        """Return what held and what did not."""
        if self._after is None:
            self.end()
        moved = self._moved()
        return ZeroRateResult(
            expectations=(
                Expectation("weights", "equal", float(len(moved)) if self._before else math.nan, self._still(moved)),
                *(_bounded(n, self._rows.get(n, []), 1.0, RATIO_BOUND) for n in AT_ONE),
                *(_bounded(n, self._rows.get(n, []), 0.0, bound) for n, bound in AT_ZERO.items()),
                *(_steady(n, self._rows.get(n, [])) for n in STEADY),
            ),
            rows=self._count,
            steps=self.steps,
            moved=tuple(moved[:8]),
        )

    def _still(self, moved: list[str]) -> bool | None:
        return None if self._before is None or not self.steps else not moved

    def _moved(self) -> list[str]:
        if self._before is None or self._after is None:
            return []
        now = self._after.tensors
        return [n for n, was in self._before.tensors.items() if n not in now or now[n].digest != was.digest]


def _bounded(name: str, values: list[float], target: float, bound: float) -> Expectation:
    if not values:
        return Expectation(name, f"{target:g}", math.nan, None)
    worst = max(values, key=lambda v: abs(v - target) if math.isfinite(v) else math.inf)
    return Expectation(name, f"{target:g}", worst, math.isfinite(worst) and abs(worst - target) <= bound)


def _steady(name: str, values: list[float]) -> Expectation:
    """Compare the halves of the run; the log-prob gap must also have moved by more than precision does."""
    found = np.array([v for v in values if math.isfinite(v)])
    if found.size < LEAST:
        return Expectation(name, "steady", math.nan, None)
    half = found.size // 2
    change = compare(found[:half], found[half:])
    small = name == "async/logprob_mismatch" and abs(change.difference) < GAP_STEP_NATS
    return Expectation(name, "steady", change.difference, small or abs(change.z) < Z_DRIFT)


@contextmanager
def zero_learning_rate(
    *optimisers: Any, weights: Any = None, names: Mapping[str, str] | None = None
) -> Generator[ZeroRate]:
    """Make every step of `optimisers` one of learning rate 0, and nothing else; schedules go on and are not heeded.

    The rate is put back after each step, so that checkpoints and logs hold the real one.

    Args:
        optimisers: PyTorch optimisers, or what wraps one (`.optimizer`); otherwise anything with `param_groups` and
            `step`.
        weights: Module or named tensors that must not change.
        names: Key -> canonical metric, for the rows given to `log`.

    Raises:
        InputError: an optimiser has no `param_groups`.
    """
    if not optimisers:
        raise InputError("No optimiser was given.", "Write: with zero_learning_rate(optimiser, weights=model) as zero:")
    inner = [_inner(o) for o in optimisers]
    zero = ZeroRate(weights, names or {})
    with ExitStack() as stack:
        for one in {id(o): o for o in inner}.values():
            stack.callback(_hold(one, zero))
        yield zero
    zero.end()


def _inner(optimiser: Any) -> Any:
    """Return the optimiser inside wrappers such as those of accelerate."""
    for _ in range(8):
        if not hasattr(optimiser, "optimizer") or hasattr(optimiser, "_optimizer_step_pre_hooks"):
            break
        optimiser = optimiser.optimizer
    if not hasattr(optimiser, "param_groups"):
        raise InputError(f"{type(optimiser).__name__} has no param_groups.", "Give the optimiser itself.")
    return optimiser


def _hold(optimiser: Any, zero: ZeroRate) -> Any:
    """Take the rate away before each step and put it back after; return what undoes this."""
    rates: list[Any] = []

    def before(*_: Any) -> None:
        groups = cast("Iterable[dict[str, Any]]", optimiser.param_groups)
        rates[:] = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] = group["lr"] * 0

    def after(*_: Any) -> None:
        for group, rate in zip(optimiser.param_groups, rates, strict=False):
            group["lr"] = rate
        zero.steps += 1

    if hasattr(optimiser, "register_step_pre_hook"):
        handles = [optimiser.register_step_pre_hook(before), optimiser.register_step_post_hook(after)]
        return lambda: [handle.remove() for handle in handles]
    step, own = optimiser.step, "step" in vars(optimiser)

    def stepped(*args: Any, **kwargs: Any) -> Any:
        before()
        try:
            return step(*args, **kwargs)
        finally:
            after()

    optimiser.step = stepped
    return (lambda: setattr(optimiser, "step", step)) if own else (lambda: delattr(optimiser, "step"))

"""Does the sampler hold the learner's weights? Asked after each sync, by fingerprint."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .weights import Fingerprint, TensorPrint, fingerprint

REMEMBERED = 16
"""Earlier checks in which the sampler's weights are looked for. Engineering default."""
MOST_NAMES = 8
ROUNDING = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Largest relative error of rounding to nearest (Goldberg 1991, section 1.2); truncation makes twice that."""


class SyncVerdict(StrEnum):
    """What a check found."""

    IN_STEP = "in step"
    BEHIND = "behind as allowed"
    ROUNDED = "equal up to rounding"
    AT_REST = "learner at rest"
    NEVER_ARRIVED = "never arrived"
    STALE = "stale"
    PARTIAL = "partial"
    DIFFERENT = "different"
    TOO_EARLY = "too early"
    UNKNOWN = "cannot tell"


_MEANING = {
    SyncVerdict.IN_STEP: "The sampler holds the learner's weights.",
    SyncVerdict.BEHIND: "The sampler holds earlier weights of the learner, within the lag that is allowed.",
    SyncVerdict.ROUNDED: "The two sides differ by no more than the cast between their types.",
    SyncVerdict.AT_REST: "The two sides agree, but the learner's weights did not move since the last check.",
    SyncVerdict.NEVER_ARRIVED: "The learner's weights moved since the last check, the sampler's did not: none arrived.",
    SyncVerdict.STALE: "The sampler holds weights that the learner had at an earlier check.",
    SyncVerdict.PARTIAL: "Some tensors arrived and others did not.",
    SyncVerdict.DIFFERENT: "The sampler's weights are none that the learner had at the last checks.",
    SyncVerdict.TOO_EARLY: "The sampler may hold weights from before the first check, as its lag allows.",
    SyncVerdict.UNKNOWN: "The two sides share no tensor of one name and shape in types that can be compared.",
}
_SETTLES: dict[SyncVerdict, tuple[str, ...]] = {
    SyncVerdict.AT_REST: ("policy-frozen", "frozen-policy"),
    SyncVerdict.BEHIND: ("stale-rollouts",),
}
FAULTS = {SyncVerdict.NEVER_ARRIVED, SyncVerdict.STALE, SyncVerdict.PARTIAL, SyncVerdict.DIFFERENT}


@dataclass(frozen=True)
class SyncResult:
    """What `SyncCheck.after_sync` returns."""

    verdict: SyncVerdict
    compared: int
    """Tensors that both sides have."""
    equal: int
    """Of those, how many are equal."""
    differing: tuple[str, ...]
    """Names of tensors that are not equal, at most 8."""
    only_learner: int
    only_sampler: int
    lag_checks: int | None
    """How many checks ago the learner had the sampler's weights; None when at none that is remembered."""
    largest_gap: float
    """Largest difference of a few values of each tensor, over the tensor's own largest value."""
    learner_moved: bool | None
    """Whether the learner's weights changed since the last check, at full precision; None at the first."""
    sampler_moved: bool | None
    finite: bool
    version_wrong: bool
    """Whether the sampler's stated version is another than that of the weights it holds."""
    learner_hash: float

    @property
    def faulty(self) -> bool | None:
        """Whether the sync failed; None when that cannot be told."""
        open_ones = (SyncVerdict.UNKNOWN, SyncVerdict.TOO_EARLY)
        return None if self.verdict in open_ones else self.verdict in FAULTS or self.version_wrong

    @property
    def meaning(self) -> str:
        """What it says, in a few sentences."""
        said = [_MEANING[self.verdict], f"{self.equal} of {self.compared} tensors are equal."]
        if self.lag_checks:
            ago = "one check" if self.lag_checks == 1 else f"{self.lag_checks} checks"
            said.append(f"The learner had these weights {ago} ago.")
        if self.verdict is SyncVerdict.AT_REST and self.learner_moved:
            said[0] = "The learner's updates are too small for the sampler's type: rounded, nothing changed."
        if self.version_wrong:
            said.append("The version that the sampler states is not that of its weights.")
        if not self.finite:
            said.append("There are weights that are not finite.")
        return " ".join(said)

    @property
    def cannot_tell(self) -> str:
        """What it does not say."""
        if self.verdict is SyncVerdict.UNKNOWN:
            return "Anything: give rename= for other names, and compare before layers are fused or quantised."
        if self.verdict is SyncVerdict.ROUNDED:
            return "Whether the sampler is a few small updates behind: that hides in the rounding."
        return (
            "Whether the engine uses these weights: caches of prefixes, compiled graphs and other kernels make "
            "log-probs differ all the same. Of large tensors a sample is looked at."
        )

    @property
    def settles(self) -> tuple[str, ...]:
        """Rules and causes that it helps to decide."""
        known = ("weight-sync-fault", "weights-not-synchronised", "stale-rollouts", "trainer-sampler-mismatch")
        return _SETTLES.get(self.verdict, known)

    def metrics(self) -> dict[str, float]:
        """Numbers for `Monitor.log`."""
        found = {"net/weight_hash": self.learner_hash}
        return found | ({"async/synced_fraction": self.equal / self.compared} if self.compared else {})


@dataclass(frozen=True)
class _Check:
    version: float | None
    learner: Fingerprint
    sampler: Fingerprint


class SyncCheck:
    """Compares learner and sampler after each sync; remembers some checks, so that old weights are recognised.

    Args:
        rename: Turns a learner's name into the sampler's.
        lag: Checks by which the sampler may be behind on purpose (asynchronous training). So many first checks may
            then be too early to tell; one more before the first update helps.
    """

    def __init__(self, *, rename: Callable[[str], str] | None = None, lag: int = 0) -> None:
        self._rename, self._lag = rename, lag
        self._checks: deque[_Check] = deque(maxlen=REMEMBERED)
        self._hash: float | None = None

    def after_sync(
        self, learner: Any, sampler: Any, *, version: float | None = None, sampler_version: float | None = None
    ) -> SyncResult:
        """Compare the two sides.

        Args:
            learner: Module, `state_dict()` or (name, tensor) pairs; it is cast to the sampler's types as a sync does.
                A `Fingerprint` must have been made with `as_type`, where the types differ.
            sampler: The same, or a `Fingerprint` made where the sampler runs.
            version: What the learner calls its weights.
            sampler_version: What the sampler calls its own.

        Raises:
            InputError: one side holds no weights.
        """
        theirs = sampler if isinstance(sampler, Fingerprint) else fingerprint(sampler)
        if isinstance(learner, Fingerprint):
            own, full = learner, learner.number
        else:
            own = fingerprint(learner, as_type=theirs.types, rename=self._rename)
            full = fingerprint(learner, rename=self._rename).number
        result = self._compared(own, theirs, full, sampler_version if version is not None else None, version)
        self._checks.append(_Check(version, own, theirs))
        self._hash = full
        return result

    def _compared(
        self, own: Fingerprint, theirs: Fingerprint, full: float, stated: float | None, version: float | None
    ) -> SyncResult:
        before = self._checks[-1] if self._checks else None
        common = [name for name in own.tensors if name in theirs.tensors and _comparable(own, theirs, name)]
        differing = [name for name in common if not _same(own.tensors[name], theirs.tensors[name])]
        lag = self._lag_of(theirs, common, own)
        learner_moved = None if before is None else full != self._hash
        sampler_moved = None if before is None else theirs.number != before.sampler.number
        held = None if lag is None else version if lag == 0 else self._checks[-lag].version
        return SyncResult(
            verdict=self._verdict(own, theirs, common, differing, lag, sampler_moved),
            compared=len(common),
            equal=len(common) - len(differing),
            differing=tuple(sorted(differing)[:MOST_NAMES]),
            only_learner=len(own.tensors.keys() - theirs.tensors.keys()),
            only_sampler=len(theirs.tensors.keys() - own.tensors.keys()),
            lag_checks=lag,
            largest_gap=max((_gap(own.tensors[n], theirs.tensors[n]) for n in differing), default=0.0),
            learner_moved=learner_moved,
            sampler_moved=sampler_moved,
            finite=own.finite and theirs.finite,
            version_wrong=stated is not None and held is not None and stated != held,
            learner_hash=full,
        )

    def _lag_of(self, theirs: Fingerprint, common: list[str], own: Fingerprint) -> int | None:
        """Return how many checks ago the learner had the sampler's weights: 0 for now."""
        earlier = [own, *(check.learner for check in reversed(self._checks))]
        for lag, print_ in enumerate(earlier):
            if common and all(n in print_.tensors and _same(print_.tensors[n], theirs.tensors[n]) for n in common):
                return lag
        return None

    def _verdict(
        self,
        own: Fingerprint,
        theirs: Fingerprint,
        common: list[str],
        differing: list[str],
        lag: int | None,
        sampler_moved: bool | None,
    ) -> SyncVerdict:
        before = self._checks[-1] if self._checks else None
        if not common:
            return SyncVerdict.UNKNOWN
        moved = [n for n in common if before is not None and not _unmoved(own, before.learner, n)]
        if not differing:
            return SyncVerdict.AT_REST if before is not None and not moved else SyncVerdict.IN_STEP
        if all(_rounded(own.tensors[n], theirs.tensors[n]) for n in differing):
            return SyncVerdict.ROUNDED
        if lag is not None and lag <= self._lag:
            return SyncVerdict.BEHIND
        if lag is None and len(self._checks) < self._lag:
            return SyncVerdict.TOO_EARLY
        if sampler_moved is False:
            return SyncVerdict.NEVER_ARRIVED
        if lag is not None:
            return SyncVerdict.STALE
        arrived = len(common) - len(differing) if before is None else sum(n not in differing for n in moved)
        return SyncVerdict.PARTIAL if arrived else SyncVerdict.DIFFERENT


def _comparable(own: Fingerprint, theirs: Fingerprint, name: str) -> bool:
    """Whether shapes agree, and the sampler's type is the learner's own or one that a plain cast makes."""
    one, other = own.tensors[name], theirs.tensors[name]
    return one.shape == other.shape and (one.type == other.type or other.type in ROUNDING)


def _same(one: TensorPrint, other: TensorPrint) -> bool:
    return one.digest == other.digest and one.hashed_as == other.hashed_as and one.shape == other.shape


def _unmoved(now: Fingerprint, before: Fingerprint, name: str) -> bool:
    return name in before.tensors and _same(now.tensors[name], before.tensors[name])


def _gap(one: TensorPrint, other: TensorPrint) -> float:
    size = max(map(abs, (*one.values, *other.values)), default=0.0)
    return max((abs(a - b) for a, b in zip(one.values, other.values, strict=True)), default=0.0) / size if size else 0.0


def _rounded(one: TensorPrint, other: TensorPrint) -> bool:
    """Whether two tensors of different types are as near as a cast leaves them, at every value kept."""
    if one.hashed_as == other.hashed_as:
        return False
    coarse = _coarser(one.hashed_as, other.hashed_as)
    return coarse is not None and all(
        abs(a - b) <= 2 * coarse * max(abs(a), abs(b)) for a, b in zip(one.values, other.values, strict=True)
    )


def _coarser(one: str, other: str) -> float | None:
    return max(ROUNDING[one], ROUNDING[other]) if one in ROUNDING and other in ROUNDING else None

"""Orders of wrappers that are certainly wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...check import Symptom
from ...finding import Severity
from .layers import Layer
from .shapes import attributes_of

CUT_FRAC = 0.2
"""Share of the steps with an action from inside the declared space that an inner wrapper cuts."""


def clipped(layers: Sequence[Layer], space: Any) -> Symptom | None:
    """Return the symptom when an inner layer cuts actions that the declared, bounded space allows."""
    if not hasattr(space, "low") or not bool(np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        return None
    for number, (outer, inner) in enumerate(pairwise(layers)):
        pairs = [(a[0].action, b[0].action) for a, b in zip(outer.steps, inner.steps, strict=True) if a and b]
        cut = [_is_cut(np.asarray(x, float), np.asarray(y, float)) for x, y in pairs]
        share = float(np.mean(cut)) if cut else 0.0
        if number and share >= CUT_FRAC:
            above = ", ".join(one.name for one in layers[:number])
            return Symptom(
                f"{outer.name} cuts {100 * share:.0f} % of the actions that come from {above}"[:120],
                "action",
                {"cut_frac": share, "steps": len(cut), "layer": outer.name},
            )
    return None


def _is_cut(given: Any, passed: Any) -> bool:
    """Whether `passed` is `given` with some entries moved towards the middle and the others untouched."""
    if given.shape != passed.shape or not given.size:
        return False
    moved = ~np.isclose(given, passed, rtol=1e-6, atol=1e-9)
    shrunk = (np.abs(passed) < np.abs(given)) & (np.sign(passed) == np.sign(given))
    # A factor moves every entry; a clip leaves its bound, the same for all, in the entries it moves.
    values = np.abs(passed[moved])
    return bool(moved.any() and shrunk[moved].all() and np.isin(values, _bounds(values)).all())


def _bounds(values: Any) -> Any:
    return np.array([1.0, np.median(values)])


def two_limits(layers: Sequence[Layer]) -> Symptom | None:
    """Return the symptom when there are two time limits; the larger never acts."""
    limits = [
        int(v) for v in (attributes_of(one.env).get("_max_episode_steps") for one in layers) if isinstance(v, int)
    ]
    if len(limits) < 2:
        return None
    return Symptom(
        f"{len(limits)} time limits: {', '.join(map(str, limits))} steps, from the outside in; the smallest acts",
        "truncated",
        {"limits": len(limits), "acting_steps": min(limits)},
        severity=Severity.INFO,
    )


def statistics_outside_stack(layers: Sequence[Layer]) -> Symptom | None:
    """Return the symptom when observation statistics are kept outside a stack of frames."""
    names = [one.name for one in layers]
    stack = next((i for i, n in enumerate(names) if n in ("FrameStack", "FrameStackObservation")), None)
    outside = next((i for i, n in enumerate(names) if n in ("NormalizeObservation",)), None)
    if stack is None or outside is None or outside > stack:
        return None
    return Symptom(
        f"{names[outside]} lies {stack - outside} layers outside {names[stack]}: each frame gets statistics of its own",
        "observation",
        {"layers": len(names)},
        severity=Severity.INFO,
    )


def limit_outside_statistics(layers: Sequence[Layer]) -> Symptom | None:
    """Return the symptom when the time limit that acts lies outside the layer that records whole episodes."""
    limits = [attributes_of(one.env).get("_max_episode_steps") for one in layers]
    for number, one in enumerate(layers):
        if one.name not in ("RecordEpisodeStatistics", "Monitor"):
            continue
        outside = [n for n in limits[:number] if isinstance(n, int)]
        inside = [n for n in limits[number:] if isinstance(n, int)]
        if outside and min(outside) < min(inside, default=min(outside) + 1):
            return Symptom(
                f"the time limit of {min(outside)} steps lies outside {one.name}, which records no episode it cuts",
                "truncated",
                {"limit_steps": min(outside), "layer": one.name},
            )
    return None

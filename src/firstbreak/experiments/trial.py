"""`Trial`: one arm with one seed, as the function that measures it sees it; and how such a trial ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from .subject import Subject

CONTROL, CHANGED, BOTH = "control", "changed", "both"


@dataclass
class Trial:
    """What `measure(trial)` is given. It runs in a child process with limits; what it raises is recorded, not raised.

    An `InputError` (or another `FirstbreakError`) raised in it means that the subject does not offer what is needed;
    it ends the whole experiment and is shown to the user.
    """

    subject: Subject
    arm: str
    """`control`, `changed`, or `both` where the arms are measured together."""
    settings: Mapping[str, Any]
    """The variables of the experiment as this arm has them: {`changes`: value, **fixed}. Empty for `both`."""
    seed: int
    folder: Path
    """An empty folder of its own, removed afterwards."""
    seconds: float = 0.0
    """Time limit of this trial; 0 for none."""
    sign_of_life: Callable[[str, dict[str, Any]], None] = lambda kind, data: None
    used: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    env_steps: int = 0
    fingerprint: str = ""
    """What the trial did, as a digest: equal for every seed means that the seed is ignored."""

    def beat(self, steps: int = 0) -> None:
        """Give a sign of life; a trial that gives none for `silence_s` seconds is stopped as hung."""
        self.sign_of_life("beat", {"steps": steps})

    def uses(self, **settings: Any) -> None:
        """State settings as they were really put to work; the arms may differ in the changed variable only."""
        self.used.update(settings)

    def note(self, text: str) -> None:
        """Leave a remark for the report."""
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True)
class Ended:
    """How one trial ended. `how` is `measured`, or raised, hung, too_slow, out_of_memory, too_loud, died."""

    arm: str
    seed: int
    how: str
    measures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Numbers by name; for `both`: {"control": numbers, "changed": numbers}."""
    used: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()
    message: str = ""
    trace: str = ""
    seconds: float = 0.0
    env_steps: int = 0
    fingerprint: str = ""

    @property
    def measured(self) -> bool:
        """Whether it yielded numbers, all of them finite."""
        return self.how == "measured"


def ended(data: Mapping[str, Any], **more: Any) -> Ended:
    """Return the `Ended` that `asdict` turned into plain data, with `more` fields set."""
    fields: dict[str, Any] = {**data, "notes": tuple(data["notes"]), **more}
    return Ended(**fields)


def numbers(measures: Any, arm: str) -> dict[str, Any]:
    """Return what `measure` answered as plain numbers; a pair becomes {"control": ..., "changed": ...}.

    Raises:
        TypeError: it is not a table of numbers, or not a pair of tables where both arms are measured together.
    """
    if arm == BOTH:
        if not isinstance(measures, tuple) or len(cast("tuple[Any, ...]", measures)) != 2:
            raise TypeError("an experiment that measures both arms together returns (control, changed)")
        pair = cast("tuple[Any, Any]", measures)
        return {CONTROL: numbers(pair[0], CONTROL), CHANGED: numbers(pair[1], CHANGED)}
    if not isinstance(measures, Mapping):
        raise TypeError(f"an experiment returns numbers by name, not {type(measures).__name__}")
    return {str(k): float(v) for k, v in cast("Mapping[Any, Any]", measures).items()}


def finite(measures: Mapping[str, Any]) -> bool:
    """Whether all numbers are finite, in both arms where there are two."""
    return all(
        finite(cast("Mapping[str, Any]", v)) if isinstance(v, Mapping) else math.isfinite(v) for v in measures.values()
    )

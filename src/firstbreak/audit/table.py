"""What is kept of all samples: one number a measure, and the texts of a few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .sample import Sample

Column = NDArray[np.float32]
Fingerprints = NDArray[np.uint64]


def _none() -> Fingerprints:
    return np.zeros(0, np.uint64)


def _rows() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Table:
    """The subject of every check of samples.

    `columns` hold what the log says (`reward`, `human`, `human_chosen`, `success`, `advantage`, `truncated`,
    `length_tokens`, `step`, `unsafe`, `versions_spanned`; every other number of the log as `score/<name>`; booleans
    as 0 and 1) and what was measured (`text/...`, `agent/...`, `tokens/...`; `measure.meanings` says what each is).
    Each is [N], NaN where it is not known, and all-NaN columns are left out.
    """

    path: str
    columns: Mapping[str, Column]
    group: Fingerprints
    """Fingerprint of each sample's prompt or group [N]."""
    top: tuple[Sample, ...] = ()
    """Samples of the highest rewards, highest first; at most `KEPT`."""
    bottom: tuple[Sample, ...] = ()
    """Samples of the lowest rewards, lowest first; at most `KEPT`."""
    drawn: tuple[Sample, ...] = ()
    """Samples drawn evenly at random (reservoir, fixed seed); at most `KEPT_DRAWN`, in the order of the source."""
    sources: Mapping[str, int] = field(default_factory=dict[str, int])
    """Format -> files read."""
    unreadable: int = 0
    """Rows that could not be read."""
    together: tuple[Sample, ...] = ()
    """All samples of a few groups drawn evenly, group by group; at most `KEPT_TOGETHER`, 64 of one group."""
    response: Fingerprints = field(default_factory=_none)
    """Fingerprint of each response and its calls [N], equal for equal ones. Empty where a table was made by hand."""
    opening: Fingerprints = field(default_factory=_none)
    """Fingerprint of the first `OPENING_WORDS` words of each response [N]; 0 where there are fewer."""
    prompt: Fingerprints = field(default_factory=_none)
    """Fingerprint of each prompt [N], the same at every step (`group` is not). Empty where a table was made by hand."""
    row: NDArray[np.int64] = field(default_factory=_rows)
    """Row of each sample in its source [N]."""
    faults: Mapping[str, str] = field(default_factory=dict[str, str])
    """Module of a measure -> the first exception it raised: a fault of firstbreak."""
    unscored: int = 0
    """Samples whose reward was there, but no finite number."""
    unnamed: int = 0
    """Samples without a prompt or a group: each stands for itself."""
    dropped_scores: int = 0
    """Names of scores beyond `MOST_SCORES`, which were not read."""
    reference: Table | None = None
    """Samples to compare with: of an earlier checkpoint, or of the model that training started from."""

    @property
    def n(self) -> int:
        """Samples."""
        return int(self.group.size)

    @property
    def groups(self) -> int:
        """Different prompts or groups."""
        return int(np.unique(self.group).size)

    @property
    def prompts(self) -> Fingerprints:
        """Return what tells the prompts apart whatever the step [N]; the groups where all share one text or none."""
        if self.prompt.size != self.n or (np.unique(self.prompt).size < 2 and not self.unnamed):
            return self.group
        return self.prompt

    def get(self, name: str) -> Column | None:
        """Return the column [N], or None where nothing is known of it."""
        return self.columns.get(name)

    def measured(self, prefix: str) -> dict[str, Column]:
        """Return the columns whose names begin with `prefix`."""
        return {name: column for name, column in self.columns.items() if name.startswith(prefix)}

    def row_of(self, index: int) -> int:
        """Return the row in its source of the sample at `index`."""
        return int(self.row[index]) if self.row.size else index


KEPT = 200
"""Samples kept at either end of the reward. Engineering default: more than anybody reads."""
KEPT_DRAWN = 4000
"""Samples drawn for the measures that compare samples with one another. Engineering default."""
KEPT_TOGETHER = 2000
"""Samples kept in whole groups. Engineering default: 250 groups of 8."""
OPENING_WORDS = 6
"""Words of an opening. Engineering default: enough to be a template, too few to be an answer."""
MOST_SCORES = 200
"""Names of scores that are read. Engineering default."""

"""The exit status of a diagnosis (docs/design.md, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis

OK, FOUND, BAD, UNDECIDED = 0, 1, 2, 3


def status_of(diagnoses: Sequence[Diagnosis], *, fail_on: str = "error", undecided_ok: bool = False) -> int:
    """Return 1 when any run has a finding at `fail_on` or above, else 2 when a run could not be looked at at all,
    else 3 when any run is undecided, else 0.
    """
    from ..diagnosis import Verdict
    from ..finding import Severity

    bar = Severity(fail_on).rank
    if any(f.severity.rank >= bar and not f.ignored for d in diagnoses for f in d.findings):
        return FOUND
    if not diagnoses or any(d.coverage.looked == 0 for d in diagnoses):
        return BAD
    if any(d.verdict is Verdict.UNDECIDED for d in diagnoses) and not undecided_ok:
        return UNDECIDED
    return OK

"""What the log of a run tells an experiment about how it has to be made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...runlog import RunLog

OUTSIDE = "optim/outside_change_frac"
SEEN = 1e-3
"""Change of the weights between two updates that counts, as in the rule `weights-changed-outside`."""
MARGIN = 1.3
"""A trial is longer than the time between two events by this factor. Engineering default: the rhythm may not begin with
the first step."""
KL = "policy/kl_old"
FAR_NATS = 1.0
"""From here on the data says nothing any more of the policy (`MOST_NATS` of the experiment)."""


def told_by(experiment: str, log: RunLog) -> Mapping[str, Any]:
    """Return what `log` gives to an experiment.

    Where the weights were changed from outside now and then, a trial with learning rate 0 has to last until that may
    happen again: `short_steps`. Where the first updates took the policy far from its data, those of a control have to
    do so too: `logged_kl`.
    """
    if experiment == "one-epoch-one-minibatch":
        first = first_kl(log)
        return {} if first is None or first < FAR_NATS else {"logged_kl": float(f"{first:.4g}")}
    if experiment != "zero-learning-rate" or log.clock != "env_steps":  # which is what a trial's length counts
        return {}
    gap = gap_between_changes(log)
    return {} if gap is None else {"short_steps": int(np.ceil(MARGIN * gap))}


def first_kl(log: RunLog) -> float | None:
    """Return the KL of the first updates that were logged; None where none was."""
    for series in log.series:
        if series.metric == KL and len(series) and np.isfinite(series.value[0]):
            return float(series.value[0])
    return None


def gap_between_changes(log: RunLog) -> float | None:
    """Return the median distance of changes from outside, in the log's own steps; None where there are not two.

    A change that is told in two rows on end is one.
    """
    for series in log.series:
        if series.metric != OUTSIDE or len(series) < 3:
            continue
        rows = np.flatnonzero(series.value > SEEN)
        begun = rows[np.diff(rows, prepend=-2) > 1]
        if len(begun) >= 2:
            return float(np.median(np.diff(series.step[begun])))
    return None

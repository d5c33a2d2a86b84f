"""The rule `replay-buffer-tiny`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-buffer-tiny`."""

    batches: float = 4.0
    """Batches that the buffer holds, below which each row comes again and again while it is there. The healthy ordinary
    logs and those of the fault benchmark's development half (2026-11-26) have 23 and more, those with such a fault less
    than 2. Engineering default."""


SAC = synth.like("SAC", config={"buffer_size": 100, "batch_size": 64})
CASES = (
    fires("a hundred rows for batches of 64", lambda: SAC({})),
    healthy("a million", lambda: synth.like("SAC", config={"buffer_size": 1_000_000, "batch_size": 256})({})),
    near_miss("small but many batches", lambda: synth.like("DQN", config={"buffer_size": 1000, "batch_size": 32})({})),
)


@rule(
    "DAT047",
    "replay-buffer-tiny",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs_config=("buffer_size", "batch_size"),
    when=("replay", "control"),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "q-divergence", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The replay buffer holds hardly more than one batch.

    What it means:
        Batches are drawn from the last few steps of one episode: nearly the same rows each time, each of the policy of
        now.

    Why it matters:
        Values fit what was just seen and forget all else, so that they swing as the policy moves; what replay is for,
        rows that do not depend on one another, is gone.

    Usual causes:
        Zeros that were lost; a size in batches or episodes where steps are meant; a setting of a quick test.

    What to try:
        Log how many rows the buffer holds; 10,000 and more is usual.

    When it is harmless:
        When the buffer holds whole episodes or sequences and its size counts those.

    References:
        Lin 1992, "Self-improving reactive agents". Fedus et al. 2020, arXiv 2007.06700.
    """
    room, batch = view.number("buffer_size"), view.number("batch_size")
    if room is None or batch is None or not 0 < room < params.batches * batch:
        return None
    return Detection(
        message=f"the replay buffer holds {room:.6g} rows, batches have {batch:.6g}",
        onset=view.onset(0.0),
        metric="",
        evidence={"buffer_size_rows": room, "batch_size_rows": batch},
    )

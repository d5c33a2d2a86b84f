"""`audit_reward_model`: does a reward model prefer what it should, for the right reasons?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...check import Look, look_at_all
from ...errors import InputError
from ...inspection import Inspection, inspection
from ...isolation import How, Limits, run
from ...target import is_target
from .details import details_of, notes_of
from .pairs import MOST_PAIRS, Golden, Pair, read_golden, read_pairs
from .record import Array, Scored
from .scoring import BATCH
from .variants import VARIANTS, variant

FEW = 96
"""Pairs whose chosen side is scored again in other ways. Engineering default: an interval of ten points."""

Tell = Callable[[Look], None]


def audit_reward_model(
    target: str,
    pairs: str | Path | Sequence[Pair],
    *,
    golden: str | Path | None = None,
    before: str | Path | None = None,
    most: int = MOST_PAIRS,
    limits: Limits | None = None,
    tell: Tell | None = None,
) -> Inspection:
    """Score preference pairs and judge what the reward model goes by.

    Args:
        target: `module:fn` or `file.py:fn`, called as fn(prompts, responses) -> scores, or a folder with a
            sequence-classification model; it runs in a child process.
        pairs: RewardBench's format (prompt, chosen, rejected, subset): JSONL, CSV or Parquet; or `Pair`s.
        golden: responses with recorded scores, to measure drift.
        before: the recorded scores, row by row, where they do not stand in `golden`.
        most: most pairs that are scored.
        tell: hears of each check as it ends.

    Raises:
        InputError: the target or a file cannot be used.
    """
    scored = score_pairs(target, pairs, golden=golden, before=before, most=most, limits=limits)
    with np.errstate(all="ignore"):
        looks = look_at_all("reward-model", scored, tell)
        details = details_of(scored)
    return inspection("reward-model", target, looks, details=details, notes=notes_of(scored))


def score_pairs(
    target: str,
    pairs: str | Path | Sequence[Pair],
    *,
    golden: str | Path | None = None,
    before: str | Path | None = None,
    most: int = MOST_PAIRS,
    limits: Limits | None = None,
) -> Scored:
    """Score the pairs and their variants in a child process; see `audit_reward_model` for the arguments."""
    if not is_target(target) and not Path(target).is_dir():
        raise InputError(f"{target!r} is neither module:function nor a folder.", "For example: my_rm.py:score")
    if before is not None and golden is None:
        raise InputError("Recorded scores are given without golden responses.", "Give --golden FILE too.")
    found, left_out = read_pairs(Path(pairs), most) if isinstance(pairs, (str, Path)) else (list(pairs)[:most], 0)
    recorded = [] if golden is None else read_golden(Path(golden), None if before is None else Path(before))
    jobs = jobs_of(found, recorded)
    got: dict[str, Array] = {name: np.full(len(job[0]), np.nan) for name, job in jobs.items()}

    def hear(message: dict[str, Any]) -> None:
        if message["kind"] == "scores":
            values = [float(v) if isinstance(v, (int, float)) else np.nan for v in message["values"]]
            got[message["job"]][message["start"] : message["start"] + len(values)] = values

    ending = run(f"{__package__}.scoring:score", {"target": target, "jobs": jobs}, limits=limits, hear=hear)
    ended = "" if ending.how is How.FINISHED else f"{ending.how.value}: {ending.message}"[:200]
    return assembled(target, found, recorded, got, ended=ended, left_out=left_out)


def assembled(
    target: str,
    found: Sequence[Pair],
    recorded: Sequence[Golden],
    got: Mapping[str, Array],
    *,
    ended: str = "",
    left_out: int = 0,
) -> Scored:
    """Return the subject of the checks from the scores of each of `jobs_of`."""
    first = got["pairs"]
    few = {name: values for name, values in got.items() if name not in ("pairs", "golden")}
    few["reversed"] = few["reversed"][::-1]
    return Scored(
        target,
        tuple(found),
        first[: len(found)],
        first[len(found) :],
        {name: few[name] for name in ("again", "singly", "reversed")},
        {name: few[name] for name in VARIANTS},
        tuple(recorded),
        got["golden"],
        ended,
        left_out,
    )


def jobs_of(pairs: Sequence[Pair], golden: Sequence[Golden]) -> dict[str, list[Any]]:
    """Return name -> [prompts, responses, batch size] of everything to score."""
    prompts = [p.prompt for p in pairs]
    few = pairs[:FEW]
    some, texts = [p.prompt for p in few], [p.chosen for p in few]
    jobs: dict[str, list[Any]] = {
        "pairs": [prompts * 2, [p.chosen for p in pairs] + [p.rejected for p in pairs], BATCH],
        "golden": [[g.prompt for g in golden], [g.response for g in golden], BATCH],
        "again": [some, texts, BATCH],
        "singly": [some, texts, 1],
        "reversed": [some[::-1], texts[::-1], BATCH],
    }
    for name in VARIANTS:
        jobs[name] = [some, [variant(name, text) for text in texts], BATCH]
    return jobs

"""The JSON face of an experiment: the outer shape of every judging command, and the experiment's own part."""

from __future__ import annotations

from typing import Any

from ... import __version__
from ...experiments.result import Outcome, Result, to_plain
from ...finding import Component, Finding, Link, Onset, Severity
from ...inspection import START
from ..json import SCHEMA_VERSION, clean, finding_dict

LONGEST_MESSAGE = 120


def document(result: Result) -> dict[str, Any]:
    """Return the document of one experiment.

    `verdict` is *broken* when the hypothesis is confirmed and *undecided* otherwise: a refutation clears one suspect,
    not the run. The answer to the question is `outcome`.
    """
    plain = to_plain(result)
    decided = result.outcome is not Outcome.INCONCLUSIVE
    return clean(
        {
            "schema_version": SCHEMA_VERSION,
            "tool_version": __version__,
            "kind": "experiment",
            "target": result.plan.subject.name,
            "outcome": result.outcome.value,
            "verdict": "broken" if result.outcome is Outcome.CONFIRMED else "undecided",
            "findings": [finding_dict(f) for f in findings(result)],
            "coverage": {
                "links": {result.plan.link: "looked" if decided else "blind"} if result.plan.link else {},
                "looked": int(decided),
                "applicable": 1,
                "skipped": [] if decided else [_skipped(result)],
                "errors": [],
            },
            "experiment": plain,
        }
    )


def _skipped(result: Result) -> dict[str, Any]:
    seeds = [] if result.seeds_needed is None else [f"{result.seeds_needed} more pairs of seeds"]
    name = result.name
    return {"rule": name, "name": name, "reason": result.words, "unlock_with": seeds, "applies": True}


def findings(result: Result) -> list[Finding]:
    """Return the finding of a confirmed hypothesis; none otherwise."""
    if result.outcome is not Outcome.CONFIRMED or not result.plan.link:
        return []
    last = result.last
    evidence: dict[str, float | int | str | bool] = {}
    if last is not None and result.margin is not None:
        interval = {} if result.plan.one_proves else {"effect_lo": last.lo, "effect_hi": last.hi}
        evidence = {"effect": last.mean, **interval, "margin": result.margin, "pairs": last.pairs}
    onset: Onset = START
    return [
        Finding(
            rule=f"EXP:{result.name}",
            name=result.name,
            link=Link(result.plan.link),
            component=Component(result.plan.component),
            severity=Severity.ERROR,
            onset=onset,
            message=result.plan.hypothesis[:LONGEST_MESSAGE],
            metric=result.plan.unit,
            evidence=evidence,
            static=True,
        )
    ]

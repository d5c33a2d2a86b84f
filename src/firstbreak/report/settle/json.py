"""The JSON face: the run's entry as `diagnose` prints it, and beside it what experiments changed and what is next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...experiments.settle.api import Settling
from ...experiments.settle.choosing import entropy_bits, probabilities
from ...experiments.settle.steps import Step
from ..json import clean, document, run_dict


def settle_document(settlings: Sequence[Settling]) -> dict[str, Any]:
    """Return the document of any number of runs: the shape of `diagnose`, each run with its part `settle`."""
    made = document([s.settled.diagnosis for s in settlings])
    for run, settling in zip(made["runs"], settlings, strict=True):
        run["settle"] = clean(_part(settling))
    return made


def _part(settling: Settling) -> dict[str, Any]:
    settled = settling.settled
    causes = settled.diagnosis.causes
    shares = probabilities(causes).tolist()
    return {
        "open": settling.open,
        "open_bits": entropy_bits(causes),
        "convicted": list(settled.convicted),
        "weights": {**{c.name: p for c, p in zip(causes, shares, strict=False)}, "none of these": shares[-1]},
        "before": [{"name": c.name, "score": c.score} for c in settled.before.causes],
        "first_break_before": run_dict(settled.before)["first_break"],
        "moves": [
            {
                "cause": m.cause,
                "experiment": m.experiment,
                "outcome": m.outcome.value,
                "points": m.points,
                "removed": m.removed,
                "reason": m.reason,
            }
            for m in settled.moves
        ],
        "removed": [c.name for c in settled.removed],
        "used": list(settled.used),
        "left": [{"experiment": name, "reason": reason} for name, reason in settled.left],
        "notes": list(settled.notes),
        "steps": [_step(s) for s in settling.steps],
        "by_hand": [
            {
                "cause": h.cause,
                "experiment": h.look.experiment,
                "recipe": h.look.recipe,
                "command": h.look.command,
                "reason": h.reason,
            }
            for h in settling.hand
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    one, proposal = step.proposal.experiment, step.proposal
    return {
        "experiment": one.name,
        "given": dict(proposal.given),
        "bits": proposal.bits,
        "cost_runs": proposal.cost_runs,
        "bits_per_run": proposal.worth,
        "hypothesis": one.hypothesis,
        "prediction": one.prediction,
        "speaks_to": [
            {"cause": name, "supported_by": tie.supports.value, "otherwise": tie.otherwise.value}
            for name, tie in proposal.speaks_to.items()
        ],
        "command": step.command if step.ready else None,
        "template": step.command,
        "lacks": [{"name": need.name, "how": need.how} for need in step.lacks],
        "recipe": step.recipe,
        "patches": [{"framework": p.framework, "versions": p.versions, "diff": list(p.lines)} for p in step.patches],
    }

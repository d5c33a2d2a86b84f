"""Saving the script of a finding that has a list of actions, and telling where it lies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...check import Look, Symptom
from .cases import Case, case_of
from .fuzz import fuzz_of
from .script import plain, script_text
from .world import World

FROM_FUZZ: dict[str, tuple[str, ...]] = {
    "crash-on-extreme-action": ("raised",),
    "not-finite-on-extreme-action": ("observation-not-finite", "reward-not-finite"),
    "explosion-on-extreme-action": ("reward-huge", "observation-huge"),
}
"""Checks whose actions come from the extreme runs, and the kinds of breakage they tell."""
FAULTS = {"raised": "raises", "reward-huge": "huge", "observation-huge": "huge"}
LONGEST_TEXT = 400


def scripted(look: Look, world: World, folder: Path | None) -> Look:
    """Return `look` with its actions and, when `folder` is given, the path of its script in the evidence."""
    case = case_for(look, world)
    if look.symptom is None or case is None:
        return look
    return Look(look.check, symptom=with_case(look.symptom, look.check, case, world.target, world.kind, folder))


def with_case(symptom: Symptom, check: str, case: Case, target: str, kind: str, folder: Path | None) -> Symptom:
    """Return `symptom` with the seed and the actions of `case` and the path of its script."""
    evidence = dict(symptom.evidence)
    evidence.setdefault("actions_steps", len(case.actions))
    if case.seed is not None:
        evidence.setdefault("seed", case.seed)
    evidence.setdefault("actions", repr([plain(a) for a in case.actions])[:LONGEST_TEXT])
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{check}.py"
        path.write_text(script_text(target, kind, case, f"{target}: {symptom.message}"), encoding="utf-8")
        evidence["script"] = str(path)
    return replace(symptom, evidence=evidence)


def case_for(look: Look, world: World) -> Case | None:
    """Return the case that belongs to a check that fired."""
    if look.symptom is None:
        return None
    kinds = FROM_FUZZ.get(look.check)
    if kinds is None:
        return case_of(world, look.check)
    broken = fuzz_of(world).first(*kinds)
    return None if broken is None else Case(FAULTS.get(broken.kind, broken.kind), broken.seed, broken.actions)

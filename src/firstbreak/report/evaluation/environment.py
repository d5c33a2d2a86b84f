"""Shared seeds, normalisers and versions, as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...evaluation.normaliser import RATIO, SHIFT, Normalisers
from ...evaluation.seeds import SharedSeeds
from ...evaluation.versions import Mismatch
from ..clean import plain
from ..page import Page
from ..words import count, number

NORMALISERS = {
    "same": "The same statistics",
    "untouched": "Evaluation never loaded its normaliser: mean 0, spread 1",
    "different": "Different statistics: the policy sees other inputs than in training",
    "drifted": "Nearly the same statistics, but not the same",
}


def seeds_data(found: SharedSeeds) -> dict[str, Any]:
    """Return the document of shared seeds."""
    return {"verdict": "broken" if found.shared else "healthy", "seeds": asdict(found)}


def draw_seeds(page: Page, found: SharedSeeds) -> None:
    """Draw how many seeds are shared."""
    page.line(f"{found.shared:,} of {count(found.evaluation, 'evaluation seed')} are among "
              f"{count(found.train, 'training seed')}", style="bold")  # fmt: skip
    if found.shared:
        page.entry("shared", ", ".join(str(s) for s in found.examples) + (", …" if found.shared > 5 else ""))
        page.entry("next", "Evaluate on seeds far from those of training, for instance from 1,000,000 on, and fix them "
                   "in the protocol. Where training episodes are reset without seeds, only the first episode of each "
                   "environment follows from its seed.")  # fmt: skip


def normalisers_data(found: Normalisers) -> dict[str, Any]:
    """Return the document of two normalisers."""
    verdict = {"same": "healthy", "drifted": "undecided"}.get(found.outcome, "broken")
    return {"verdict": verdict, "normaliser": asdict(found)}


def draw_normalisers(page: Page, found: Normalisers) -> None:
    """Draw how two normalisers differ."""
    page.line(f"{NORMALISERS[found.outcome]}.", style="bold")
    page.entry("mean", f"apart by at most {number(found.shift)} standard deviations (from {SHIFT:g} on it matters)")
    page.entry("spread", f"apart by a factor of at most {number(found.ratio)} (from {RATIO:g} on); worst in number "
               f"{found.dimension}")  # fmt: skip
    if None not in found.counts and found.counts[0] != found.counts[1]:
        page.entry("count", f"{number(found.counts[0] or 0)} and {number(found.counts[1] or 0)} observations")
    if found.outcome != "same":
        page.entry("next", "Save the statistics with the checkpoint, load them for evaluation, and freeze them there.")


def versions_data(packages: Sequence[Mismatch], environment: str) -> dict[str, Any]:
    """Return the part of a document that names what differs."""
    return {"mismatches": [asdict(m) for m in packages], "environment_differs_in": environment or None}


def draw_versions(page: Page, packages: Sequence[Mismatch], environment: str) -> None:
    """Draw where the environment is another than the protocol says."""
    for one in packages:
        page.entry("version", f"{plain(one.name, 60)}: the protocol says {plain(one.wanted, 40)}, here is "
                   f"{plain(one.found, 40)}")  # fmt: skip
    if environment:
        page.entry("version", f"training and evaluation name environments that differ in their {environment}")
    if not packages and not environment:
        page.entry("version", "as the protocol says")

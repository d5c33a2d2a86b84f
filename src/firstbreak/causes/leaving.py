"""Causes of which all that is known is that a metric left its past as in no healthy run: one a link."""

from __future__ import annotations

from ..cause import Cause, Experiment
from ..finding import Component, Link

WEIGHT = 1.0
"""The least that suggests a cause: whatever names what happened goes before it. Engineering default."""
PLACES: tuple[tuple[str, Link, Component, str], ...] = (
    ("environment", Link.ENVIRONMENT_DATA, Component.ENVIRONMENT, "What the environment answers"),
    ("critic", Link.CRITIC, Component.VALUE, "The critic, or what it is fitted to,"),
    ("policy", Link.POLICY_UPDATE, Component.OPTIMISER, "The policy's steps, or what they are taken from,"),
    ("exploration", Link.EXPLORATION, Component.SAMPLER, "How the policy explores"),
)
"""Word, link, component and how the summary begins."""
EXPERIMENTS = (
    Experiment(
        "what changed then",
        "List what happened by that step (jobs, resumes, schedules, files, other processes); start again from the last "
        "checkpoint before it without the likeliest: the metric named must stay where it was.",
        "bisect",
    ),
)
CAUSES: tuple[Cause, ...] = tuple(
    Cause(
        name=f"{word}-left-its-past",
        link=link,
        component=component,
        summary=f"{begin} went further from the run's own past than in any healthy run that was recorded.",
        explains={f"{word}-leaves-past": WEIGHT},
        experiments=EXPERIMENTS,
        fixes=(),
    )
    for word, link, component, begin in PLACES
)

"""Causes that only the run's own past can show: one a link, where nothing says more."""

from __future__ import annotations

from ..cause import Cause, Experiment
from ..finding import Component, Link

WEIGHT = 1.2
"""Above a typical sign, below a decisive one: that something changed is certain, what it was is not. Engineering
default, as of `firstbreak.causes.departures`."""
PLACES: tuple[tuple[str, Link, Component, str], ...] = (
    ("environment", Link.ENVIRONMENT_DATA, Component.ENVIRONMENT, "What the environment answers"),
    ("reward", Link.REWARD_SIGNAL, Component.REWARD, "What steps are paid"),
    ("critic", Link.CRITIC, Component.VALUE, "The critic, or what it is fitted to,"),
    ("policy", Link.POLICY_UPDATE, Component.OPTIMISER, "The policy's weights, or how they are stepped,"),
    ("exploration", Link.EXPLORATION, Component.SAMPLER, "How the policy explores"),
)
"""Word, link, component and how the summary begins."""
EXPERIMENTS = (
    Experiment(
        "what changed then",
        "List what happened at that step (jobs, resumes, schedules, files, other processes); start again from the last "
        "checkpoint before it without the likeliest: the metrics named must stay.",
        "bisect",
    ),
)
CAUSES: tuple[Cause, ...] = tuple(
    Cause(
        name=f"{word}-changed-midrun",
        link=link,
        component=component,
        summary=f"{begin} changed within one row, before anything else did.",
        explains={f"{word}-moves-at-once": WEIGHT},
        experiments=EXPERIMENTS,
        fixes=(),
    )
    for word, link, component, begin in PLACES
)

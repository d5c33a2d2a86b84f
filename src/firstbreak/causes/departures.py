"""Causes that only healthy runs of the same task can show: one a link, where nothing says more."""

from __future__ import annotations

from ..cause import Cause, Experiment
from ..finding import Component, Link

WEIGHT = 1.2
"""Above a typical sign, below a decisive one: that a link differs is certain, what differs in it is not. Engineering
default."""
PLACES: tuple[tuple[str, Link, Component, str], ...] = (
    ("environment", Link.ENVIRONMENT_DATA, Component.ENVIRONMENT, "The environment's side of the data"),
    ("evaluation", Link.EVALUATION_PROTOCOL, Component.EVALUATION, "The evaluation"),
    ("reward", Link.REWARD_SIGNAL, Component.REWARD, "The reward"),
    ("critic", Link.CRITIC, Component.VALUE, "The critic"),
    ("policy", Link.POLICY_UPDATE, Component.LOSS, "The policy's update"),
    ("exploration", Link.EXPLORATION, Component.SAMPLER, "Exploration"),
    ("freshness", Link.DATA_FRESHNESS, Component.ROLLOUT, "The freshness of the data"),
    ("numerics", Link.NUMERICS, Component.OPTIMISER, "The size of gradients or weights"),
)
"""Word, link, component and how the summary begins."""
EXPERIMENTS = (
    Experiment(
        "halve the difference",
        "List what no healthy run has (code, settings, packages, data), likeliest first; put back one half of it.",
        "bisect",
        "firstbreak compare RUN --baseline HEALTHY",
    ),
    Experiment("another seed", "Run the healthy version again with this run's seed: does it leave the band as well?"),
)
CAUSES: tuple[Cause, ...] = tuple(
    Cause(
        name=f"{word}-differs",
        link=link,
        component=component,
        summary=f"{begin} is not what healthy runs of this task show, before anything else is.",
        explains={f"{word}-departs": WEIGHT},
        experiments=EXPERIMENTS,
        fixes=(),
    )
    for word, link, component, begin in PLACES
)

"""Assessed runs made up by Hypothesis: every score must agree with its slow twin on whatever is there."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from benchmarks.faults.scoring.answer import Alarm, Answer
from benchmarks.faults.scoring.assessing import FIRSTBREAK, Assessed
from benchmarks.faults.scoring.bands import Left
from benchmarks.faults.scoring.catalogue import Fault
from benchmarks.faults.scoring.losing import Loss

LINKS = ("critic", "numerics", "exploration", "reward_signal")
METRICS = ("critic/loss", "policy/entropy", "reward/train_mean")
CAUSES = ("a", "b", "c")
RULES = ("kl", "nan", "flat")

links = st.sampled_from(LINKS)
faults = st.builds(
    Fault,
    id=st.sampled_from(("x", "y", "z")),
    link=links,
    also_right=st.lists(links, max_size=2).map(tuple),
    causes=st.lists(st.sampled_from(CAUSES), max_size=2, unique=True).map(tuple),
)
alarms = st.lists(
    st.builds(
        Alarm,
        name=st.sampled_from(RULES),
        links=st.lists(links, max_size=2, unique=True).map(tuple),
        at=st.integers(0, 100).map(float),
    ),
    max_size=4,
).map(lambda found: tuple(sorted(found, key=lambda alarm: alarm.at)))
answers = st.builds(
    Answer,
    verdict=st.sampled_from(("broken", "healthy", "undecided")),
    alarms=alarms,
    links=st.lists(links, max_size=3, unique=True).map(tuple),
    causes=st.lists(st.sampled_from(CAUSES), max_size=2, unique=True).map(tuple),
    claimed=st.lists(links, max_size=3, unique=True).map(tuple),
    rivals=st.lists(links, max_size=2, unique=True).map(tuple),
    confidence=st.sampled_from((0.0, 0.0, 0.5, 1.5, 2.7)),
    metric=st.sampled_from(("", *METRICS)),
    onset=st.none() | st.integers(0, 100).map(float),
    rule=st.sampled_from(RULES),
)
lefts = st.none() | st.builds(
    Left, metrics=st.lists(st.sampled_from(METRICS), min_size=1, max_size=2, unique=True).map(tuple), at=st.just(5.0)
)
losses = st.none() | st.builds(
    Loss,
    learned=st.booleans(),
    lost_at=st.sampled_from((math.nan, 30.0, 60.0)),
    collapsed=st.booleans(),
    window=st.sampled_from((0.0, 20.0)),
)


@st.composite
def assessed(draw: st.DrawFn) -> Assessed:
    fault = draw(st.none() | faults)
    mid = fault is not None and draw(st.booleans())
    return Assessed(
        id=f"run{draw(st.integers(0, 10**6))}",
        subject=draw(st.sampled_from(("ppo", "dqn"))),
        framework="sb3",
        algorithm=draw(st.sampled_from(("PPO", "DQN"))),
        task="t",
        kind="fault" if fault else draw(st.sampled_from(("healthy", "hard_negative:x"))),
        seed=draw(st.integers(0, 3)),
        half="held",
        fault=fault,
        start=draw(st.sampled_from((20.0, 50.0))) if mid else 0.0,
        mid_run=mid,
        end=100.0,
        cadence=draw(st.sampled_from((1.0, 10.0))),
        answers={FIRSTBREAK: draw(answers)},
        measurable=True,
        measured=draw(lefts) if fault else None,
        by_halves=draw(st.none() | st.tuples(lefts, lefts)) if fault else None,
        loss=draw(losses) if mid else None,
        rows_to_loss=draw(st.none() | st.integers(0, 4)) if mid else None,
        live=draw(st.none() | alarms),
        removed=draw(st.none() | st.tuples(st.just(("critic/loss",)), answers)) if fault else None,
        variants=draw(st.dictionaries(st.sampled_from(("renamed", "rescaled")), answers, max_size=2)),
    )


runs = st.lists(assessed(), max_size=6)

"""A script as a black box: run for real on the ids of the ladder, judged by what its environments saw."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits
from firstbreak.probes.api import probe

LIMITS = Limits(seconds=60.0, silence_s=30.0)
STEPS = 2000

LEARNER = '''
"""Tabular Q-learning with one mistake that is named on the command line, and with a log of its own to stdout."""
import itertools, sys
import gymnasium, numpy as np

name, steps, seed, mistake = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
env = gymnasium.make(name)
space = env.action_space
if mistake == "never_steps":
    sys.exit(0)
if not hasattr(space, "n") and not hasattr(space, "nvec"):
    sys.exit("discrete actions only")
sizes = [int(space.n)] if hasattr(space, "n") else [int(n) for n in space.nvec]
actions = list(itertools.product(*[range(n) for n in sizes]))
given = lambda i: actions[i][0] if hasattr(space, "n") else np.array(actions[i])
key = lambda obs: 0 if mistake == "blind" else np.asarray(obs).tobytes()
random, table, tries = np.random.default_rng(seed), {}, {}
row = lambda obs: table.setdefault(key(obs), np.zeros(len(actions)))
obs, _ = env.reset(seed=seed)
for t in range(steps):
    greedy = mistake != "random" and random.random() > max(0.02, 1 - 2 * t / steps)
    best = row(obs).argmax() if mistake != "upside_down" else row(obs).argmin()
    i = int(best) if greedy else int(random.integers(len(actions)))
    seen, reward, terminated, truncated, _ = env.step(given(i))
    after = 0.0 if terminated or mistake == "myopic" else row(seen).max()
    tries[key(obs), i] = tries.get((key(obs), i), 0) + 1
    row(obs)[i] += max(0.02, 1 / tries[key(obs), i]) * (reward + 0.5 * after - row(obs)[i])
    obs = env.reset()[0] if terminated or truncated else seen
print("episode_return 1.0")
if mistake == "fails":
    raise RuntimeError("no such folder")
'''


def climb(folder: Path, mistake: str) -> Inspection:
    path = folder / "learner.py"
    path.write_text(LEARNER)
    command = f"{sys.executable} {path} {{env_id}} {{steps}} {{seed}} {mistake}"
    return probe(script=command, steps=STEPS, limits=LIMITS)


def test_a_script_that_learns_is_healthy_as_far_as_its_actions_show(tmp_path: Path) -> None:
    seen = climb(tmp_path, "nothing")
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"], seen.details["failures"])
    assert {"best-action-not-found", "policy-ignores-state", "credit-not-delayed"} <= set(seen.clear)
    unlock = {name for s in seen.skipped for name in s.unlock_with}
    assert "agent.value(obs)" in unlock  # what a script cannot show is said, not called healthy


@pytest.mark.parametrize(
    ("mistake", "name"),
    [
        ("upside_down", "best-action-not-found"),
        ("blind", "policy-ignores-state"),
        ("myopic", "credit-not-delayed"),
    ],
)
def test_one_mistake_in_a_script_is_named_at_the_rung_that_adds_it(tmp_path: Path, mistake: str, name: str) -> None:
    seen = climb(tmp_path, mistake)
    assert seen.verdict is Verdict.BROKEN
    assert seen.first_break is not None
    assert seen.first_break.name == name, seen.details["rungs"]


@pytest.mark.parametrize(
    ("mistake", "words"),
    [("fails", "no such folder"), ("never_steps", "never stepped the environment")],
)
def test_a_script_that_cannot_be_judged_is_told_with_its_last_words(tmp_path: Path, mistake: str, words: str) -> None:
    seen = climb(tmp_path, mistake)
    assert seen.first_break is not None
    assert seen.first_break.name == "trainer-fails"
    assert words in str(seen.details["failures"])


def test_a_command_without_its_blanks_is_refused() -> None:
    with pytest.raises(InputError, match="env_id"):
        probe(script="python ppo.py")

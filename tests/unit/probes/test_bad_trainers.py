"""Trainers that hang, die, eat memory, print much or fork: each for real, and the probe says which and goes on."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.finding import Component, Finding
from firstbreak.isolation import Limits
from firstbreak.probes.api import probe

LIMITS = Limits(seconds=60.0, silence_s=30.0, memory_bytes=600_000_000, printed_bytes=20_000_000)
SHORT = replace(LIMITS, silence_s=1.2)
"""For trainers that do hang; a busy machine may keep the others quiet for longer."""

BAD = """
import os, signal, time

class Agent:
    def act(self, obs, deterministic): return 0
    def value(self, obs): return 1.0

class Stuck(Agent):
    def act(self, obs, deterministic): time.sleep(600)

def play(make_env, steps):
    env = make_env()
    env.reset(seed=0)
    for _ in range(steps):
        if any(env.step(0)[2:4]):
            env.reset()
    return Agent()

def sleeps(make_env, *, total_steps, seed):
    play(make_env, 1000)
    time.sleep(600)

def stuck_agent(make_env, *, total_steps, seed):
    play(make_env, total_steps)
    return Stuck()

def eats(make_env, *, total_steps, seed):
    play(make_env, 10)
    held = []
    while True:
        held.append(bytearray(b"x") * 50_000_000 if len(held) < 40 else b"")
        time.sleep(0.005)

def leaves(make_env, *, total_steps, seed):
    play(make_env, 700)
    os._exit(3)

def kills_itself(make_env, *, total_steps, seed):
    play(make_env, 700)
    os.kill(os.getpid(), signal.SIGKILL)

def floods(make_env, *, total_steps, seed):
    while True:
        os.write(1, b"x" * (1 << 20))

def loops(make_env, *, total_steps, seed):
    env = make_env()
    while True:
        env.reset()
        env.step(0)

def prints(make_env, *, total_steps, seed):
    for _ in range(2):
        print("y" * (1 << 20))
    return play(make_env, total_steps)

def forks(make_env, *, total_steps, seed):
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    with open("forked.txt", "a") as file:
        print(pid, file=file)
    return play(make_env, total_steps)

def forks_and_dies(make_env, *, total_steps, seed):
    forks(make_env, total_steps=total_steps, seed=seed)
    os._exit(9)

def returns_nothing(make_env, *, total_steps, seed):
    play(make_env, total_steps)

turns = 0

def fails_the_second_time(make_env, *, total_steps, seed):
    global turns
    turns += 1
    if turns > 1:
        raise RuntimeError("what the first training left behind")
    return play(make_env, total_steps)

def never_starts(make_env, *, total_steps, seed):
    raise RuntimeError("at once")

def never_plays(make_env, *, total_steps, seed):
    return Agent()

for one in (fails_the_second_time, never_plays):
    one.actions, one.steps = ("discrete",), 1500

for one in (sleeps, stuck_agent, eats, leaves, kills_itself, floods, loops, prints, forks, forks_and_dies,
            returns_nothing):
    one.actions, one.steps = ("discrete",), 1500
"""


@pytest.fixture(autouse=True)
def _trainers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad_trainers.py").write_text(BAD)
    monkeypatch.chdir(tmp_path)


def failure(name: str, limits: Limits) -> Finding:
    seen = probe(f"bad_trainers:{name}", jobs=1, limits=limits)
    assert seen.verdict is Verdict.BROKEN, seen.details["failures"]
    assert seen.errors == ()
    found = next(f for f in seen.findings if f.name == "trainer-fails")
    assert found.metric == "constant-value/discrete"
    return found


@pytest.mark.parametrize(
    ("name", "call", "words"),
    [
        ("sleeps", "train", "hung"),
        ("stuck_agent", "act", "hung"),
        ("eats", "train", "ran out of memory"),
        ("leaves", "train", "exit status 3"),
        ("kills_itself", "train", "SIGKILL"),
        ("floods", "train", "printed"),
        ("loops", "train", "does not stop"),
        ("returns_nothing", "train", "NoneType"),
    ],
)
def test_a_bad_training_is_told_with_rung_and_call(name: str, call: str, words: str) -> None:
    found = failure(name, SHORT if words == "hung" else LIMITS)
    assert words in found.message
    assert found.evidence["call"] == call
    if name in {"leaves", "kills_itself", "sleeps"}:
        assert "after 512 steps" in found.message  # the last sign of life


def test_printing_much_and_well_is_no_fault() -> None:
    roomy = replace(LIMITS, printed_bytes=200_000_000)  # for all trainings of one child, however many those are
    seen = probe("bad_trainers:prints", jobs=1, limits=roomy, steps=64)
    assert seen.details["failures"] == []
    assert "trainer-fails" in seen.clear


def test_what_a_training_left_behind_is_not_held_against_the_next() -> None:
    seen = probe("bad_trainers:fails_the_second_time", jobs=1, limits=LIMITS, steps=64, everything=True)
    assert seen.details["failures"] == []
    asked = {r["rung"]: r["answer"] for r in seen.details["rungs"] if r["kind"] == "discrete"}
    assert asked["constant-value"] == "right"
    assert "failed" not in asked.values()
    assert "trainer-fails" in seen.clear


def test_a_training_that_never_starts_is_no_refusal_of_an_action_space() -> None:
    seen = probe("bad_trainers:never_starts", jobs=1, limits=LIMITS)
    assert seen.verdict is Verdict.BROKEN
    assert seen.notes == ()


def test_a_training_without_a_step_is_told_as_such() -> None:
    seen = probe("bad_trainers:never_plays", jobs=1, limits=LIMITS)
    assert "without one step" in seen.findings[0].message
    assert seen.findings[0].component is Component.ROLLOUT


@pytest.mark.parametrize("name", ["forks", "forks_and_dies"])
def test_what_a_trainer_forked_is_gone_afterwards(name: str, tmp_path: Path) -> None:
    probe(f"bad_trainers:{name}", jobs=1, limits=LIMITS, steps=64)
    pids = [int(line) for line in (tmp_path / "forked.txt").read_text().split()]
    assert pids
    end = time.monotonic() + 5.0
    while any(running(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.01)  # a kill takes effect when the process is next scheduled
    assert [pid for pid in pids if running(pid)] == []


def running(pid: int) -> bool:
    """Whether it is there and no zombie that waits for its parent."""
    if not (Path("/proc") / str(pid)).exists():
        return False
    try:
        os.kill(pid, 0)
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

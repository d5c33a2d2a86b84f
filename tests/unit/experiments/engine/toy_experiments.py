"""An experiment whose answer is known: the subject says what each arm yields, or how it goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np

from firstbreak.errors import InputError
from firstbreak.experiments import Cost, Measures, Need, Reading, Side, Subject, Trial, experiment
from firstbreak.finding import Component, Link

HERE = "tests.unit.experiments.engine.toy_experiments"


def unhappy(controls: list[Measures], subject: Subject) -> str:
    """The symptom is a negative score, when the subject has one at all."""
    if not subject.given.get("symptom") or np.mean([c["score"] for c in controls]) < 0:
        return ""
    return "its score is not negative."


def number(trial: Trial, name: str, default: float = 0.0) -> float:
    return float(trial.subject.given.get(name, default))


def measured(trial: Trial, arm: str) -> Measures:
    rng = np.random.default_rng(trial.seed)
    return {
        "score": number(trial, arm) + number(trial, "sd", 1.0) * float(rng.normal()) * (1 if arm == "changed" else 0)
    }


@experiment(
    "toy",
    hypothesis="The change raises the score.",
    changes="what",
    control="this",
    changed="that",
    prediction="The score is higher.",
    needs=(Need("changed", "--with changed=NUMBER"),),
    cost=Cost(2.0, "nothing"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=1.0,
        symptom=unhappy,
    ),
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
)
def toy(trial: Trial) -> Measures:
    """The change raises the score."""
    trial.uses(what=trial.settings["what"], **dict(trial.subject.given.get(f"{trial.arm}_used", {})))
    trial.fingerprint = str(trial.subject.given.get("print", trial.seed))
    trial.env_steps = 10
    if trial.seed in trial.subject.given.get(f"{trial.arm}_fails", []):
        misbehave(trial, str(trial.subject.given["how"]))
    return measured(trial, trial.arm)


@experiment(
    "toy-together",
    hypothesis="The change raises the score.",
    changes="what",
    control=0,
    changed=1,
    prediction="The score is higher.",
    needs=(),
    cost=Cost(0.0, "nothing"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=lambda pairs, subject: 0.5 + 0.0 * len(pairs),
    ),
    link=Link.CRITIC,
    component=Component.VALUE,
    pilot=4,
    together=True,
)
def toy_together(trial: Trial) -> tuple[Measures, Measures]:
    """The change raises the score."""
    return measured(trial, "control"), measured(trial, "changed")


@experiment(
    "toy-once",
    hypothesis="Something happens.",
    changes="what",
    control=0,
    changed=1,
    prediction="It happens.",
    needs=(),
    cost=Cost(0.0, "nothing"),
    reading=Reading(effect=lambda control, changed: changed["shown"], confirms=Side.ABOVE, margin=0.5),
    link=Link.CRITIC,
    component=Component.VALUE,
    pilot=2,
    together=True,
    control_once=True,
)
def toy_once(trial: Trial) -> Measures | tuple[Measures, Measures]:
    """Something happens."""
    if trial.seed in trial.subject.given.get("fails", []):
        raise RuntimeError("no such thing")
    trial.fingerprint = str(trial.seed)
    measures = {"seed": float(trial.seed), "shown": float(trial.subject.given.get("shown_by") == trial.seed)}
    return (measures, measures) if trial.arm == "both" else measures


def misbehave(trial: Trial, how: str) -> None:
    print("about to", how, flush=True)
    if how == "raise":
        raise RuntimeError("\x1b[31mno such thing\x1b[0m")
    if how == "exit":
        sys.exit(3)
    if how == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        time.sleep(600)
    if how == "spin":
        while True:
            trial.beat()
            time.sleep(0.01)
    if how == "eat":
        hoard: list[bytes] = []
        while True:
            hoard.append(b"x" * 20_000_000)
            time.sleep(0.02)
    if how == "leave":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        raise RuntimeError("left a child behind")
    if how == "refuse":
        raise InputError("The subject has no such part.", "Give one.")

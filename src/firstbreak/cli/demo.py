"""`firstbreak demo`: a broken run and its healthy twin, diagnosed."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import terminal

RUNS = (
    ("sb3_ppo_lr01", "PPO, learning rate 0.1"),
    ("sb3_ppo_cartpole", "the same at 0.0003"),
)
REPORT = "firstbreak-report"


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = "Writes firstbreak-report.html into this folder (or -2, -3 ... beside an earlier one)."


def run(args: argparse.Namespace) -> int:
    """Diagnose both runs, print them and write the page; return 0 whatever they say."""
    from ..api import diagnose_runs
    from ..config import Settings
    from ..report.html import page
    from ..report.text import render

    folder = Path(__file__).parent.parent / "data" / "demo"
    diagnoses = [d for name, _ in RUNS for d in diagnose_runs(folder / name, Settings())]
    for (name, what), diagnosis in zip(RUNS, diagnoses, strict=True):
        terminal.say(f"$ firstbreak diagnose {name}    # {what}\n")
        terminal.say(render([diagnosis], face=terminal.face()))
        terminal.say("")
    place = free_place(Path.cwd())
    terminal.say(f"{terminal.save(page(diagnoses), place)}")
    terminal.say("It holds both reports with their curves; open it in a browser.")
    terminal.say("Now yours: firstbreak diagnose PATH_TO_YOUR_RUN")
    return 0


def free_place(folder: Path) -> Path:
    """Return the first name for the report that is not taken in `folder`."""
    place = folder / f"{REPORT}.html"
    number = 2
    while place.exists():
        place = folder / f"{REPORT}-{number}.html"
        number += 1
    return place

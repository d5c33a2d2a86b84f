"""Time of whole commands, from the start of the interpreter to its end, against budgets on two quiet cores.

    python benchmarks/preflight/timings.py [--repeats 3] [--json FILE]

PyTorch gets one thread. Seconds on the wall say little on a machine that does other things as well (`load`, the number
of processes that want a core); seconds of CPU, of the command and its children, hardly depend on that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

COMMANDS: dict[str, tuple[list[str], float]] = {
    "env CartPole-v1": (["preflight", "env", "CartPole-v1"], 20.0),
    **{
        f"invariants {name}": (["preflight", "invariants", name], 10.0)
        for name in (
            "sb3:PPO", "sb3:A2C", "sb3:DQN", "sb3:SAC",
            "firstbreak.trainers.ppo:PPO", "firstbreak.trainers.dqn:DQN", "firstbreak.trainers.sac:SAC",
            "firstbreak.trainers.mmrkhs:MMRKHS",
        )
    },
}  # fmt: skip
"""Command -> arguments, budget in seconds."""


def seconds_of(arguments: list[str]) -> tuple[float, float]:
    """Seconds on the wall and of CPU."""
    start, before = time.monotonic(), os.times()
    given = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "firstbreak", *arguments], check=False, capture_output=True, text=True, env=given
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    for name, (arguments, budget) in COMMANDS.items():
        if args.only not in name:
            continue
        wall, cpu = (
            sorted(column) for column in zip(*(seconds_of(arguments) for _ in range(args.repeats)), strict=True)
        )
        load = round(os.getloadavg()[0], 1)
        rows.append({
            "command": name, "budget_s": budget, "load": load,
            "wall_s": [round(x, 2) for x in wall], "cpu_s": [round(x, 2) for x in cpu],
        })  # fmt: skip
        print(name, rows[-1], flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

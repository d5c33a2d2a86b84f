"""`preflight env` on standard Gymnasium environments, in which nothing at warning or above is expected.

python benchmarks/preflight/standard_environments.py [--only TEXT] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from firstbreak.preflight.environment.api import inspect_environment

STANDARD = (
    "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "LunarLander-v3",
    "LunarLanderContinuous-v3", "BipedalWalker-v3", "HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5",
    "Swimmer-v5", "InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "FrozenLake-v1", "CarRacing-v3",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    for name in (n for n in STANDARD if args.only in n):
        seen = inspect_environment(name)
        found = [f"{f.name}: {f.message}" for f in seen.findings if f.severity.rank]
        notes = [f.name for f in seen.findings if not f.severity.rank]
        seconds = float(seen.details.get("seconds_s", seen.details.get("seconds", 0.0)))
        rows.append({"id": name, "found": found, "notes": notes, "seconds": seconds, "verdict": seen.verdict.value})
        print(name, f"{seconds:.1f} s", seen.verdict.value, found, notes, *seen.errors, flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

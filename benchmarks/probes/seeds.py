"""The ladder on unmutated trainers, several seeds each: what a healthy trainer is accused of.

    python benchmarks/probes/seeds.py [--seeds 10] [--only TEXT] [--json FILE] [--time-limit 1800]

The file is written after every run and read at the start, so a campaign can be stopped and taken up again. Seeds are
the outer loop: at any moment every trainer has had about as many. Runs of one trainer start `SPACING` seeds apart,
since a rung that fails is tried again on the next seed. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
TRAINERS = (
    "firstbreak.trainers.small:ppo",
    "firstbreak.trainers.small:dqn",
    "firstbreak.trainers.small:sac",
    "firstbreak.trainers.small:mmrkhs",
    "sb3:PPO",
    "sb3:A2C",
    "sb3:DQN",
    "sb3:SAC",
)
SPACING = 10


def climb(trainer: str, seed: int, seconds: float) -> dict[str, Any]:
    """One trainer up the ladder on one seed."""
    from firstbreak.isolation import Limits
    from firstbreak.probes.api import probe

    start, used = time.monotonic(), os.times()
    seen = probe(trainer, seed=seed, jobs=1, limits=Limits(seconds=seconds, silence_s=seconds), everything=True)
    after = os.times()
    cpu = sum(after[:4]) - sum(used[:4])
    fired = [f for f in seen.findings if f.severity.value != "info"]
    return {
        "trainer": trainer,
        "seed": seed,
        "verdict": str(seen.verdict),
        "looked": sum(row["answer"] == "right" for row in seen.details["rungs"]),
        "fired": [{"name": f.name, "severity": str(f.severity), "message": f.message} for f in fired],
        "trainings": seen.details["trainings"],
        "seconds": round(time.monotonic() - start, 1),
        "cpu_seconds": round(cpu, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--time-limit", type=float, default=1800.0)
    args = parser.parse_args()
    done: list[dict[str, Any]] = json.loads(args.json.read_text("utf-8")) if args.json and args.json.exists() else []
    had = {(row["trainer"], row["seed"]) for row in done}
    for number in range(args.seeds):
        for trainer in TRAINERS:
            seed = number * SPACING
            if (trainer, seed) in had or args.only not in trainer:
                continue
            row = climb(trainer, seed, args.time_limit)
            done.append(row)
            names = ", ".join(f["name"] for f in row["fired"]) or "quiet"
            print(f"{trainer:34} seed {seed:3}  {row['cpu_seconds']:7.1f} s CPU  {names}", flush=True)
            if args.json:
                args.json.write_text(json.dumps(done, indent=1) + "\n", "utf-8")
    quiet = sum(not row["fired"] for row in done)
    print(f"{quiet} of {len(done)} runs without a finding at warning or above")


if __name__ == "__main__":
    main()

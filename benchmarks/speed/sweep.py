"""A sweep of many small runs: discover, read and diagnose all of them, in one process and spread over cores.

python benchmarks/speed/sweep.py [--runs 1000]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "tests" / "data" / "logs" / "sb3_ppo_cartpole"


def build(folder: Path, runs: int) -> None:
    """Copy one small real run `runs` times."""
    for index in range(runs):
        place = folder / f"seed_{index:04d}"
        place.mkdir(parents=True)
        for name in ("progress.csv", "monitor.csv"):
            shutil.copy(SOURCE / name, place / name)


def main() -> None:
    """Build the sweep, diagnose it with the command line, report seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        build(Path(scratch), args.runs)
        command = [sys.executable, "-m", "firstbreak", "diagnose", scratch, "--format", "json", "--no-progress"]
        begin = time.perf_counter()
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
    count = len(json.loads(done.stdout)["runs"])
    print(f"{count} runs in {seconds:.1f} s ({1000 * seconds / max(count, 1):.0f} ms a run)")
    print(json.dumps({"runs": count, "seconds": round(seconds, 2)}))


if __name__ == "__main__":
    main()

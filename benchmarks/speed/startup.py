"""Start-up: `firstbreak --help` and `import firstbreak`, as ratios to an empty interpreter in the same run.

python benchmarks/speed/startup.py
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

RUNS = 15
COMMANDS = {
    "empty interpreter": ["-c", "pass"],
    "import firstbreak": ["-c", "import firstbreak"],
    "firstbreak --help": ["-m", "firstbreak", "--help"],
    "import numpy": ["-c", "import numpy"],
}


def wall(arguments: list[str]) -> float:
    """Seconds of one run, the process included."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Time the commands in turn, so that a drift of the machine hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, arguments in COMMANDS.items():
            times[name].append(wall(arguments))
    base = statistics.median(times["empty interpreter"])
    rows = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in rows.items():
        print(f"{name:20s} {1000 * seconds:7.1f} ms   {seconds / base:5.1f} x empty")
    print(json.dumps({name: round(seconds, 4) for name, seconds in rows.items()}))


if __name__ == "__main__":
    main()

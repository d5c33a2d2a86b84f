"""Makes every witness, compares it with the faulty runs of its kind, and writes down what came of it.

    python -m benchmarks.faults.witnesses [--only TEXT] [--seeds 0 1 2 3 4] [--rows N] [--runs FOLDER] [--json FILE]

Each witness is held against the faulty run as it is planted today, trained again beside it, and against the recording
of it. The second need not be the same: a recording from another processor, or older than a change of a trainer, may
differ in its last digits, and learning makes more of them. Run it from the root of the repository; ten minutes on one
core. It ends with an error where a witness is unlike the run that is planted today.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.faults.recording import file_name, read_run
from benchmarks.faults.witnesses.comparing import Compared, Log, compare, earned, planted_log, witness_log
from benchmarks.faults.witnesses.witness import Witness, witnesses

HERE = Path(__file__).resolve().parents[1]
SHOWN = 5
"""Keys that differ, of those that are written down."""


def main() -> int:
    args = arguments()
    rows: list[dict[str, Any]] = json.loads(args.json.read_text("utf-8")) if args.only and args.json.exists() else []
    unlike = 0
    for witness in witnesses():
        for seed in args.seeds if args.only in "/".join(witness.kind) else ():
            row = looked(witness, seed, args.rows, args.runs)
            rows = [*(old for old in rows if old["id"] != row["id"]), row]
            unlike += not row["planted"]["equal"]
            print(row["id"], told(row["planted"]), "| recorded:", told(row["recorded"]), flush=True)
            args.json.write_text(json.dumps(sorted(rows, key=lambda one: one["id"]), indent=1) + "\n", "utf-8")
    print(f"{unlike} unlike what is planted")
    return min(unlike, 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", default="", help="witnesses whose fault/subject/task holds this text; others are kept"
    )
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--rows", type=int, help="compare so many rows, not whole runs")
    parser.add_argument("--runs", type=Path, default=HERE / "runs")
    parser.add_argument("--json", type=Path, default=HERE / "witnesses.json")
    return parser.parse_args()


def looked(witness: Witness, seed: int, rows: int | None, runs: Path) -> dict[str, Any]:
    """Compare one witness with the two faulty runs of its seed."""
    name = f"{witness.subject}/{witness.task}/{witness.fault}/{seed}"
    log, planted = witness_log(witness, seed, rows), planted_log(witness, seed, rows)
    recorded = Log.of_recorded(read_run(runs / file_name(name)))
    return {
        "id": name,
        "meant": witness.meant,
        "paid_first_and_last_fifth": earned(log),
        "planted": in_short(compare(log, planted)),
        "recorded": in_short(compare(log, recorded)),
        "faulty_as_recorded": compare(planted, recorded).equal,
    }


def in_short(found: Compared) -> dict[str, Any]:
    """What is written down of a comparison."""
    fields = found.as_dict()
    more = {"different": list(found.different[:SHOWN]), "differing_keys": len(found.different)}
    return fields | more | {"unmatched": len(found.unmatched), "settings": list(found.settings)}


def told(found: Mapping[str, Any]) -> str:
    if found["equal"]:
        return f"equal in {found['rows']} rows of {found['own_keys']} + {found['monitor_keys']} keys"
    return f"{found['differing_keys']} keys differ: {', '.join(found['different'])}"


if __name__ == "__main__":
    sys.exit(main())

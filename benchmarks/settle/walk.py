"""Every experiment that needs a trainer, on a real one, once where its hypothesis is true and once where it is not.

    python -m benchmarks.settle.walk [--only TEXT] [--anew]

Results are kept in `walked.json`; a case that is there is not made again. `publish` puts them on the page.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.settle.making import one_thread
from benchmarks.settle.walk_cases import CASES, Case
from firstbreak.errors import FirstbreakError
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.running.here import Here

KEPT = Path(__file__).resolve().parent / "walked.json"
MOST_PAIRS = 10


def walked(case: Case) -> dict[str, Any]:
    """Make one case and return what is kept of it."""
    began = time.process_time()
    try:
        result = run_experiment(
            case.experiment,
            case.subject,
            Protocol(most=MOST_PAIRS, seeds=case.seeds, margin=case.margin),
            executor=Here(),
        )
        outcome, why, words = result.outcome.value, result.why.value, result.words
        pairs, troubles = len(result.pairs), len(result.troubles)
    except FirstbreakError as error:
        outcome, why, words, pairs, troubles = "none", "refused", f"{error.message} {error.hint}", 0, 0
    return {
        "why": case.why, "experiment": case.experiment, "trainer": case.trainer, "world": case.world,
        "wanted": "confirmed" if case.confirms else "refuted", "outcome": outcome, "reason": why, "words": words,
        "pairs": pairs, "troubles": troubles, "cpu_s": round(time.process_time() - began, 1),
    }  # fmt: skip


def key(case: Case) -> str:
    """What a case is kept under."""
    return f"{case.id}, {case.trainer or 'no trainer'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--anew", action="store_true", help="also those that have been made")
    args = parser.parse_args()
    one_thread()
    import torch

    torch.set_num_threads(1)
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    found = {name: row for name, row in found.items() if name in {key(case) for case in CASES}}
    for case in CASES:
        if args.only not in key(case) or (key(case) in found and not args.anew):
            continue
        found[key(case)] = made = walked(case)
        KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        print(
            f"{key(case)}: {made['outcome']} ({made['reason']}), {made['cpu_s']} s: {made['words'][:160]}", flush=True
        )


if __name__ == "__main__":
    main()

r"""Make the experiments that settle recorded runs of the fault benchmark, and record each.

    python -m benchmarks.settle.campaign [--half held|dev|all] [--pairs 40] [--choose] [--only TEXT] [--most N]
    python -m benchmarks.settle.campaign --results benchmarks/settle/later --after benchmarks/settle/results/pairs.json
    python -m benchmarks.settle.campaign --results benchmarks/settle/third --pairs 9 --curves 1 \
        --after benchmarks/settle/results/pairs.json benchmarks/settle/later/pairs.json
    python -m benchmarks.settle.campaign --results benchmarks/settle/fourth --pairs 30 --curves 6 \
        --after benchmarks/settle/{results,later,third}/pairs.json
    python -m benchmarks.settle.campaign --results benchmarks/settle/fifth --pairs 24 --curves 4 --elsewhere \
        --after benchmarks/settle/{results,later,third,fourth}/pairs.json
    python -m benchmarks.settle.campaign --results benchmarks/settle/sixth --pairs 24 --curves 4 --elsewhere \
        --after benchmarks/settle/{results,later,third,fourth,fifth}/pairs.json
    python -m benchmarks.settle.campaign --results benchmarks/settle/again --first-seed 1000 \
        --again benchmarks/settle/{results,later,third,fourth,fifth}/pairs.json
    python -m benchmarks.settle.campaign --results benchmarks/settle/mended --first-seed 1000

Without `pairs.json` in the folder of results (or with `--choose`) the pairs of runs and experiments are chosen first,
by the rule of `choosing`. A pair whose result is there is not made again, so a campaign that is broken off goes on.
With `--after`, pairs are chosen among the runs that those of another campaign were not made of, of either half and
whether or not the fault costs anything; with `--elsewhere` too, among places that none of those was made of. With
`--again` one pair of each place of other campaigns is made once more. One process at a time, of one thread. Then:
python -m benchmarks.settle.publish
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.faults.recording import read_run
from benchmarks.settle import golden
from benchmarks.settle.choosing import (
    CURVES,
    PAIRS,
    Pair,
    all_pairs,
    dealt,
    dealt_elsewhere,
    dealt_later,
    one_of_each,
    read_pairs,
    write_pairs,
)
from benchmarks.settle.making import made, one_thread
from benchmarks.settle.places import Place, place_of
from benchmarks.settle.subjects import subject_of
from benchmarks.settle.truths import Truth
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.subject import Subject

HERE = Path(__file__).resolve().parent
RUNS, RESULTS, LATER = HERE.parent / "faults" / "runs", HERE / "results", HERE / "later"
CHOSEN = "pairs.json"
SCHEMA = 1


def main() -> None:
    args = arguments()
    one_thread()
    args.results.mkdir(parents=True, exist_ok=True)
    place = args.results / CHOSEN
    if args.choose or not place.exists():
        write_pairs(choose(args), place)
    pairs = [pair for pair in read_pairs(place) if pair.truth != Truth.OPEN and args.only in pair.id]
    missing = [pair for pair in pairs if not path_of(args.results, pair).exists()]
    print(f"{len(pairs)} pairs, {len(missing)} to be made, about {estimate(args.runs, missing) / 60:.0f} CPU minutes")
    for number, pair in enumerate(missing[: args.most], 1):
        began = time.monotonic()
        found = recorded(args.runs, pair, args.first_seed)
        write(path_of(args.results, pair), found)
        said = found["ended"] or f"{found['result']['outcome']} ({found['result']['why']})"
        print(f"{number} of {len(missing)}: {pair.id}: {said}, {time.monotonic() - began:.0f} s", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=RUNS, help="recorded runs of the fault benchmark")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept, one file a pair")
    parser.add_argument("--half", choices=("held", "dev", "all"), default="held")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs to choose")
    parser.add_argument("--ungated", action="store_true", help="choose among faults that cost nothing as well")
    parser.add_argument(
        "--after", type=Path, nargs="+", default=[], metavar="PAIRS", help="choose other runs than these pairs"
    )
    parser.add_argument("--again", type=Path, nargs="+", default=[], metavar="PAIRS", help="make the places of these")
    parser.add_argument("--first-seed", type=int, default=0, help="seeds of every experiment are counted from here")
    parser.add_argument("--curves", type=int, default=CURVES, help="with --after: pairs that may need learning curves")
    parser.add_argument("--elsewhere", action="store_true", help="with --after: other places, one pair of each")
    parser.add_argument("--choose", action="store_true", help="choose anew")
    parser.add_argument("--only", default="", help="pairs whose id holds this text")
    parser.add_argument("--most", type=int, default=None, help="make at most so many now")
    return parser.parse_args()


def choose(args: argparse.Namespace) -> list[Pair]:
    """Return the pairs to be made, and after them, for the record, those that nothing settles."""
    if args.again:
        return one_of_each([pair for path in args.again for pair in read_pairs(path)])
    found: list[Pair] = []
    half, gated = ("all", False) if args.after else (args.half, not args.ungated)
    for pair in all_pairs(args.runs, half, gated):
        found.append(pair)
        print(f"\r{len(found)} runs with rivals", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    before = [pair for path in args.after for pair in read_pairs(path)]
    later = dealt_elsewhere if args.elsewhere else dealt_later
    chosen = later(found, before, args.pairs, args.curves) if args.after else dealt(found, args.pairs)
    return [*chosen, *(pair for pair in found if pair.truth == Truth.OPEN)]


def recorded(runs: Path, pair: Pair, first_seed: int = 0) -> dict[str, Any]:
    """Make one experiment; return what is kept of it."""
    run = read_run(runs / pair.file)
    subject = subject_of(run, twins_of(runs, run), pair.name)
    subject = replace(subject, given={**subject.given, **pair.given})
    with tempfile.TemporaryDirectory() as folder:
        subject = with_golden_set(subject, place_of(run), Path(folder)) if pair.name in RESCORED else subject
        found = made(pair.name, subject, first_seed=first_seed)
    return {
        "schema": SCHEMA,
        "pair": asdict(pair),
        "run_cpu_s": run["cpu_s"],
        "start_frac": run["start_frac"],
        "versions": run["versions"],
        **without_folder(found),
    }


RESCORED = ("rescore-golden-set",)
SAMPLES = "golden.jsonl"


def with_golden_set(subject: Subject, place: Place, folder: Path) -> Subject:
    """Return what a scorer is asked with: the scored play of the run's beginning, and the scorer of now."""
    golden.write(place, folder / SAMPLES)
    given = {"samples": str(folder / SAMPLES), "scorer": f"benchmarks.settle.golden:{place.name}"}
    return replace(subject, trainer="", env="", steps=None, given=given)


def without_folder(found: dict[str, Any]) -> dict[str, Any]:
    """Return a result that does not name the folder it was made in."""
    if found["result"] is not None and "samples" in found["result"]["plan"]["subject"]["given"]:
        found["result"]["plan"]["subject"]["given"]["samples"] = SAMPLES
    return found


def twins_of(runs: Path, run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the unbroken runs of the same task, but for the run itself."""
    files = sorted(runs.glob(f"{run['subject']}__{run['task']}__clean__*.json.xz"))
    twins = [read_run(path) for path in files]
    return [twin for twin in twins if twin["id"] != run["id"]]


def path_of(results: Path, pair: Pair) -> Path:
    """Return the file of a pair's result."""
    return results / f"{pair.id.replace('/', '__')}.json"


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Write a result: a file of this name is either all of it or not there."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    part.replace(path)


def estimate(runs: Path, pairs: list[Pair]) -> float:
    """CPU seconds that the experiments are expected to take: their trainings, or a tenth of the run."""
    total = 0.0
    for pair in pairs:
        one = find_experiment(pair.name)
        total += max(one.cost.runs * one.pilot, 0.1) * float(read_run(runs / pair.file)["cpu_s"])
    return total


def read(path: Path) -> tuple[Pair, dict[str, Any]]:
    """Read a result back."""
    found = json.loads(path.read_text("utf-8"))
    row = found["pair"]
    return replace(Pair(**row), causes=tuple((n, s) for n, s in row["causes"])), found


if __name__ == "__main__":
    main()

"""Scores every recorded run of the fault benchmark: how often is firstbreak right, how often does it cry wolf?

    python benchmarks/faults/score.py --folder FOLDER [--half held|dev|fresh|all] [--jobs 2] [--json OUT] [--page PAGE]
        [--gate]

`held` is what is published; `dev` is for tuning and prints every miss and every false alarm; `fresh` are healthy runs
that came last and are in no half. Run it from the root of
the repository. No answer is kept from an earlier scoring or from another run; of a run without its task's name, and of
one beside healthy runs, the rules are asked anew that read what is different (`scoring/asking.py`).
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.faults.scoring import floors  # noqa: E402
from benchmarks.faults.scoring.assessing import Assessed, assess_all, unknown_faults  # noqa: E402
from benchmarks.faults.scoring.bearing import collapsed, counting, passed  # noqa: E402
from benchmarks.faults.scoring.catalogue import read_faults  # noqa: E402
from benchmarks.faults.scoring.corpus import read_manifest  # noqa: E402
from benchmarks.faults.scoring.document import document_of  # noqa: E402
from benchmarks.faults.scoring.gate import BASELINE, fallen, save_baseline  # noqa: E402
from benchmarks.faults.scoring.headline import write_headline  # noqa: E402
from benchmarks.faults.scoring.others import read_tools, with_peers  # noqa: E402
from benchmarks.faults.scoring.page import page_of  # noqa: E402
from benchmarks.faults.scoring.printing import in_detail, in_short  # noqa: E402
from benchmarks.faults.scoring.summing import measured  # noqa: E402
from firstbreak.errors import FirstbreakError  # noqa: E402


def main() -> int:
    args = arguments()
    began = time.monotonic()
    tools = read_tools(args.peers)
    runs = with_peers(assessed(args), tools)
    mine = [run for run in runs if args.half in ("all", run.half)]
    none = collapsed(args.folder)
    lost, chosen = [run for run in mine if run.id in none], [run for run in mine if run.id not in none]
    print(f"{len(lost)} runs without a fault lost what they had learned by themselves; they do not count")
    print(in_short(chosen, args.half))
    if args.half == "dev" or args.details:
        print(in_detail(chosen))
    print(f"{len(runs)} runs in {time.monotonic() - began:.0f} s, {processor_s():.0f} s of the processor")
    if args.json:
        text = json.dumps(document_of(chosen, args.half), indent=1, allow_nan=False)
        args.json.write_text(text + "\n", "utf-8")
    if args.page:
        args.page.write_text(page_of(chosen, args.half, tools, lost) + turned_down(args.folder), "utf-8")
    if args.headline:
        write_headline(args.headline, chosen)
    if args.update_baseline:
        save_baseline(args.baseline, measured(chosen), args.half)
    worse = fallen(args.baseline, measured(chosen), args.half) if args.gate else []
    print("".join(f"fallen: {line}\n" for line in worse), end="")
    return 1 if worse else 0


def processor_s() -> float:
    """Seconds on the processor of this process and of those it waited for: other work does not add to them."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def turned_down(folder: Path) -> str:
    """Return what the gate wrote when the runs were recorded: which faults do not count, with their figures."""
    path = folder / "gate.md"
    return f"## What the gate turned down\n\n{path.read_text('utf-8')}" if path.exists() else ""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=HERE / "runs")
    parser.add_argument("--faults", type=Path, default=HERE / "faults.toml")
    parser.add_argument("--half", choices=("held", "dev", "fresh", "all"), default="held")
    parser.add_argument(
        "--log", choices=("monitor", "own"), default="monitor", help="the monitor's record, or the framework's own log"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="runs whose id holds this text")
    parser.add_argument("--ungated", action="store_true", help="count faults that did not pass the gate as well")
    parser.add_argument("--details", action="store_true", help="every miss and false alarm, on any half")
    parser.add_argument("--peers", type=Path, default=HERE / "peers" / "answers", help="what the other tools said")
    parser.add_argument("--json", type=Path, help="write scores and cases here")
    parser.add_argument("--page", type=Path, help="write the results page here")
    parser.add_argument("--headline", type=Path, help="write the tables between the marks of this page")
    parser.add_argument("--gate", action="store_true", help="fail when a score has fallen by more than its interval")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help="what the gate holds scores against")
    parser.add_argument("--update-baseline", action="store_true", help="keep these scores as the gate's baseline")
    return parser.parse_args()


def assessed(args: argparse.Namespace) -> list[Assessed]:
    """Assess the folder. Twins of both halves make the bands: these say how metrics behave, not what a rule may say."""
    listed = [entry for entry in read_manifest(args.folder) if args.only in entry.id]
    entries, left = counting(listed, None if args.ungated else passed(args.folder))
    if left:
        print(f"{left} runs of faults that did not pass the gate are left out", file=sys.stderr)
    faults = read_faults(args.faults)
    lost = unknown_faults(entries, faults)
    if lost:
        sys.exit(f"{args.faults}: no entry for {', '.join(lost)}")
    wanted = [e for e in entries if args.half in ("all", e.half) or e.kind == "healthy"]
    runs: list[Assessed] = []
    for group in assess_all(args.folder, wanted, faults, args.half, args.jobs, args.log == "monitor"):
        runs += group
        print(f"\r{len(runs)} of {len(wanted)} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    fixed = floors.best_fixed([run.fault.links for run in runs if run.fault is not None])
    more = {f"always {fixed}": floors.always(fixed), "always healthy": floors.HEALTHY} if fixed else {}
    return [run.with_answers(more) for run in runs]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FirstbreakError as error:
        sys.exit(str(error))

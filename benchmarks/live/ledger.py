"""What the alarms of every rule are worth: faults that it names in time, and alone; alarms where nothing was broken.

    python benchmarks/live/ledger.py [--list NAME ...] [--draw NAME ...] [--json FILE]

The rules of today are asked about the recorded rows: of the lists of faults (about four minutes for all) and of the
drawn healthy trainings (about four minutes). A rule that is in time alone nowhere and alarms on healthy trainings is a
sign: `with_loss` keeps its warnings for the report. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import json
import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from figures import table
from healthy import healthy
from healthy import read as read_draw
from judging import Judged, judge
from publish import HERE, read, right_links
from publish_unseen import LISTS
from rejudge import rejudged

HEALTHY = HERE / "healthy"
FIRST = "runs"
"""The list in view, of faults.toml."""
DIED = "crashed-on-nonfinite"


@dataclass
class Worth:
    """What is counted of one rule, as names of runs."""

    alone: list[str] = field(default_factory=list[str])
    """Faults that no other rule names in time."""
    named: list[str] = field(default_factory=list[str])
    """Faults that it names in time."""
    unbroken: list[str] = field(default_factory=list[str])
    """Twins, and runs before their fault, on which it alarms."""
    healthy: list[str] = field(default_factory=list[str])
    """Drawn trainings that kept what they had gained, on which it alarms."""


def in_time(run: Mapping[str, Any], one: Judged, right: Iterable[str], noisy: Iterable[str]) -> set[str]:
    """Return the rules that name a right link after the fault and no later than a fifth is lost.

    Args:
        run: As `campaign.py` kept it.
        one: What was judged of it.
        right: Links that count.
        noisy: Rules that alarm on unbroken twins of this subject.
    """
    last = math.inf if math.isnan(one.lost_at) else one.lost_at
    after = [a for a in run["alarms"] if a["at"] >= run["began"] or a["name"] == DIED]
    return {a["name"] for a in after if a["link"] in set(right) and a["at"] <= last} - set(noisy)


def of_faults(runs: Sequence[Mapping[str, Any]], faults: Mapping[str, Mapping[str, Any]]) -> dict[str, Worth]:
    """Return what the rules are worth on the runs of one list."""
    found: dict[str, Worth] = defaultdict(Worth)
    noisy: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if not run["fault"]:
            noisy[run["subject"]] |= {a["name"] for a in run["alarms"]}
    for run in runs:
        label = f"{run['subject']} {run['fault'] or 'twin'} {run['seed']}"
        if not run["fault"]:
            early, names = {a["name"] for a in run["alarms"]}, set[str]()
        else:
            right = right_links(faults[run["fault"]])
            one = judge(run, right, noisy[run["subject"]])
            early, names = set(one.early), in_time(run, one, right, noisy[run["subject"]])
        for name in early:
            found[name].unbroken.append(label)
        for name in names:
            found[name].named.append(label)
            found[name].alone += [label] if len(names) == 1 else []
    return found


def together(parts: Iterable[Mapping[str, Worth]]) -> dict[str, Worth]:
    """Return the sum of several ledgers, the rules that are needed most first."""
    found: dict[str, Worth] = defaultdict(Worth)
    for part in parts:
        for name, worth in part.items():
            for kind, runs in asdict(worth).items():
                getattr(found[name], kind).extend(runs)
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[1].alone), -len(pair[1].named), pair[0])))


def of_draw(name: str) -> dict[str, Worth]:
    """Return the alarms on the healthy trainings of one draw."""
    found: dict[str, Worth] = defaultdict(Worth)
    for run in read_draw(HEALTHY, name):
        for rule in {a["name"] for a in rejudged(run)} if healthy(run) else ():
            found[rule].healthy.append(run["name"])
    return found


def of_list(name: str) -> dict[str, Worth]:
    """Return what the rules are worth on the recorded runs of one list."""
    if name == FIRST:
        faults = {f["id"]: f for f in tomllib.loads((HERE / "faults.toml").read_text("utf-8"))["fault"]}
    else:
        faults = LISTS[name].faults()
    return of_faults([{**run, "alarms": rejudged(run)} for run in read(HERE / name)], faults)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", nargs="*", choices=(FIRST, *LISTS), default=[FIRST, *LISTS])
    parser.add_argument("--draw", nargs="*", default=sorted({p.name.split("-")[0] for p in HEALTHY.glob("*.json.xz")}))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = together([*map(of_list, args.list), *map(of_draw, args.draw)])
    print(table(("rule", *Worth.__annotations__), [(n, *map(len, asdict(w).values())) for n, w in found.items()]))
    if args.json:
        args.json.write_text(json.dumps({name: asdict(w) for name, w in found.items()}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

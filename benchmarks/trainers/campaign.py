"""Run what `plans.toml` says, seed by seed, and write docs/learning_results.md of what is there.

    python -m benchmarks.trainers.campaign --seeds 0 1 2 [--only lunar]   # runs that lie there are not run again
    python -m benchmarks.trainers.campaign --publish                      # only the page

Rows are appended to results/learning.jsonl as runs end, so that a campaign can be stopped and taken up again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from benchmarks.trainers.learning import emit, run, summary

HERE = Path(__file__).resolve().parent
ROWS = HERE / "results" / "learning.jsonl"
MMRKHS = HERE / "results" / "mmrkhs.jsonl"
PAGE = HERE.parents[1] / "docs" / "learning_results.md"
MEASURES = {"gap_closed_frac": "share of the gap from uniform to optimal play", "mean_return": "mean return"}
EPISODES = 20


def plans() -> list[dict[str, Any]]:
    """Return the plans; settings as a trainer's config takes them."""
    found = tomllib.loads((HERE / "plans.toml").read_text("utf-8"))["plan"]
    for plan in found:
        plan["settings"] = {k: tuple(v) if isinstance(v, list) else v for k, v in plan["settings"].items()}
    return found


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def of(plan: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a plan, one a seed."""
    wanted = json.loads(json.dumps([plan["algorithm"], plan["env"], plan["steps"], plan["settings"]]))
    mine = [r for r in rows if [r["algorithm"], r["env"], r["steps"], json.loads(json.dumps(r["settings"]))] == wanted]
    return [dict(row) for row in {row["seed"]: row for row in mine}.values()]


def train(plan: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Train and evaluate one run of a plan."""
    options = argparse.Namespace(
        algorithm=plan["algorithm"], env=plan["env"], steps=plan["steps"], episodes=EPISODES, logs=None,
        set=[f"{name}={value!r}" for name, value in plan["settings"].items()],
    )  # fmt: skip
    return run(options, seed)


def line(plan: Mapping[str, Any], rows: list[dict[str, Any]]) -> str:
    """Return the row of the page's table."""
    mean, deviation = plan["published"]
    found = summary(rows)
    single = ", ".join(f"{row['eval_return_mean']:.0f}" for row in sorted(rows, key=lambda r: r["seed"]))
    cost = statistics.fmean(row["cpu_s"] for row in rows)
    return (
        f"| {plan['algorithm'].upper()} | {plan['env']} | {plan['steps']:,} | {found['iqm']:.0f} "
        f"({found['iqm_low']:.0f} to {found['iqm_high']:.0f}) | {single} | {mean:.0f} ± {deviation:.0f} "
        f"| {cost:.0f} s |\n"
    )


def page(rows: list[dict[str, Any]], mmrkhs: list[dict[str, Any]]) -> str:
    """Return the text of the page."""
    text = (HERE / "results_head.md").read_text("utf-8")
    text += (
        "| trainer | task | steps | IQM of the seeds (95 %) | each seed | published | CPU a run |\n"
        + "| --- " * 7
        + "|\n"
    )
    text += "".join(line(plan, mine) for plan in plans() if (mine := of(plan, rows)))
    if not mmrkhs:
        return text
    text += "\n" + (HERE / "results_mmrkhs.md").read_text("utf-8")
    text += "| task | configuration | seeds | measure | IQM (95 %) |\n" + "| --- " * 5 + "|\n"
    for row in mmrkhs:
        name, words = next((name, words) for name, words in MEASURES.items() if name in row)
        middle, low, high = row[name]
        text += f"| {row['task']} | {row['configuration']} | {row['seeds']} | {words} "
        text += f"| {middle:.3g} ({low:.3g} to {high:.3g}) |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--only", default="", help="part of ALGORITHM/ENV, in any case")
    parser.add_argument("--publish", action="store_true", help="run nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for seed in () if args.publish else args.seeds:
        for plan in plans():
            name = f"{plan['algorithm']}/{plan['env']}".lower()
            if args.only.lower() in name and seed not in {row["seed"] for row in of(plan, read(ROWS))}:
                emit(train(plan, seed), str(ROWS))
    PAGE.write_text(page(read(ROWS), read(MMRKHS)), "utf-8")


if __name__ == "__main__":
    main()

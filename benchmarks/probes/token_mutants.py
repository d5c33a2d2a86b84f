"""Every planted bug of token trainers (tests/preflight/planted/token_mutants.toml) put to the token invariants.

    python benchmarks/probes/token_mutants.py [--only TEXT] [--seed 0] [--json FILE] [--healthy N]

A mutant counts as *caught* when there is a finding at warning or above, and its component as *right* when the first
such finding that no other explains names the one of the list or one of those said to be fair too. A mutant that cannot
be looked at *died*, which is not caught. `--healthy N` puts the unmutated trainers to the invariants on N seeds. Run it
from the root of the repository; all of it takes about two minutes on one core.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "preflight" / "planted" / "token_mutants.toml"
MODULES = {"grpo": "tests.probes.token_mutants", "ppo": "tests.probes.token_mutants_ppo"}
HEALTHY = {"grpo": ("tests.probes.token_reference", "Grpo"), "ppo": ("tests.probes.token_reference_ppo", "Ppo")}
FIRST_RUN = {"mutants": 50, "caught": 50, "component_right": 47}
"""The first run after the checks were written. Then explanations and components of three were corrected (padding in the
loss, a mean over the padded width, a value loss over padding), so that later figures are no longer of unseen bugs."""
VARIANTS = ("sequence", "token", "constant")
"""Normalisations in which the unmutated trainer must pass."""


def fired(seen: Any) -> list[dict[str, Any]]:
    """What fired at warning or above: causes before consequences, errors before warnings, then in order."""
    found = [f for f in seen.findings if f.severity.rank]
    found.sort(key=lambda f: (f.consequence_of is not None, -f.severity.rank))
    return [
        {"name": f.name, "component": f.component.value, "severity": f.severity.value, "message": f.message}
        for f in found
    ]


def look(trainer: type, seed: int) -> dict[str, Any]:
    """Put one trainer to the invariants."""
    from firstbreak.preflight.tokens.api import inspect_tokens

    start = time.monotonic()
    try:
        seen = inspect_tokens(trainer(seed=seed), seed=seed)
    except Exception as error:
        return {"fired": [], "died": f"{type(error).__name__}: {error}"[:300], "errors": [], "seconds": 0.0}
    errors = [f"{name}: {message}"[:200] for name, message in seen.errors]
    return {"fired": fired(seen), "died": None, "errors": errors, "seconds": round(time.monotonic() - start, 1)}


def judged(mutant: dict[str, Any], seed: int) -> dict[str, Any]:
    """Put one mutant to the invariants and compare with what the list says."""
    module = importlib.import_module(MODULES[mutant["subject"]])
    seen = look(getattr(module, mutant["id"].replace("-", "_")), seed)
    first = seen["fired"][0] if seen["fired"] else None
    right = [mutant["component"], *mutant["also_right"]]
    return {
        "id": mutant["id"],
        "subject": mutant["subject"],
        "source": mutant["source"],
        "caught": first is not None,
        "right": first is not None and first["component"] in right,
        "finding": first and first["name"],
        "message": first and first["message"],
        "component": first and first["component"],
        "expected": right,
        "named_well_if": mutant["named_well_if"],
        "others": [f["name"] for f in seen["fired"][1:]],
        "died": seen["died"],
        "errors": seen["errors"],
        "seconds": seen["seconds"],
    }


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    mark = "right " if row["right"] else "caught" if row["caught"] else "DIED  " if row["died"] else "MISSED"
    named = f"{row['finding']} [{row['component']}] {row['message']}" if row["caught"] else row["died"] or ""
    return f"{mark} {row['id']:34} {row['seconds']:5.1f} s  {named}{' !' if row['errors'] else ''}"


def healthy_rows(seeds: int) -> list[dict[str, Any]]:
    """The unmutated trainers in every normalisation, on several seeds."""
    rows: list[dict[str, Any]] = []
    for name, (module, attribute) in HEALTHY.items():
        original = getattr(importlib.import_module(module), attribute)
        for normalisation in VARIANTS if name == "grpo" else ("token",):
            trainer = type(attribute, (original,), {"normalisation": normalisation})
            for seed in range(seeds):
                rows.append({"trainer": name, "normalisation": normalisation, "seed": seed, **look(trainer, seed)})
                names = [f["name"] for f in rows[-1]["fired"]]
                print("ALARM" if names else "quiet", name, normalisation, seed, names, rows[-1]["errors"], flush=True)
    return rows


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutants whose id contains this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--healthy", type=int, metavar="N", default=0, help="seeds of the unmutated trainers as well")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    import torch

    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for mutant in tomllib.loads(LIST.read_text("utf-8"))["mutant"]:
        if args.only in mutant["id"]:
            rows.append(judged(mutant, args.seed))
            print(line(rows[-1]), flush=True)
    caught, right = sum(r["caught"] for r in rows), sum(r["right"] for r in rows)
    print(f"\ncaught {caught}/{len(rows)}, component right {right}/{len(rows)}")
    quiet = healthy_rows(args.healthy)
    if args.json:
        document = {
            "command": f"python benchmarks/probes/token_mutants.py --healthy {args.healthy} --seed {args.seed}",
            "first_run": FIRST_RUN,
            "mutants": len(rows),
            "caught": caught,
            "component_right": right,
            "healthy_looks": len(quiet),
            "false_alarms": sum(bool(r["fired"]) for r in quiet),
            "rows": rows,
            "healthy": quiet,
        }
        args.json.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

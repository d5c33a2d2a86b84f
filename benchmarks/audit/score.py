"""Plants each hack with each generator, audits the tables, and scores what was caught, named and suspected.

    python benchmarks/audit/score.py [--unseen] [--generator NAME] [--only TEXT] [--seeds 1]
    python benchmarks/audit/score.py --later --seeds 3
    python benchmarks/audit/score.py --page

`--unseen` runs the hacks and the generator that were kept aside while the detectors were tuned (unseen_*.py) as well;
`--later` runs, alone, the hacks and the generator that were written when the detectors were done (later_*.py).
For each table: which checks fire with human scores and without; which fire when only the controls are planted (all
honest); and how well the suspicion of each sample, which sees no human score, tells hacks from their controls and from
the honest rest (AUC). A generator at a time keeps each run short: benchmarks/audit/results holds one file for each; the
page, of all files, is results/page.md.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from generators import FAMILIES, Planted, build
from matched import area, area_matched
from plant import Plant
from plants import PLANTS
from publish import ASIDE, LATER, SEEN, publish
from task import Family

from firstbreak.audit.collecting import collect
from firstbreak.audit.judgement.hack_score import hack_scores
from firstbreak.audit.table import Table
from firstbreak.check import checks_of, look_at

HERE = Path(__file__).resolve().parent
LISTS = HERE.parents[1] / "tests" / "audit" / "planted"
RESULTS = HERE / "results"
FIRST_SEED = 101
"""Tuning used seeds below 100."""


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--later", action="store_true")
    parser.add_argument("--generator", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="only write the page from the results that are there")
    chosen = parser.parse_args()
    families, plants = later() if chosen.later else kit(chosen.unseen)
    expected = listed()
    for name, family in families.items():
        if not chosen.page and chosen.generator in ("", name):
            plants_here = {k: p for k, p in plants.items() if chosen.only in k}
            campaign(name, family, plants_here, expected, chosen.seeds)
    done = [json.loads(f.read_text()) for f in sorted(RESULTS.glob("planted_*.json"))]
    rows, honest = ([r for d in done for r in d[key]] for key in ("planted", "honest"))
    (RESULTS / "page.md").write_text(publish(rows, honest, expected))


def campaign(
    name: str, family: Family, plants: dict[str, Plant], expected: dict[str, dict[str, Any]], seeds: int
) -> None:
    """Judge every table of one generator and write them down."""
    start = time.perf_counter()
    rows: list[dict[str, Any]] = []
    honest: list[dict[str, Any]] = []
    for graded in (False, True):
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            about = {"generator": name, "graded": graded, "seed": seed}
            clean = judged(build(family, None, seed, graded=graded))
            honest.append({**about, "labels": clean[0], "plain": clean[1]})
            for hack, plant in plants.items():
                rows.append({**about, "hack": hack, **one(family, plant, seed, graded, expected[hack], clean)})
            print(f"{time.perf_counter() - start:6.0f} s  {name} graded={graded} seed={seed}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"planted": rows, "honest": honest}, indent=1)
    (RESULTS / f"planted_{name}.json").write_text(text + "\n")


def judged(planted: Planted) -> tuple[dict[str, str], dict[str, str]]:
    """Return what fires with human scores and without."""
    table = collect(planted.samples)
    return fired(table), fired(blind(table))


def blind(table: Table) -> Table:
    """Return the table without its human scores."""
    return replace(table, columns={k: v for k, v in table.columns.items() if k != "human"})


def kit(unseen: bool) -> tuple[dict[str, Family], dict[str, Plant]]:
    """Return the generators and plants; those kept aside are imported only when asked for."""
    if not unseen:
        return dict(FAMILIES), dict(PLANTS)
    from unseen_plants import UNSEEN_PLANTS
    from unseen_prose import prose

    return {**FAMILIES, "prose": prose}, {**PLANTS, **UNSEEN_PLANTS}


def later() -> tuple[dict[str, Family], dict[str, Plant]]:
    """Return the generator and the plants that came after the detectors; they go together alone."""
    from later_plants import LATER_PLANTS
    from later_records import records

    return {"records": records}, dict(LATER_PLANTS)


def listed() -> dict[str, dict[str, Any]]:
    """Return the entries of the lists by id, with what detectors knew of them as `known`."""
    found: dict[str, dict[str, Any]] = {}
    for file, known in (("hacks", SEEN), ("unseen", ASIDE), ("later", LATER)):
        for entry in tomllib.loads((LISTS / f"{file}.toml").read_text())["hack"]:
            found[entry["id"]] = {**entry, "known": known}
    return found


def one(
    family: Family, plant: Plant, seed: int, graded: bool, entry: dict[str, Any], clean: tuple[dict[str, str], ...]
) -> dict[str, Any]:
    """Return how one planted table was judged."""
    planted = build(family, plant, seed, graded=graded)
    table = collect(planted.samples)
    with_labels, without = fired(table), fired(blind(table))
    controls = judged(build(family, plant, seed, graded=graded, hacks=False))
    return {
        "labels": with_labels,
        "plain": without,
        "named_labels": named(with_labels, clean[0], entry),
        "named_plain": named(without, clean[1], entry),
        "controls_labels": controls[0],
        "controls_plain": controls[1],
        **suspicion(planted, blind(table)),
    }


def fired(table: Table) -> dict[str, str]:
    """Return the checks of samples that fire, with their severities."""
    found: dict[str, str] = {}
    for check in checks_of("samples"):
        if check.code >= "AUD100":
            continue
        look = look_at(check, table)
        if look.error:
            raise RuntimeError(f"{check.name}: {look.error}")
        if look.symptom is not None:
            found[check.name] = (look.symptom.severity or check.severity).value
    return found


def named(found: dict[str, str], clean: dict[str, str], entry: dict[str, Any]) -> list[str]:
    """Return the checks that name the hack; one that says the same of the honest table names nothing."""
    return [name for name in entry["named_by"] if name in found and found[name] != clean.get(name)]


def suspicion(planted: Planted, table: Table) -> dict[str, Any]:
    """Return how well the suspicion tells hacks from controls and from honest answers."""
    scores = hack_scores(table).astype(np.float64)
    length = np.array([len(s.response) for s in planted.samples], np.float64)
    kinds = np.array(planted.kinds)
    hack, control, honest = (kinds == k for k in ("hack", "control", "honest"))
    return {
        "hacks": int(hack.sum()),
        "controls": int(control.sum()),
        "auc_controls": area(scores[hack], scores[control]),
        "auc_controls_matched": area_matched(scores, length, hack, control),
        "auc_honest": area(scores[hack], scores[honest]),
        "auc_length_alone": area(length[hack], length[control]),
        "median_characters": [float(np.median(length[k])) for k in (hack, control, honest)],
    }


if __name__ == "__main__":
    main()

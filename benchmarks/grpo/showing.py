"""Tables, shares and kept answers of the pages on GRPO."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grpo.judging import Answer, is_right

Answers = Mapping[str, Mapping[str, Answer]]
"""Track -> id of a run -> what was said."""


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |\n" for line in lines) + "\n"


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927, JASA 22)."""
    p, n = right / total, total
    centre, half = p + z * z / (2 * n), z * float(np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def share(right: int, total: int) -> str:
    """Return a share with its 95 % interval."""
    if not total:
        return "–"
    low, high = wilson(right, total)
    return f"{right} of {total} ({right / total:.0%}; {low:.0%} to {high:.0%})"


def marks(answers: Mapping[str, Answer], runs: Sequence[Mapping[str, Any]], right: Sequence[str]) -> str:
    """Return one mark a run: 1 right first, 2 within two, x wrong, – nothing said."""

    def mark(run: Mapping[str, Any]) -> str:
        said = answers.get(run["id"])
        if said is None:
            return "?"
        if not said.links:
            return "–"
        return "1" if is_right(said, right, 1) else "2" if is_right(said, right, 2) else "x"

    return " ".join(mark(run) for run in runs)


def write_answers(answers: Answers, path: Path) -> None:
    """Keep answers for good."""
    found = {track: {name: asdict(said) for name, said in rows.items()} for track, rows in answers.items()}
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")


def read_answers(path: Path) -> dict[str, dict[str, Answer]]:
    """Return the answers kept."""
    found = json.loads(path.read_text("utf-8"))
    return {
        track: {
            name: Answer(**{k: tuple(v) if isinstance(v, list) else v for k, v in said.items()})
            for name, said in rows.items()
        }
        for track, rows in found.items()
    }

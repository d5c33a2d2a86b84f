"""Data files for the tests: healthy ones, in which each test breaks one thing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from firstbreak.preflight.data.datafile import DataFile, read_data

Row = dict[str, Any]
THINGS = [
    f"{a}{b}"
    for a in ("amber", "basalt", "cobalt", "dahlia", "ember", "falcon", "garnet", "harbour", "indigo", "juniper")
    for b in ("wood", "stone", "light", "field", "water", "smith", "bridge", "garden", "tower", "valley")
]
EOS, PAD = 2, 0


def save(folder: Path, rows: Sequence[Any], name: str = "train.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def data(folder: Path, rows: Sequence[Any], **settings: Any) -> DataFile:
    return read_data(save(folder, rows), **settings)


def pairs(n: int = 300, seed: int = 0) -> list[Row]:
    """Preference pairs about things, with scores; either side may be the longer one."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for i in range(n):
        a, b, c = (str(t) for t in draw.choice(THINGS, 3, replace=False))
        good = f"The {a} stands near the {b}, as visitors of number {i} know."
        bad = f"Nobody knows where the {a} is, or whether the {c} was ever there."
        if draw.random() < 0.5:
            good += " They say that it has always been there."
        score = float(draw.uniform(5, 9))
        rows.append(
            {
                "prompt": f"Where is the {a} that belongs to visitor {i}?",
                "chosen": good,
                "rejected": bad,
                "score_chosen": score,
                "score_rejected": score - float(draw.uniform(0.1, 3)),
            }
        )
    return rows


def tasks(n: int = 300, seed: int = 0) -> list[Row]:
    """Prompts with an answer that names what the prompt asks about."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for i in range(n):
        a, b = (str(t) for t in draw.choice(THINGS, 2, replace=False))
        prompt = f"Visitor {i} carries {draw.integers(2, 99)} loads from the {a} to the {b}. How many are there?"
        rows.append({"question": prompt, "answer": f"From the {a} they bring {draw.integers(2, 900)} to the {b}."})
    return rows


def token_rows(n: int = 100, width: int = 40, seed: int = 0) -> list[Row]:
    """Padded token rows: prompt masked, reply in the loss and closed by the end token."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for _ in range(n):
        prompt, reply = (draw.integers(10, 500, int(draw.integers(4, 15))).tolist() for _ in range(2))
        ids = [*prompt, *reply, EOS]
        labels = [-100] * len(prompt) + [*reply, EOS]
        fill = width - len(ids)
        rows.append(
            {
                "input_ids": ids + [PAD] * fill,
                "labels": labels + [-100] * fill,
                "attention_mask": [1] * len(ids) + [0] * fill,
            }
        )
    return rows

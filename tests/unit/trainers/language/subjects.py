"""Small models and batches that the tests of the language trainers share."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import torch

from firstbreak.trainers.language.experience import Batch
from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.sampling import Row, collate
from firstbreak.trainers.language.tasks import Puzzles
from firstbreak.trainers.language.warm_start import warm_start

torch.set_num_threads(1)
EASY = Puzzles(("copy",), (1, 2))


@cache
def warm_model() -> TinyLM:
    """A model that has the form of an answer and some of the answers; nobody may change it."""
    torch.manual_seed(0)
    model = TinyLM(width=32, layers=1)
    warm_start(model, EASY, pass_rate=0.3, seed=0)
    return model


def raw_model(seed: int = 0, *, head: bool = False) -> TinyLM:
    """A model with random weights, large enough that its distributions are far from uniform."""
    torch.manual_seed(seed)
    model = TinyLM(width=16, layers=1, heads=2, head=head)
    for weight in model.parameters():
        weight.data.add_(0.1 * torch.randn_like(weight))
    return model


def random_rows(seed: int, *, groups: int = 3, copies: int = 3) -> list[Row]:
    """Rows of different lengths with made-up tokens and log-probs; some without EOS, some with tool tokens."""
    draw = torch.Generator().manual_seed(seed)

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high, (1,), generator=draw))

    rows: list[Row] = []
    for group in range(groups):
        prompt = (1, *(number(3, 32) for _ in range(number(1, 5))))
        for _ in range(copies):
            row = Row(prompt, group)
            for place in range(number(1, 7)):
                tool = place > 0 and number(0, 5) == 0
                log_prob = 0.0 if tool else -3.0 * float(torch.rand(1, generator=draw))
                row.append([number(3, 32)], own=not tool, log_prob=log_prob, version=number(0, 3))
            row.ended = bool(number(0, 3))
            row.stopped = not row.ended
            rows.append(row)
    return rows


def random_batch(seed: int, *, left: bool = True, **sizes: int) -> Batch:
    """A batch as `prepare` makes them, with made-up numbers."""
    rows = random_rows(seed, **sizes)
    draw = torch.Generator().manual_seed(seed + 1)
    batch = collate(rows, left=left)
    made = [
        {name: torch.randn(len(row.tokens), generator=draw) for name in ("old_log_prob", "ref_log_prob", "advantage")}
        for row in rows
    ]
    width = batch["ids"].shape[1]
    for name in ("old_log_prob", "ref_log_prob"):
        table = torch.zeros(len(rows), width)
        for i, (row, parts) in enumerate(zip(rows, made, strict=True)):
            first = width - len(row.tokens) if left else len(row.prompt)
            table[i, first : first + len(row.tokens)] = -3.0 + 0.4 * parts[name]
        batch[name] = table
    batch["advantage"] = torch.stack([parts["advantage"].mean() for parts in made])
    batch["own"] = batch["loss_mask"]
    return batch


def check_names(row: Mapping[str, float]) -> None:
    """Every name is canonical, or a member of a family of canonical names, and every number within its bounds."""
    known = tomllib.loads((files("firstbreak.vocabulary") / "metrics.toml").read_text(encoding="utf-8"))
    for name, value in row.items():
        spec: dict[str, Any] | None = known.get(name)
        if spec is None:
            family, _, member = name.rpartition("/")
            spec = known[family]
            assert member
            assert spec.get("family"), name
        assert spec.get("lo", -float("inf")) <= value <= spec.get("hi", float("inf")), (name, value)


def without_clocks(row: Mapping[str, float]) -> dict[str, float]:
    """A logged row without what depends on the time it took."""
    return {k: v for k, v in row.items() if not k.startswith(("time/", "perf/")) or k == "time/iteration"}

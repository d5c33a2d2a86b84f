"""One process of the comparison: what it is given to do, and what it leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import FirstbreakError
from .index import Index
from .matching import Matcher
from .rows import pieces
from .tally import Tally

Progress = Callable[[int], None]


def work(job: Path, part: int, progress: Progress) -> Tally:
    """Compare every piece whose turn it is; return what was found."""
    plan: dict[str, Any] = json.loads((job / "job.json").read_text("ascii"))
    index = Index.load(job)
    matcher = Matcher(index)
    tally = Tally(index.prompts, index.grams.size)
    paths = [Path(p) for p in plan["train"]]
    for piece in pieces(paths, plan["columns"], part=part, parts=plan["parts"]):
        tally.add(piece, matcher.match(piece.prompts), plan["prompts"], plan["answers"])
        progress(len(piece.numbers))
    return tally


def main(job: Path, part: int) -> int:
    """Write the tally of one part, or the error that ended it."""
    try:
        work(job, part, lambda _: None).save(job / f"tally-{part}.npz")
    except FirstbreakError as error:
        (job / f"error-{part}.json").write_text(json.dumps([error.message, error.hint]), "utf-8")
        return 1
    return 0

"""`inspect_memory`: does a plan fit on its GPUs, and what is to be changed first?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...check import Look, look_at_all
from ...inspection import Inspection, inspection
from .ledger import ERROR_FRAC, Ledger, ledger
from .plan import GIB, Plan
from .planfile import plan_of, read_plan
from .remedies import remedies

SHOWN_REMEDIES = 6


def inspect_memory(
    plan: Plan | str | Path | Mapping[str, Any], *, tell: Callable[[Look], None] | None = None
) -> Inspection:
    """Put every memory check to a plan; the ledger is in `details`.

    Args:
        plan: a `Plan`, the path of a TOML file, or a table as such a file holds it.
        tell: hears of each check as it ends.

    Raises:
        ConfigError: the file or the table is wrong.
        UnreadableError: there is no such file.
    """
    name = str(plan) if isinstance(plan, (str, Path)) else "memory plan"
    made = plan if isinstance(plan, Plan) else plan_of(plan) if isinstance(plan, Mapping) else read_plan(Path(plan))
    table = ledger(made)
    looks = look_at_all("memory", table, tell)
    return inspection("memory", name, looks, details=details_of(table), notes=notes_of(table))


def details_of(table: Ledger) -> dict[str, Any]:
    """Return the ledger as plain data: rows, peaks, what to change first."""
    return {
        "gpu_bytes": table.plan.gpu_bytes,
        "rows": [asdict(e) | {"phases": list(e.phases)} for e in table.entries],
        "peaks": [
            {"phase": p, "rows_bytes": table.total(p), "peak_bytes": table.peak(p), "at_least_bytes": table.least(p)}
            for p in table.phases
        ],
        "worst_phase": table.worst,
        "headroom_frac": 1 - table.worst_bytes / table.plan.gpu_bytes,
        "change_first": [asdict(r) for r in remedies(table.plan)[:SHOWN_REMEDIES]],
        "tables": [_rows_of(table), _peaks_of(table)],
    }


def _rows_of(table: Ledger) -> dict[str, Any]:
    """The rows of the fullest phase, largest first."""
    rows = sorted((e for e in table.entries if table.worst in e.phases), key=lambda e: -e.size_bytes)
    shown = [[e.model, e.item, round(e.size_bytes / GIB, 2), _error(e.error_frac), e.formula] for e in rows]
    return {"title": f"Phase {table.worst}", "columns": ["model", "item", "GiB", "error", "how"], "rows": shown}


def _error(frac: float) -> str:
    """How far a row may be off, as measured on small models; nothing for what is counted exactly."""
    return f"{100 * frac:.0f} %" if frac else ""


def _peaks_of(table: Ledger) -> dict[str, Any]:
    rows = [
        [p, *(round(size / GIB, 1) for size in (table.total(p), table.least(p), table.peak(p)))] for p in table.phases
    ]
    title = f"Peaks, of {table.plan.gpu_bytes / GIB:.0f} GiB"
    return {"title": title, "columns": ["phase", "rows GiB", "at least GiB", "peak GiB"], "rows": rows}


def notes_of(table: Ledger) -> list[str]:
    """Say what the numbers leave open."""
    guessed = sorted(m.role for m in table.plan.models if m.architecture.guessed)
    kept, logits = (_error(ERROR_FRAC[item]) for item in ("activations", "logits"))
    notes = [
        "The peak adds fragmentation and context to the rows; weights, gradients and optimiser are exact.",
        f"Activations are within {kept} and logits within {logits} of what small models kept; both were measured on a "
        "CPU, with peaks of one update. On a GPU try one update with the longest sequences.",
    ]
    if guessed:
        notes.append(f"The shape of {', '.join(guessed)} was guessed from a parameter count: give its config.json.")
    return notes

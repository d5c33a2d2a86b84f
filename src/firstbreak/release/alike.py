"""Which scores may stand side by side: those of one and the same protocol, stated for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .evidence import UNKNOWN, Evidence, Run, count, names
from .ruling import Ruling, good, missing

EVALUATE = "evaluate all alike under one protocol.toml (firstbreak eval protocol init), kept beside the runs' folders"
STATE = "one protocol.toml beside the runs' folders, and its hash (firstbreak eval protocol check) in scores.csv"
_SAMPLING = ("temperature", "top_p", "top_k", "min_p")
_OF_THE_TASK = re.compile(r"env|data|task|name|path|file|seed|metric|max_steps", re.IGNORECASE)
"""Fields of a protocol in which the protocols of two tasks may differ and their scores still be pooled over tasks."""


def apart(run: Run, stated: Iterable[str]) -> str:
    """Return why scores in a table may not be held against the evaluations in a run's log; `""` where they may.

    Args:
        run: whose log holds evaluations.
        stated: the protocols of the rows of the table, `UNKNOWN` where a row names none.
    """
    rows, name = sorted(set(stated)), f"run {run.name}"
    if rows == [run.protocol] and run.protocol != UNKNOWN:
        return ""
    if len(rows) > 1:
        return f"{name} was scored again under {len(rows)} protocols ({', '.join(rows[:3])}): not compared"
    if run.protocol == UNKNOWN:
        also = " and how it was scored again" if rows == [UNKNOWN] else ""
        return f"how {name} was evaluated in training{also} is not recorded"
    if rows == [UNKNOWN]:
        return f"how {name} was scored again is not recorded; its training was under {run.protocol}: not compared"
    if not run.protocol_file:
        return (
            f"{name} was scored again under {rows[0]}; of its evaluation in training only settings are known "
            f"({run.protocol}), no protocol: not compared"
        )
    return f"{name} was evaluated in training under {run.protocol} and scored again under {rows[0]}: not compared"


def pooled(protocols: Iterable[str]) -> str:
    """Return why scores of several runs may not be pooled, `""` where they may."""
    found = sorted(set(protocols))
    if len(found) > 1:
        return (
            f"the best checkpoints were scored again under {len(found)} protocols ({', '.join(found[:3])}): not pooled"
        )
    return ""


def contradicted(fixed: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return the first field of a protocol that the settings of a run's evaluation contradict, in words, or `""`.

    Looked at is what moves the mean of a score: whether actions are drawn, and the sampling of texts.

    Args:
        fixed: `section.field` -> value of the protocol.
        settings: name -> value, those of the run's configuration that concern evaluation.
    """
    for key, value in settings.items():
        last = re.split(r"[./]", key)[-1]
        mode = fixed.get("control.action_mode")
        if last.endswith("deterministic") and isinstance(value, bool) and mode is not None:
            if value is not (mode == "deterministic"):
                return f"control.action_mode is {mode} there, {key} is {str(value).lower()} in the run"
            continue
        name = next((name for name in _SAMPLING if last.endswith(name)), "")
        told = fixed.get(f"generation.{name}") if name else None
        if told is not None and isinstance(value, int | float) and float(value) != float(told):
            return f"generation.{name} is {told} there, {key} is {value} in the run"
    return ""


def differing(runs: Sequence[Run]) -> str:
    """Return a field in which protocols of several tasks differ though it says nothing of the task, or `""`."""
    first = runs[0].protocol_settings
    for run in runs[1:]:
        for key in sorted({*first, *run.protocol_settings}):
            if first.get(key) != run.protocol_settings.get(key) and not _OF_THE_TASK.search(key.rpartition(".")[2]):
                return key
    return ""


def one_protocol(e: Evidence) -> Ruling:
    """Rule whether all that is compared or pooled was measured under one protocol."""
    unknown = [run for run in e.runs if run.protocol == UNKNOWN]
    if unknown:
        return missing(f"how {names(unknown)} were evaluated is not recorded", EVALUATE)
    wrong = next((run for run in (*e.runs, *e.baseline) if run.doubt), None)
    if wrong is not None:
        return missing(f"run {wrong.name} was not evaluated as its protocol says: {wrong.doubt}", EVALUATE)
    by_task = {task: {run.protocol for run in e.runs if run.task == task} for task in {run.task for run in e.runs}}
    several = [task for task, protocols in by_task.items() if len(protocols) > 1]
    if several:
        return missing(f"runs of {several[0] or 'one task'} were evaluated under {len(by_task[several[0]])} protocols: "
                       "not compared", EVALUATE)  # fmt: skip
    if e.selection.apart and not e.units:
        return missing(e.selection.apart, STATE)
    return _private(e) or good("one protocol a task")


def _private(e: Evidence) -> Ruling | None:
    """Return what keeps the scores on the private set from being compared with each other, None where nothing does."""
    if e.units:  # held apart task by task: one protocol a task is all that can be asked
        return None
    stated = [one for one in e.private_protocols if one != UNKNOWN]
    if len(stated) > 1:
        return missing(f"the private set was scored under {len(stated)} protocols ({', '.join(stated[:3])}): "
                       "not compared", STATE)  # fmt: skip
    if stated and UNKNOWN in e.private_protocols:
        return missing(f"some scores on the private set state protocol {stated[0]}, others none: not compared", STATE)
    if UNKNOWN in e.private_protocols:
        return missing("how the private set was scored is not recorded", STATE)
    return None


def unlisted(e: Evidence) -> str:
    """Return why no look on the ledger can be that which gave the private scores, `""` where one may be."""
    hashes = e.private_hashes or e.private_protocols
    if e.looks is None or not e.looks.protocols or UNKNOWN in hashes or not hashes:
        return ""
    unseen = [one for one in hashes if one not in e.looks.protocols]
    if not unseen:
        return ""
    looks = "the look" if e.looks.looks == 1 else f"the {count(e.looks.looks, 'look')}"
    return (
        f"the private scores state protocol {unseen[0]}; {looks} on the ledger "
        f"{'was' if e.looks.looks == 1 else 'were'} made under {', '.join(e.looks.protocols[:3])}"
    )

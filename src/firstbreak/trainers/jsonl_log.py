"""Metrics of a reference trainer as JSON lines, the file that `firstbreak diagnose` reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any


def log_jsonl(
    path: str | Path, *, algorithm: str = "", config: Any = None, clock: str = "env_steps"
) -> Callable[[Mapping[str, float], int], None]:
    """Return a `log` that writes one row a call to `path`, each safe on disk when the call returns.

    Args:
        path: The file; one that exists is written anew.
        algorithm: Its name (PPO, DQN, SAC, MM-RKHS), which goes to `config.json` beside the file with the settings.
        config: The trainer's settings, a dataclass.
        clock: What its steps count: `env_steps`, or `updates` for the trainers of language models.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    if algorithm or config is not None:
        settings = asdict(config) if is_dataclass(config) and not isinstance(config, type) else {}
        text = json.dumps({"algorithm": algorithm, **settings}, indent=2)
        (path.parent / "config.json").write_text(text + "\n", encoding="utf-8")

    def log(metrics: Mapping[str, float], step: int) -> None:
        # NaN and infinity stay as Python writes them: a diagnosis must see them.
        row = json.dumps({clock: step, **metrics})
        with path.open("a", encoding="utf-8") as file:
            file.write(row + "\n")

    return log

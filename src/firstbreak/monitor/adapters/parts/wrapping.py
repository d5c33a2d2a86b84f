"""For trainers without hooks: what their logger is given, the monitor gets as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, cast

from ....readers.run_config import flat_config
from ....vocabulary import canonical_config
from ...verdict import Verdict
from .obeying import ask, complain, harmless

if TYPE_CHECKING:
    from ...core import Monitor

OnVerdict = Callable[[Verdict], None]
"""Called with every verdict that is not to go on. What it raises reaches the trainer: the way to end its run."""
UNHEARD = "a verdict asks for something and nobody hears it: give monitored(..., on_verdict=...), which may end the run"


def feed(monitor: Monitor, row: Mapping[str, Any], step: float, on_verdict: OnVerdict | None) -> None:
    """Give the monitor one row, and a verdict that asks for something to whom it concerns."""
    verdict = ask(monitor, row, step)
    if verdict.proceed:
        return
    if on_verdict is None:
        complain(monitor, UNHEARD)
    else:
        on_verdict(verdict)


def tell_settings(monitor: Monitor, config: Any, framework: str) -> None:
    """Tell the monitor the canonical settings in a nested configuration; nothing else in it is kept.

    A trainer's configuration also holds addresses and tokens, so only what the vocabulary knows is taken.
    """
    with harmless(monitor, "read the settings"):
        plain: Any = asdict(config) if is_dataclass(config) and not isinstance(config, type) else config
        if isinstance(plain, Mapping):
            flat = flat_config(cast(Mapping[str, Any], plain))
            found = canonical_config(flat, framework)
            estimators = [value for key, value in flat.items() if key.rpartition(".")[2] == "adv_estimator"]
            monitor.configure({**found, **({"adv_estimator": estimators[0]} if estimators else {})})

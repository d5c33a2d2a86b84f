"""verl and what is built on it (RAGEN, verl-agent, agent-lightning): every row of `Tracking.log` reaches the monitor.

    logger = monitored(Tracking(project, experiment, backends, config=config), monitor)

verl imports nothing of this module and this module nothing of verl.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .parts.obeying import harmless
from .parts.refusing import insist, insist_on
from .parts.verl_identities import Identities
from .parts.wrapping import OnVerdict, feed, tell_settings

if TYPE_CHECKING:
    from ..core import Monitor


def monitored(logger: Any, monitor: Monitor, *, config: Any = None, on_verdict: OnVerdict | None = None) -> Any:
    """Make `logger.log` feed `monitor` after it has logged, and return `logger`.

    verl has no hook that stops an update: its row comes when the update is done. To end the run, raise in `on_verdict`.
    Numbers of a row that must agree by construction are held against each other (see `verl_identities`).

    Args:
        logger: verl's `Tracking`, or anything with `log(data, step, backend=None)`.
        monitor: Gets the row at verl's step, which counts updates.
        config: verl's configuration as nested dictionaries, for settings such as the clip range; secrets are not read.
        on_verdict: Called with every verdict that is not to go on.
    """
    insist_on(logger, "log", "verl's `Tracking`")
    insist(monitor)
    forward = logger.log
    if config is not None:
        tell_settings(monitor, config, "verl")
    identities = Identities(None)
    with harmless(monitor, "read the settings"):
        identities = Identities(config)

    def log(data: Mapping[str, Any], step: Any, backend: Any = None) -> Any:
        result = forward(data=data, step=step, backend=backend)
        found: dict[str, float] = {}
        with harmless(monitor, "hold a row against itself"):
            found = identities.row(data)
        feed(monitor, {**data, **found}, step, on_verdict)
        return result

    logger.log = log
    return logger

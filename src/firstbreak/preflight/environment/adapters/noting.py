"""An environment whose every call is noted before it is made, so that a hang or a crash can be traced to it."""

from __future__ import annotations

from typing import Any

from ....isolation.journal import Journal


class Noting:
    """Passes every call on to `env`; arguments and results are untouched."""

    def __init__(self, env: Any, journal: Journal) -> None:
        self.env = env
        self._journal = journal
        self._last = "make"
        self._raised = False

    def reset(self, *, seed: int | None = None, **options: Any) -> Any:
        """Note and call `reset`."""
        self._journal.begin("second reset in a row" if self._last == "reset" else "reset", seed)
        self._last, self._raised = "reset", True
        told = self.env.reset(seed=seed, **options)
        self._raised = False
        return told

    def step(self, action: Any) -> Any:
        """Note and call `step`."""
        self._journal.act(action)
        self._last, self._raised = "step", True
        told = self.env.step(action)
        self._raised = False
        return told

    def close(self) -> None:
        """Call `close`, and note it unless the last call raised: then the journal must go on telling of that one."""
        if not self._raised:
            self._journal.begin("close")
        self.env.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

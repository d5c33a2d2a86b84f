"""A monitor that keeps what it is given and answers as told: the seam between adapters and judging."""

from __future__ import annotations

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action, Verdict


class Answering(Monitor):
    """Answers `action` to every row from number `at` on (rows count calls); `held` limits for how many."""

    def __init__(self, action=Action.CONTINUE, at=10**9, when=None, **more):
        super().__init__(None, **more)
        self.action, self.at, self.when = action, at, when or (lambda row: True)
        self.given, self.went_back, self.told = [], [], {}

    def log(self, metrics, *, step=None, clock=""):
        row = dict(metrics)
        self.given.append((step, row))
        self.latest.update(row)
        hit = len(self.given) > self.at and self.when(row)
        return Verdict(self.action) if hit else Verdict()

    def configure(self, config, *, give_way=False):
        self.told.update(config)
        super().configure(config, give_way=give_way)

    def rolled_back(self, step):
        self.went_back.append(step)

    def merged(self):
        """Step -> all values logged at it, later ones winning: how the history reads rows of one step."""
        found = {}
        for step, row in self.given:
            found.setdefault(step, {}).update(row)
        return found


class Broken(Monitor):
    """A monitor in which everything fails."""

    def __init__(self):
        super().__init__(None)

    def log(self, metrics, *, step=None, clock=""):
        raise RuntimeError("the monitor is broken")

    def configure(self, config):
        raise RuntimeError("the monitor is broken")

    def fault(self, text):
        raise RuntimeError("even this")

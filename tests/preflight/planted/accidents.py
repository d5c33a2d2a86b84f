"""Planted accidents: environments that raise, hang, die, print, fork or eat memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from .bases import Around, Drive, Grid, cartpole
from .catalogue import planted

KEPT: list[Any] = []


@planted("raises-after-137")
class Raises(Drive):
    def ends(self) -> Any:
        return False, self.t >= self.limit

    def pays(self, action: Any) -> Any:
        return super().pays(action) + 0 * list(range(137))[self.t]


@planted("raises-on-corner-action")
class Corner(Drive):
    def pays(self, action: Any) -> Any:
        return super().pays(action) + 0 / (1 - int(float(action[0]) == 1.0))


@planted("three-action-crash")
class Crash(Grid):
    last: tuple[int, ...] = ()

    def reads(self, action: Any) -> int:
        self.last = (*self.last[-2:], int(action))
        if self.last == (0, 0, 2):
            raise KeyError("no such tile")
        return int(action)

    def reset(self, **options: Any) -> Any:
        self.last = ()
        return super().reset(**options)


def sleeping(seconds: float) -> None:
    time.sleep(seconds)


@planted("reset-twice-hangs")
def reset_hangs() -> Any:
    class Hangs(Around):
        fresh = False

        def reset(self, **options: Any) -> Any:
            if self.fresh:
                sleeping(3600)
            self.fresh = True
            return super().reset(**options)

        def changed(self, *values: Any) -> Any:
            self.fresh = False
            return values

    return Hangs(cartpole())


@planted("step-hangs-at-40")
class StepHangs(Drive):
    def moves(self, force: Any) -> None:
        while self.t >= 40:
            pass
        super().moves(force)


@planted("step-hangs-at-40", "twin")
class Slow(Drive):
    def moves(self, force: Any) -> None:
        sleeping(0.02)
        super().moves(force)


@planted("memory-grows-per-reset")
def memory_grows() -> Any:
    class Keeps(Around):
        def reset(self, **options: Any) -> Any:
            KEPT.append(np.ones(20_000_000 // 8))
            return super().reset(**options)

    return Keeps(cartpole())


@planted("memory-grows-per-reset", "twin")
def memory_once() -> Any:
    class Caches(Around):
        def reset(self, **options: Any) -> Any:
            if not KEPT:
                KEPT.append(np.ones(20_000_000 // 8))
            return super().reset(**options)

    return Caches(cartpole())


@planted("prints-every-step")
def prints() -> Any:
    class Prints(Around):
        def changed(self, *values: Any) -> Any:
            print(json.dumps({"kind": "finished", "x": "y" * 170}))
            print("z" * 200, file=sys.stderr)
            return values

    return Prints(cartpole())


@planted("forks-children")
def forks() -> Any:
    class Forks(Around):
        def reset(self, **options: Any) -> Any:
            if len(KEPT) < 20:
                KEPT.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]))
            return super().reset(**options)

    return Forks(cartpole())


@planted("hard-exit")
class Exits(Drive):
    def moves(self, force: Any) -> None:
        if self.t == 90:
            os._exit(3)
        super().moves(force)

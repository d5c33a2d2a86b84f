"""A script as a black box: it is run on the ids of the ladder, and judged by what the environments saw of it.

Only what the policy does can be seen from outside: the rungs that ask for a value do not concern a script. The last
quarter of the steps stands for the trained policy, so an exploration that never falls looks like a policy at chance
only when it is entirely random.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...isolation import Ending, How, Limits, run
from ...isolation.child import Wire
from ..environments.record import FOLDER, Record, read_record
from ..environments.world import World
from ..ladder.outcome import Outcome
from ..ladder.rungs import rungs
from ..ladder.trial import Order
from ..register import env_id
from ..running.measure import DRAWS

TASK = "firstbreak.probes.adapters.script:run_script"
STEPS = 20_000
"""Steps of the first try: scripts carry settings for real tasks, so a few rollouts of usual length."""
POLL_S = 0.5
NAMES = ("env_id", "steps", "seed")


class Scripted:
    """Runs the command once per training, in a child with limits."""

    def __init__(self, command: str, steps: int | None, limits: Limits) -> None:
        missing = [name for name in NAMES[:2] if f"{{{name}}}" not in command]
        if missing:
            raise InputError(
                f"The command has no {{{missing[0]}}}.",
                'For example: --script "python ppo.py --env-id {env_id} --total-timesteps {steps} --seed {seed}"',
            )
        self.command, self.steps, self.limits = command, steps or STEPS, limits

    def get(self, orders: Iterable[Order]) -> list[Outcome]:
        """Return the outcomes of `orders`; rungs that ask for a value are not run."""
        return [self._one(order) for order in orders]

    def stop(self) -> None:
        """Nothing is under way ahead of being asked for."""

    def _one(self, order: Order) -> Outcome:
        rung = rungs()[order.rung]
        if rung.asks == "value":
            return Outcome(order.rung, order.kind, order.seed, order.factor)
        steps = int(self.steps * rung.effort * order.factor)
        names = {
            "env_id": env_id(rung.world.name, order.kind, importing=True),
            "steps": str(steps),
            "seed": str(order.seed),
        }
        words = [_filled(word, names) for word in shlex.split(self.command)]
        with tempfile.TemporaryDirectory(prefix="firstbreak-") as folder:
            ending = run(TASK, {"words": words, "folder": folder}, limits=self.limits)
            record = read_record(Path(folder))
        return _outcome(order, rung.world, record, ending)


def run_script(payload: dict[str, Any], wire: Wire) -> None:
    """The child's side: start the command, give signs of life while its environments step, raise when it fails."""
    folder = Path(payload["folder"])
    process = subprocess.Popen(  # noqa: S603 (the user's own command)
        payload["words"], env={**os.environ, FOLDER: str(folder)}, stdin=subprocess.DEVNULL
    )
    size = -1
    while process.poll() is None:
        time.sleep(POLL_S)
        now = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
        if now != size:
            size = now
            wire.tell("beat", bytes=now)
    if process.returncode:
        raise RuntimeError(f"the script ended with status {process.returncode}")


def _filled(word: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _outcome(order: Order, world: World, record: Record, ending: Ending) -> Outcome:
    ended = ending.how.value
    if ending.how is How.RAISED and not record.steps:
        ended = "refused"
    message = ending.message
    greedy: dict[int, list[float]] = {}
    drawn: dict[int, list[list[float]]] = {}
    if ending.how is How.FINISHED and not record.steps:
        ended, message = "raised", "the script ended well but never stepped the environment it was given"
    if ended != "finished":
        message = f"{message}: {' '.join(ending.printed.split())[-300:]}"
    elif world.targets:
        greedy, drawn = {0: list(record.late_action)}, {0: [list(record.late_action)] * DRAWS}
    else:
        for state in {int(key.split(",")[0]) for key in record.late}:
            drawn[state] = _draws(order, world, record, state)
            greedy[state] = max(drawn[state], key=drawn[state].count)
    return Outcome(
        rung=order.rung,
        kind=order.kind,
        seed=order.seed,
        factor=order.factor,
        ended=ended,
        message=message,
        trace=ending.printed[-2000:] if ended != "finished" else "",
        call="script",
        steps=record.steps,
        seconds=ending.seconds,
        greedy=greedy,
        drawn=drawn,
        tried=record.tried,
    )


def _draws(order: Order, world: World, record: Record, state: int) -> list[list[float]]:
    """`DRAWS` actions in the proportions of the last quarter."""
    counts = [record.late.get(f"{state},{cell}", 0) for cell in range(world.cells)]
    total = max(sum(counts), 1)
    draws: list[list[float]] = []
    seen = 0
    for cell, count in enumerate(counts):
        upto = round(DRAWS * (seen + count) / total)
        draws += [[float(a) for a in world.example(order.kind, cell)]] * (upto - len(draws))
        seen += count
    return draws

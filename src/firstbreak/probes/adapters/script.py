"""A script as a black box: it is run on the ids of the ladder, and judged from what can be seen of it from outside.

Three things can: the steps of its environments, which are ours; the log that it writes, which is read and judged as
`firstbreak diagnose` does; and the returns in that log, which stand for the policy where the steps are not seen. The
rungs that ask for a value do not concern a script. The last quarter of the steps stands for the trained policy, so an
exploration that never falls looks like a policy at chance only when it is entirely random.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...errors import InputError
from ...isolation import Ending, How, Limits, run
from ..environments.record import Record, read_record
from ..environments.world import World
from ..ladder.outcome import Outcome
from ..ladder.rungs import rungs
from ..ladder.trial import Order
from ..logs.reading import read_folder
from ..register import env_id
from ..running.measure import DRAWS
from ..running.script_child import OUTPUT, from_here, last_words

TASK = "firstbreak.probes.running.script_child:run_script"
STEPS = 20_000
"""Steps of the first try: scripts carry settings for real tasks, so a few rollouts of usual length."""
NAMES = ("env_id", "steps", "seed")
UNSEEN = (
    "the script ended well, but no step of its environments was seen, and no log of it holds returns; "
    "make them with gymnasium.make(env_id) in processes that inherit the environment's variables, or log returns"
)


class Scripted:
    """Runs the command once per training, in a child with limits and in a folder of its own."""

    def __init__(self, command: str, steps: int | None, limits: Limits) -> None:
        missing = [name for name in NAMES[:2] if f"{{{name}}}" not in command]
        if missing:
            raise InputError(
                f"The command has no {{{missing[0]}}}.",
                'For example: --script "python ppo.py --env-id {env_id} --total-timesteps {steps} --seed {seed}"',
            )
        self.words = _words(command)
        self.steps, self.limits = steps or STEPS, limits

    def get(self, orders: Iterable[Order]) -> list[Outcome]:
        """Return the outcomes of `orders`; rungs that ask for a value are not run."""
        return [self._one(order) for order in orders]

    def stop(self) -> None:
        """Nothing is under way ahead of being asked for."""

    def _one(self, order: Order) -> Outcome:
        rung = rungs()[order.rung]
        if rung.asks == "value":
            return Outcome(order.rung, order.kind, order.seed, order.factor, ended="unasked")
        steps = int(self.steps * rung.effort * order.factor)
        names = {
            "env_id": env_id(rung.world.name, order.kind, importing=True),
            "steps": str(steps),
            "seed": str(order.seed),
        }
        words = from_here([_filled(word, names) for word in self.words])
        with tempfile.TemporaryDirectory(prefix="firstbreak-") as name:
            folders = {part: Path(name) / part for part in ("record", "own")}
            for folder in folders.values():
                folder.mkdir()
            payload = {"words": words, **folders, "printed_bytes": self.limits.printed_bytes}
            ending = run(TASK, payload, limits=self.limits)
            printed = last_words(folders["own"] / OUTPUT) or ending.printed
            outcome = _outcome(order, rung.world, read_record(folders["record"]), ending, printed)
            return _with_log(outcome, folders["own"])


def _words(command: str) -> list[str]:
    """Return the words of `command` as a shell would split them, after a look at whether they can be run.

    Raises:
        InputError: a quote is not closed, or there is no such program or script.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"The command cannot be split into words: {error}.", "Close every quote.") from error
    if shutil.which(words[0]) is None:
        raise InputError(f"{words[0]}: no such program.", "Name what starts the script, for example python train.py.")
    lost = next((w for w in words if w.endswith((".py", ".sh")) and "{" not in w and not Path(w).is_file()), None)
    if lost is not None:
        raise InputError(f"{lost}: no such file.", "Write the path from this folder.")
    return words


def _filled(word: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _with_log(outcome: Outcome, folder: Path) -> Outcome:
    """Add what the script wrote; without steps and without returns there is nothing to judge by."""
    log = read_folder(folder)
    if outcome.finished and not outcome.steps and log.late_return is None:
        return replace(outcome, ended="unseen", message=UNSEEN, log=log)
    return replace(outcome, log=log)


def _outcome(order: Order, world: World, record: Record, ending: Ending, printed: str) -> Outcome:
    ended = ending.how.value
    if ending.how is How.RAISED and not record.steps:
        ended = "refused"
    message = ending.message
    greedy: dict[int, list[float]] = {}
    drawn: dict[int, list[list[float]]] = {}
    if ended != "finished":
        message = _told(message, printed)
    elif world.targets and record.steps:
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
        trace=printed[-2000:] if ended != "finished" else "",
        call="script",
        steps=record.steps,
        seconds=ending.seconds,
        greedy=greedy,
        drawn=drawn,
        tried=record.tried,
    )


def _told(message: str, printed: str) -> str:
    """The script's own last words before how it ended: reports cut from the right."""
    last = next((line.strip() for line in reversed(printed.splitlines()) if line.strip()), "")
    how = message.removeprefix("RuntimeError: ")
    return f"{last[:300]} ({how})" if last else how


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

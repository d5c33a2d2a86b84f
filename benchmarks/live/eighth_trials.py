"""How large must a fault of the eighth live list be for the training to collapse? Trials, by the true return alone.

    python benchmarks/live/eighth_trials.py SUBJECT FILE

No monitor is there. A training of seed 900 goes as far as 0.55 of its length (GRPO: 0.7); from there, for every fault
that was drawn for this subject and for each of its doses in turn, a copy of the process goes on to the end with the
fault, until one ends below half of what had been gained. Every try is a line of FILE: fault, subject, dose, share of
the gain that was left at the end (or that it died or became NaN, which counts as a collapse), and processor time.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import eighth_doses
import numpy as np
from eighth_candidates import doses_of
from eighth_draw import draw
from judging import COLLAPSED, smoothed
from worlds import Truth

SEED, AT, AT_OF_LANGUAGE = 900, 0.55, 0.7


def wanted(subject: str) -> dict[str, tuple[float, ...]]:
    """Return the faults that were drawn for a subject, and their doses."""
    return {fault: doses_of(fault) for fault, (_, subjects) in draw().items() if subject in subjects}


def left(truth: Truth, window: int) -> float:
    """Return the share of the gain that is left at the end."""
    steps, level = smoothed(truth.episodes, window)
    start, now = level[min(window, level.size) - 1], level[steps <= truth.began][-1]
    # A sum of NaNs is NaN from there on: the end is judged by the last returns alone.
    end = float(np.mean([value for _, value in truth.episodes[-window:]]))
    return (end - float(start)) / float(now - start)


def collapsed(kept: float | str | None) -> bool:
    """Whether what is left is a collapse: of a run that died or whose return is NaN it is."""
    return not isinstance(kept, float | int) or kept < COLLAPSED


def go_on(begin: Callable[[str], None], truth: Truth, subject: str, window: int, place: Path) -> bool:
    """Let copies try all doses of all faults; true in a copy, which then has to go on to its end."""
    known = [tuple(json.loads(line)[:2]) for line in place.read_text().splitlines()] if place.exists() else []
    for fault, doses in wanted(subject).items():
        if (fault, subject) in known:
            continue
        for dose in doses:
            child = os.fork()
            if child == 0:
                eighth_doses.CHOSEN[fault, subject] = dose
                os.environ["TRIED"] = json.dumps([fault, subject, dose])
                begin(fault)
                return True
            os.waitpid(child, 0)
            last = json.loads(place.read_text().splitlines()[-1])
            if last[:3] == [fault, subject, dose] and collapsed(last[3]):
                break
    return False


def tell(place: Path, kept: float | str, began: float) -> None:
    """Write down what came of a try."""
    row = [*json.loads(os.environ["TRIED"]), kept, round(time.process_time() - began, 1)]
    with place.open("a") as file:
        file.write(json.dumps(row) + "\n")


def tried(subject: str, place: Path, train: Callable[[Truth, Callable[[Callable[[str], None]], None]], None],
          window: int) -> None:  # fmt: skip
    """Run `train` up to where copies are made, and in each copy to the end."""
    truth, began = Truth(), time.process_time()

    def at_the_instant(begin: Callable[[str], None]) -> None:
        os.environ["TRIED"] = json.dumps(["", subject, 0])
        if go_on(begin, truth, subject, window, place):
            return

    try:
        train(truth, at_the_instant)
    except Exception as error:
        print(os.environ["TRIED"], type(error).__name__, str(error)[:150], flush=True)
        tell(place, "died", began)
        os._exit(0)
    kept = left(truth, window)
    tell(place, round(kept, 3) if math.isfinite(kept) else "nan", began)
    os._exit(0)


def reference(subject: str) -> tuple[Any, int]:
    import eighth_reference as part
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

    def train(truth: Truth, instant: Any) -> None:
        trainer, total = part.built(subject, SEED, None, truth), part.SUBJECTS[subject][4]

        def on_row(metrics: Any, step: int) -> None:
            if math.isnan(truth.began) and step >= AT * total:
                truth.began = float(step)
                kept = trainer.buffer[:].clone() if hasattr(trainer, "buffer") else None

                def go(fault: str) -> None:
                    if kept is not None:  # TorchRL's storage is shared with copies of the process
                        storage = LazyTensorStorage(trainer.config.buffer_size)
                        trainer.buffer = TensorDictReplayBuffer(storage=storage, batch_size=trainer.config.batch_size)
                        trainer.buffer.extend(kept)
                    part.begin(trainer, subject, fault, truth)

                instant(go)

        trainer.learn(total, on_row)

    return train, part.SUBJECTS[subject][-1]


def sb3(subject: str) -> tuple[Any, int]:
    import eighth_sb3 as part

    def train(truth: Truth, instant: Any) -> None:
        class Forks(part.Switch):
            def begin(self) -> None:
                def go(fault: str) -> None:
                    self.fault = fault
                    super(Forks, self).begin()

                instant(go)

        model, switch = part.built(subject, SEED, None, truth), Forks(subject, truth, "", 0.0)
        switch.at = AT * part.SUBJECTS[subject][4]
        model.learn(part.SUBJECTS[subject][4], callback=switch)

    return train, part.SUBJECTS[subject][-1]


def language(subject: str) -> tuple[Any, int]:
    import eighth_language as part

    def train(truth: Truth, instant: Any) -> None:
        class Forks(part.Switch):
            def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
                if state.global_step == self.at:
                    truth.began = float(self.at)

                    def go(fault: str) -> None:
                        truth.fault = fault
                        if fault in part.PLANTS:
                            part.PLANTS[fault](trainer, eighth_doses.dose_of(fault, subject))

                    instant(go)

        folder = tempfile.mkdtemp()
        trainer = part.built(folder, SEED, part.Scored(truth), Forks(truth, "", int(AT_OF_LANGUAGE * part.UPDATES)))
        trainer.train()

    return train, part.WINDOW


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    name, file = sys.argv[1], Path(sys.argv[2])
    kind = name.partition("_")[0]
    how, over = {"sb3": sb3, "grpo": language}.get(kind, reference)(name)
    tried(name, file, how, over)

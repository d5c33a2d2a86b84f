"""How large must a fault of the ninth live list be for the training to collapse? Trials, by the true return alone.

    python benchmarks/live/ninth_trials.py SUBJECT FILE

As those of the eighth list (eighth_trials.py), of other trainers: no monitor is there, a training of seed 900 goes as
far as 0.55 of its length (GRPO: 0.7), and from there a copy of the process goes on with each fault at each of its doses
in turn, until one ends below half of what had been gained.
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

import ninth_doses
from drawn_list import drawn
from eighth_trials import AT, AT_OF_LANGUAGE, SEED, collapsed, left, tell
from ninth_candidates import doses_of
from ninth_draw import draw
from worlds import Truth

Begin = Callable[[str], None]


def go_on(begin: Begin, subject: str, place: Path) -> None:
    """Let copies try all doses of all faults that were drawn; return in a copy, which then has to go on to its end."""
    known = [tuple(json.loads(line)[:2]) for line in place.read_text().splitlines()] if place.exists() else []
    wanted = [fault for fault, (_, subjects) in draw().items() if subject in subjects and (fault, subject) not in known]
    # In a drawn order: so what is tried by the time that one stops is no choice of anybody's.
    for fault in sorted(wanted, key=lambda fault: drawn("ninth trial", fault, subject)):
        for dose in doses_of(fault):
            if (child := os.fork()) == 0:
                ninth_doses.CHOSEN[fault, subject] = dose
                os.environ["TRIED"] = json.dumps([fault, subject, dose])
                begin(fault)
                return
            os.waitpid(child, 0)
            last = json.loads(place.read_text().splitlines()[-1])
            if last[:3] == [fault, subject, dose] and collapsed(last[3]):
                break
    os.environ["TRIED"] = json.dumps(["", subject, 0])


def tried(subject: str, place: Path, train: Callable[[Truth, Callable[[Begin], None]], None], window: int) -> None:
    """Run `train` up to where copies are made, and in each copy to the end."""
    truth, began = Truth(), time.process_time()
    try:
        train(truth, lambda begin: go_on(begin, subject, place))
        kept = left(truth, window)
        told = round(kept, 3) if math.isfinite(kept) else "nan"
    except Exception as error:
        print(os.environ["TRIED"], type(error).__name__, str(error)[:150], flush=True)
        told = "died"
    tell(place, told, began)
    os._exit(0)


def reference(subject: str) -> tuple[Any, int]:
    """Return how a reference trainer is tried, and over how many episodes its return is averaged."""
    import ninth_reference as part

    def train(truth: Truth, instant: Any) -> None:
        trainer, total = part.built(subject, SEED, None, truth), part.SUBJECTS[subject][2]

        def on_row(metrics: Any, step: int) -> None:
            del metrics
            if math.isnan(truth.began) and step >= AT * total:
                truth.began = float(step)
                instant(lambda fault: part.begin(trainer, subject, fault, truth))

        trainer.learn(total, on_row)

    return train, part.SUBJECTS[subject][-1]


def sb3(subject: str) -> tuple[Any, int]:
    """Return the same of a trainer of Stable-Baselines3."""
    import ninth_sb3 as part

    def train(truth: Truth, instant: Any) -> None:
        class Forks(part.Switch):
            def begin(self) -> None:
                instant(self.go)

            def go(self, fault: str) -> None:
                self.fault = fault
                super().begin()

        switch = Forks(subject, truth, "", 0.0)
        switch.at = AT * part.SUBJECTS[subject][4]
        part.built(subject, SEED, None, truth).learn(part.SUBJECTS[subject][4], callback=switch)

    return train, part.SUBJECTS[subject][-1]


def torchrl(subject: str) -> tuple[Any, int]:
    """Return the same of a trainer of TorchRL."""
    import ninth_torchrl as part
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

    def train(truth: Truth, instant: Any) -> None:
        class Forks(part.Switch):
            def begin(self) -> None:
                kept = self.replay.replay_buffer[:].clone() if self.replay else None
                instant(lambda fault: self.go(fault, kept))

            def go(self, fault: str, kept: Any) -> None:
                if kept is not None:  # TorchRL's storage is shared with copies of the process
                    storage = LazyTensorStorage(self.trainer.total_frames)
                    size = self.replay.replay_buffer.batch_size
                    self.replay.replay_buffer = TensorDictReplayBuffer(storage=storage, batch_size=size)
                    self.replay.replay_buffer.extend(kept)
                self.fault = fault
                super().begin()

        switch = Forks(subject, truth, "", 0.0)
        switch.at = AT * part.SUBJECTS[subject][3]
        part.built(subject, SEED, None, truth, switch).train()

    return train, part.SUBJECTS[subject][-1]


def language(subject: str) -> tuple[Any, int]:
    """Return the same of TRL's GRPO."""
    import ninth_language as part

    def train(truth: Truth, instant: Any) -> None:
        class Forks(part.Switch):
            def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
                if state.global_step == self.at:
                    truth.began = float(self.at)
                    instant(self.go)

            def go(self, fault: str) -> None:
                truth.fault = fault
                part.plant(trainer, fault)

        folder = tempfile.mkdtemp()
        trainer = part.built(folder, SEED, part.Scored(truth), Forks(truth, "", int(AT_OF_LANGUAGE * part.UPDATES)))
        trainer.train()

    return train, part.WINDOW


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    name, file = sys.argv[1], Path(sys.argv[2])
    kind = name.partition("_")[0]
    how, over = {"sb3": sb3, "grpo": language, "torchrl": torchrl}.get(kind, reference)(name)
    tried(name, file, how, over)

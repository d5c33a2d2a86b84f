"""The child's side: measure the arms and seeds of a list, one after the other, each in a process of its own.

The child stays clean: it forks for every trial, so that no trial sees what another left behind, and a trial that
crashes takes only itself along. What is heavy to import (torch) is imported before the fork once a trial has needed it.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from ...errors import ConfigError, FirstbreakError, InputError, MissingExtraError, UnknownNameError
from ...isolation.child import Wire, outlive_parent
from ...target import load_target
from ..experiment import Experiment
from ..subject import Subject
from ..trial import BOTH, CHANGED, Ended, Trial, finite, numbers
from .where import where

SignOfLife = Callable[[str, dict[str, Any]], None]
POLL_S = 0.02
BEAT_S = 0.25
"""Signs of life are passed on at most so often."""
HEAVY = ("torch", "numpy", "gymnasium")
FORKS = sys.platform == "linux"
"""Elsewhere a fork of a process that has loaded numerical libraries is not safe; the trials then share one process."""


def run_orders(payload: dict[str, Any], wire: Wire) -> None:
    """Carry out `payload["orders"]`, each [arm, seed], and tell each ending as it comes."""
    stop, parent = Path(payload["stop"]), os.getppid()
    outlive_parent()  # the loop below sees that the parent is gone, and then cleans up
    for index, (arm, seed) in enumerate(payload["orders"]):
        wire.tell("began", index=index)
        # Beside the stop file, in the parent's own folder: whoever of the two is killed, the other removes it.
        with tempfile.TemporaryDirectory(prefix="firstbreak-trial-", dir=stop.parent) as name:
            folder = Path(name)
            start = time.monotonic()
            if FORKS:
                message = _forked(
                    payload, arm, int(seed), folder, wire, lambda: stop.exists() or os.getppid() != parent
                )
                if message is None:
                    shutil.rmtree(folder if os.getppid() == parent else stop.parent, ignore_errors=True)
                    os._exit(1)
            else:
                message = measured(payload, arm, int(seed), folder, _beats(wire))
        if "refused" in message:
            raise refusal(message["refused"])
        for heavy in message.pop("loaded", []):
            importlib.import_module(heavy)
        wire.tell("ended", index=index, ended={**message, "seconds": time.monotonic() - start})


def _forked(
    payload: dict[str, Any], arm: str, seed: int, folder: Path, wire: Wire, stopped: Any
) -> dict[str, Any] | None:
    """Measure in a fork; kill it when its time is over, or when nobody wants it any more: then return None."""
    answer = folder / "answer.json"
    (folder / "own").mkdir()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            wire.journal.original.adopt()
            message = measured(payload, arm, seed, folder / "own", _beats(wire))
            answer.write_text(json.dumps(message, default=str), "utf-8")
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    deadline = time.monotonic() + payload["seconds"] if payload["seconds"] else float("inf")
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if stopped() or time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            if stopped():
                return None
            return asdict(Ended(arm, seed, "too_slow", message=f"not done after {payload['seconds']:g} s"))
        time.sleep(POLL_S)
    if os.waitstatus_to_exitcode(status) == 0 and answer.is_file():
        return json.loads(answer.read_text("utf-8"))
    return asdict(Ended(arm, seed, "died", message=_died(os.waitstatus_to_exitcode(status))))


def _died(code: int) -> str:
    return f"killed by signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def measured(payload: dict[str, Any], arm: str, seed: int, folder: Path, tell: SignOfLife) -> dict[str, Any]:
    """Measure one arm with one seed in this process and return an `Ended` as plain data; what is raised becomes one.

    The answer has the key `refused` instead when the subject does not offer what is needed.
    """
    one = cast(Experiment, load_target(payload["experiment"]))
    settings = {} if arm == BOTH else one.arms[arm == CHANGED]
    trial = Trial(Subject(**payload["subject"]), arm, settings, seed, folder, payload["seconds"], tell)
    try:
        measures = numbers(one.measure(trial), arm)
        how, message, trace = ("measured", "", "") if finite(measures) else ("raised", _not_finite(measures), "")
    except FirstbreakError as error:
        return {"refused": {"kind": error.kind, "message": error.message, "hint": error.hint}}
    except BaseException as error:
        measures, how = {}, "too_slow" if type(error).__name__ == "TooSlowError" else "raised"
        message, trace = f"{type(error).__name__}: {error}"[:1000] + where(error), traceback.format_exc()[-4000:]
    ended = Ended(
        arm,
        seed,
        how,
        measures,
        used=trial.used,
        notes=tuple(trial.notes),
        message=message,
        trace=trace,
        env_steps=trial.env_steps,
        fingerprint=trial.fingerprint,
    )
    return {**asdict(ended), "loaded": [h for h in HEAVY if h in sys.modules]}


def _not_finite(measures: dict[str, Any]) -> str:
    flat = {**measures, **{k: v for t in measures.values() if isinstance(t, dict) for k, v in cast(Any, t).items()}}
    names = [k for k, v in flat.items() if not isinstance(v, dict) and not abs(v) < float("inf")]
    return f"not finite: {', '.join(names)}"


def _beats(wire: Wire) -> SignOfLife:
    last = 0.0

    def beat(kind: str, data: dict[str, Any]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= BEAT_S:
            last = now
            wire.tell(kind, **data)

    return beat


def refusal(data: dict[str, str]) -> FirstbreakError:
    """Return the error that a refusal told of."""
    kinds = (InputError, ConfigError, UnknownNameError, MissingExtraError)
    kind = next((k for k in kinds if k.kind == data["kind"]), InputError)
    return kind(data["message"], data["hint"])

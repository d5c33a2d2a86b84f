"""`record()` in code: the same record, written by the training itself."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import FirstbreakError, InputError
from ..readers.run_config import flat_config
from . import store
from .contents import Context, Ending, Mark
from .gathering import Reward, gather, now
from .hashing import mark
from .running import VARIABLE
from .secrets import clean_line, clean_settings


class Recorder:
    """A record that is open while the run goes. Ends with the block, with `close`, or with the process.

    Example:
        ```python
        with record("runs/ppo-3", config=vars(args), seed=args.seed, rewards=[reward]) as run:
            train()
            run.checkpoint("runs/ppo-3/best.zip")
        ```
    """

    def __init__(self, context: Context, folder: Path, *, owner: bool) -> None:
        self._folder = folder
        self._owner = owner
        self._start = time.monotonic()
        self._open = True
        self._error = ""
        store.write(context, folder)
        self._hook = sys.excepthook
        sys.excepthook = self._noticed
        atexit.register(self.close)

    @property
    def path(self) -> Path:
        """Where the record lies."""
        return self._folder / store.NAME

    def checkpoint(self, path: str | Path) -> Mark:
        """Note a checkpoint by its hash."""
        found = mark(path)
        self._change(lambda c: replace(c, checkpoints=(*(m for m in c.checkpoints if m.path != found.path), found)))
        return found

    def evaluation(self, command: str) -> None:
        """Note the command that evaluates this run."""
        self._change(lambda c: replace(c, evaluations=(*c.evaluations, clean_line(command))))

    def close(self, error: BaseException | None = None) -> None:
        """Write how the run ended; later calls do nothing."""
        if not self._open:
            return
        self._open = False
        atexit.unregister(self.close)
        if sys.excepthook == self._noticed:
            sys.excepthook = self._hook
        if not self._owner:
            return
        name = type(error).__name__ if error is not None else self._error
        interrupted = name in ("KeyboardInterrupt", "SystemExit")
        status = "killed" if interrupted and name != "SystemExit" else "failed" if name else "finished"
        if name == "SystemExit" and getattr(error, "code", None) in (None, 0):
            status, name = "finished", ""
        ending = Ending(
            status=status,
            error=name,
            at=now(),
            duration_s=round(time.monotonic() - self._start, 3),
            peak_memory_bytes=_peak_bytes(),
        )
        try:
            self._change(lambda c: replace(c, ending=ending))
        except FirstbreakError as fault:  # the end of a training is no place to fail
            print(f"firstbreak: the record could not be finished: {fault.message}", file=sys.stderr)

    def _change(self, change: Callable[[Context], Context]) -> None:
        store.write(change(store.read(self._folder)), self._folder)

    def _noticed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._error = kind.__name__
        self._hook(kind, error, trace)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close(error)


def record(
    folder: str | Path | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    seed: int | None = None,
    data: Iterable[str | Path] = (),
    rewards: Iterable[Reward] = (),
    evaluations: Iterable[str] = (),
) -> Recorder:
    """Write down what this run is, now and when it ends.

    Under `firstbreak record -- ...` the record of the command is added to.

    Args:
        folder: of the run; may be left out under `firstbreak record`.
        config: the run's settings; nested tables are joined by dots.
        seed: where it is not in `config` under a name with `seed`.
        data: files and folders to hash.
        rewards: reward functions, or files or targets that hold them.
        evaluations: commands that evaluate the run.

    Raises:
        InputError: no folder is given; UnreadableError: the record cannot be written.
    """
    outer = os.environ.get(VARIABLE)
    if outer is None and folder is None:
        raise InputError("record() needs the folder of the run.", 'For example: record("runs/ppo-3", config=config)')
    command = (sys.executable, *sys.argv)
    settings = flat_config(config or {})
    found = gather(
        command,
        Path.cwd(),
        config=settings,
        data=data,
        rewards=rewards,
        evaluations=evaluations,
        seed=seed,
    )
    found = replace(found, config={**found.config, **clean_settings(settings)})  # what the code says is what it did
    if outer is not None:
        place = Path(outer).parent
        return Recorder(_joined(store.read(place), found), place, owner=False)
    place = Path(folder or ".")
    store.keep_earlier(place) if place.is_dir() else None
    return Recorder(found, place, owner=True)


def _joined(outer: Context, inner: Context) -> Context:
    """Return the record of the command with what the training itself says."""
    noted = {**outer.seeds, **inner.seeds}
    return replace(
        outer,
        config={**outer.config, **inner.config},
        seeds=noted,
        packages=inner.packages,
        hardware=inner.hardware,
        data=(*outer.data, *inner.data),
        rewards=(*outer.rewards, *inner.rewards),
        evaluations=(*outer.evaluations, *inner.evaluations),
        notes=tuple(note for note in outer.notes if not (noted and note.startswith("no seed"))),
    )


def _peak_bytes() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

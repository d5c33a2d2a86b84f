"""`MonitoredWriter`: a TensorBoard writer whose scalars a monitor reads too. One line of a script changes.

writer = MonitoredWriter(monitor, SummaryWriter("runs/x"))      # was: writer = SummaryWriter("runs/x")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..verdict import Verdict
from .parts.obeying import ask, complain
from .parts.refusing import insist

if TYPE_CHECKING:
    from ..core import Monitor


class MonitoredWriter:
    """Passes everything on to `writer` and puts the scalars of one step into one row for the monitor.

    A row is judged when the next step begins, or a scalar of the row comes a second time, or at `flush`. Scripts that
    want the verdict at once call `judge()` after the last scalar of an update.

    Args:
        monitor: Who judges. Close it yourself.
        writer: A `SummaryWriter` or anything like it; None writes nowhere.
        clock: What the steps count: `env_steps`, `updates` ...; found from the keys when not given.
    """

    def __init__(self, monitor: Monitor, writer: Any = None, *, clock: str = "") -> None:
        self.monitor, self.writer, self._clock = insist(monitor), writer, clock
        self.verdict = Verdict()
        """The answer to the last row that was judged."""
        self._row: dict[str, Any] = {}
        self._step: float | None = None
        self._count = 0

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, *args: Any, **kwargs: Any) -> None:
        """Write one scalar. Without a step it joins the row that is open."""
        if self.writer is not None:
            self.writer.add_scalar(tag, scalar_value, global_step, *args, **kwargs)
        self._take(tag, scalar_value, global_step)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Write several scalars; to the monitor they are `main_tag/tag`."""
        if self.writer is not None:
            self.writer.add_scalars(main_tag, tag_scalar_dict, global_step, *args, **kwargs)
        for tag, value in tag_scalar_dict.items():
            self._take(f"{main_tag}/{tag}", value, global_step)

    def judge(self) -> Verdict:
        """Give the open row to the monitor now, and return its verdict."""
        if self._row:
            row, self._row = self._row, {}
            step = float(self._count) if self._step is None else self._step
            self._count += 1
            self.verdict = ask(self.monitor, row, step, self._clock)
        return self.verdict

    def flush(self) -> None:
        """Judge the open row; flush writer and monitor."""
        self.judge()
        if self.writer is not None:
            self.writer.flush()
        self.monitor.flush()

    def close(self) -> None:
        """Judge the open row and close the writer; the monitor is closed by whoever opened it."""
        self.judge()
        if self.writer is not None:
            self.writer.close()

    def __enter__(self) -> MonitoredWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Everything else (`add_text`, `add_histogram`, `log_dir` ...) is the writer's own."""
        writer = self.__dict__.get("writer")
        if writer is not None:
            return getattr(writer, name)
        if name.startswith("add_"):
            return _nowhere
        raise AttributeError(name)

    def _take(self, tag: str, value: Any, step: Any) -> None:
        try:
            at = self._step if step is None else float(step)
        except (TypeError, ValueError):
            complain(self.monitor, f"step {step!r} of {tag!r} is not a number; the scalar joins the open row")
            at = self._step
        if self._row and (at != self._step or tag in self._row):
            self.judge()
        self._step = at
        self._row[tag] = value


def _nowhere(*_: Any, **__: Any) -> None:
    """What a missing writer does with text, histograms and images."""

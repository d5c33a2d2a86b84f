"""The child's side: asks the verifier, once for each response, and remembers what came back."""

from __future__ import annotations

import builtins
import faulthandler
import hashlib
import inspect
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, cast

from ...errors import InputError
from ...isolation.child import Wire
from ...target import load_target
from .calling import BATCHED, Score, caller, misfit, style_of
from .rows import Question

BATCH = 8
"""Responses in one call of a verifier that takes several. Engineering default."""
CANARY = "firstbreak_was_here"
"""A name that only a verifier which executes responses can have set."""
_TAKES = (
    "For example def score(response, answer); other forms: firstbreak audit verifier --help. Columns of data come "
    "with --data."
)
Pair = tuple[int, str]


class OutOfTimeError(Exception):
    """The time for asking is over; what was learnt so far is told."""


def key_of(pair: Pair) -> str:
    """Return a short name for a row and a response."""
    return f"{pair[0]}:{hashlib.blake2b(pair[1].encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


class Asker:
    """Puts responses to a verifier. `known` holds what earlier children learnt before they were stopped."""

    def __init__(
        self,
        target: str,
        style: str,
        questions: Sequence[Question],
        wire: Wire,
        *,
        call_s: float,
        until: float = math.inf,
        stuck: str = "",
        known: Mapping[str, Sequence[Any]] | None = None,
        singly: Sequence[str] = (),
    ) -> None:
        self.questions, self.wire, self.call_s, self.until = list(questions), wire, call_s, until
        found: Any = load_target(target)
        self.function = cast("Callable[..., Any]", found() if inspect.isclass(found) else found)
        if not callable(self.function):
            raise InputError(f"{target} is {type(self.function).__name__}, which cannot be called.", _TAKES)
        self.style = style_of(self.function) if style == "auto" else style
        why = misfit(self.function, self.style, self.questions[0]) if self.questions else ""
        if why:
            raise InputError(f"{target} cannot be called as {self.style}: {why}.", _TAKES)
        self._score = caller(self.function, self.style)
        self._known: dict[str, list[Any]] = {k: list(v) for k, v in (known or {}).items()}
        self._singly = set(singly)
        self._stuck = Path(stuck).open("w") if stuck else None  # noqa: SIM115 (open as long as the process lives)
        self._pid = os.getpid()
        self.calls = 0
        self.batch_note = ""
        self.executed()  # one that was asked before in this process may have left the mark

    @property
    def batch(self) -> int:
        """Responses in one call."""
        return BATCH if self.style in BATCHED else 1

    def restyle(self, style: str) -> None:
        """Call the verifier by another convention from now on, and forget what it said."""
        self.style = style
        self._score = caller(self.function, style)
        self._known.clear()

    def ask(self, pairs: Sequence[Pair]) -> list[list[Any]]:
        """Return [value, how, note, seconds] of each pair [n], asking only for what is not known yet."""
        fresh = [p for p in dict.fromkeys(pairs) if key_of(p) not in self._known]
        alone = [p for p in fresh if self.batch == 1 or key_of(p) in self._singly]
        together = [p for p in fresh if p not in alone] if alone else fresh
        if self.batch == 1:
            together = []
        for start in range(0, len(together), self.batch):
            self._take(together[start : start + self.batch])
        for pair in alone:
            self._take([pair])
        return [self._known[key_of(p)] for p in pairs]

    def _take(self, pairs: Sequence[Pair]) -> None:
        if time.monotonic() > self.until:
            raise OutOfTimeError
        start = time.monotonic()
        scores = self.call(pairs)
        seconds = (time.monotonic() - start) / len(pairs)
        if len(pairs) > 1 and any(s.how in ("raised", "count") for s in scores):
            self.batch_note = self.batch_note or scores[0].note
            for pair in pairs:
                self._take([pair])
            return
        for pair, score in zip(pairs, scores, strict=True):
            self._known[key_of(pair)] = entry = [score.value, score.how, score.note, round(seconds, 5)]
            self.wire.tell("known", key=key_of(pair), entry=entry)

    def call(self, pairs: Sequence[Pair], *, trace: bool = False) -> list[Score]:
        """Call the verifier with these pairs [n] in one call (several where it takes one at a time)."""
        self.wire.journal.begin("score")
        self.wire.journal.act([key_of(p) for p in pairs], call="score")
        self.calls += 1
        if self._stuck is not None:
            faulthandler.dump_traceback_later(self.call_s, exit=True, file=self._stuck)
        watch = _Watch(self.function) if trace else None
        try:
            scores = self._scores(pairs, watch)
        finally:
            if self._stuck is not None:
                faulthandler.cancel_dump_traceback_later()
            self._leave_if_forked(pairs)
        if watch is not None and watch.seen:
            return [Score(s.value, s.how, watch.seen) for s in scores]
        return [s if watch is None else Score(s.value, s.how, "") for s in scores]

    def _scores(self, pairs: Sequence[Pair], watch: _Watch | None) -> list[Score]:
        questions, responses = [self.questions[row] for row, _ in pairs], [response for _, response in pairs]
        before = sys.gettrace()
        try:
            if watch is not None:
                sys.settrace(watch.enter)
            return self._score(questions, responses)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: the trainer would be gone
            return [Score(math.nan, "raised", type(error).__name__)] * len(pairs)
        finally:
            sys.settrace(before)

    def _leave_if_forked(self, pairs: Sequence[Pair]) -> None:
        """End a copy of this process that came back from the call; there must be one of us only."""
        if os.getpid() != self._pid:
            self.wire.tell("forked", key=key_of(pairs[0]))
            os._exit(0)

    def executed(self) -> bool:
        """Whether the canary was set since the last question; it is taken away again."""
        found = hasattr(builtins, CANARY)
        if found:
            delattr(builtins, CANARY)
        return found


class _Watch:
    """Sees exceptions that pass through code of the verifier's own file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        called = inspect.unwrap(function)
        code: Any = getattr(called, "__code__", None)
        if code is None:  # an object that can be called
            code = getattr(getattr(called, "__call__", None), "__code__", None)  # noqa: B004 (its code, not whether)
        self.file = "" if code is None else cast("str", code.co_filename)
        self.seen = ""

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Trace function: stay only in frames of the verifier's file."""
        if event == "exception":
            name = argument[0].__name__
            if name not in ("StopIteration", "StopAsyncIteration", "GeneratorExit"):
                self.seen = self.seen or name
        return self.enter if frame.f_code.co_filename == self.file else None

"""The child's task: find out how the verifier wants its answers, ask everything, look for what fools it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

from ...isolation.child import Wire
from .asking import Asker, OutOfTimeError, Pair
from .fooling import per_row, universal
from .frames import Frame, frames_for
from .marks import mark_of, passes
from .probing import Probe, probes
from .rows import Question, question
from .wrongs import NONSENSE

ACCEPTED = 0.5
"""Share of rows whose right answer must pass in a frame for it to count as one the verifier understands."""
MOST_TRACED = 40
"""Responses asked again under observation, of each kind."""
LONGEST_TOLD = 2000
"""Characters of a response that are told to the parent."""


def play(payload: dict[str, Any], wire: Wire) -> None:
    """Ask everything and tell it as it comes."""
    questions = [question(q) for q in payload["questions"]]
    wire.journal.begin("import")
    asker = Asker(
        payload["target"], payload["style"], questions, wire, call_s=payload["call_s"], stuck=payload["stuck"],
        until=time.monotonic() + payload["seconds"], known=payload["known"], singly=payload["singly"],
    )  # fmt: skip
    try:
        _Session(asker, payload["mark"]).go(quick=payload["quick"])
    except OutOfTimeError:
        wire.tell("partial")
    wire.tell("calls", calls=asker.calls, batch_note=asker.batch_note, style=asker.style)


class _Session:
    """One child's questions, in order."""

    def __init__(self, asker: Asker, mark: float | None) -> None:
        self.asker, self.given_mark = asker, mark
        self.tell = asker.wire.tell
        self.mark = 0.5
        self.asked: list[tuple[Probe, list[Any]]] = []

    def go(self, *, quick: bool) -> None:
        """Calibrate, ask, watch, search; only the first if `quick`."""
        if self.asker.style == "trl":
            self._try_chat()
        accepted = self._calibrate()
        if quick:
            return
        if not accepted:
            accepted = [frames_for(self.asker.questions[0].kind)[0]]
        for row in _by_row(list(probes(self.asker.questions, accepted))):
            self._ask(row)
        self._watch()
        rejected = [(p, e) for p, e in self.asked if p.right is False and p.family not in ("odd", "executing")]
        fooled = [p for p, entry in rejected if passes(entry, self.mark) and len(p.response) < LONGEST_TOLD]
        for row, text in per_row(self.asker, fooled, self.mark):
            self.tell("fooled", row=row, text=text)
        found = universal(self.asker, [p.response for p in fooled], accepted, self.mark)
        if found is not None:
            self.tell("universal", text=found[0], rows=found[1], of=found[2])

    def _try_chat(self) -> None:
        """Hand conversations instead of texts to a TRL verifier that raises on texts and not on conversations."""
        right = [(row, _answer(q)) for row, q in enumerate(self.asker.questions[:2])]
        if all(entry[1] == "raised" for entry in self.asker.ask(right)):
            self.asker.restyle("trl-chat")
            if all(entry[1] == "raised" for entry in self.asker.ask(right)):
                self.asker.restyle("trl")

    def _calibrate(self) -> list[Frame]:
        """Ask right answers and nonsense in every frame; tell the pass mark and the frames accepted, best first."""
        questions = self.asker.questions
        frames = frames_for(questions[0].kind)
        trials = [
            Probe(row, family, frame.name, frame.fill(text), right)
            for row, q in enumerate(questions)
            for frame in frames
            for family, text, right in (("right", _answer(q), True), ("nonsense", NONSENSE, False))
            if family == "right" or row < 4
        ]
        for start in range(0, len(trials), self.asker.batch):  # told at once: the next call may be the last
            some = trials[start : start + self.asker.batch]
            for probe, entry in zip(some, self.asker.ask([(p.row, p.response) for p in some]), strict=True):
                self._note(probe, entry)
        asked = list(self.asked)
        self.mark = mark_of(asked, self.given_mark)
        self.tell("mark", mark=self.mark)
        shares = {
            f: statistics.fmean(passes(e, self.mark) for p, e in asked if p.right and p.form == f.name) for f in frames
        }
        accepted = sorted((f for f in frames if shares[f] >= ACCEPTED), key=lambda f: -round(shares[f], 1))
        self.tell("frames", shares={f.name: share for f, share in shares.items()}, accepted=[f.name for f in accepted])
        return accepted

    def _ask(self, row: Sequence[Probe]) -> None:
        """Ask the probes of one row; those that may execute code one by one."""
        quiet = [p for p in row if p.family not in ("executing", "tampering")]
        for probe, entry in zip(quiet, self.asker.ask([(p.row, p.response) for p in quiet]), strict=True):
            self._note(probe, entry)
        for probe in row:
            if probe not in quiet:
                entry = self.asker.ask([(probe.row, probe.response)])[0]
                self._note(probe, [*entry[:2], "executed" if self.asker.executed() else entry[2], entry[3]])

    def _note(self, probe: Probe, entry: Sequence[Any]) -> None:
        self.asked.append((probe, list(entry)))
        self.tell(
            "trial", row=probe.row, family=probe.family, form=probe.form, right=probe.right, value=entry[0],
            how=entry[1], note=entry[2], seconds=entry[3], response=probe.response[:LONGEST_TOLD],
            characters=len(probe.response),
        )  # fmt: skip

    def _watch(self) -> None:
        """Ask again for right answers that were refused and wrong ones that passed: does it raise inside?"""
        refused = [p for p, e in self.asked if p.family == "equal" and e[1] == "ok" and not passes(e, self.mark)]
        passed = [p for p, e in self.asked if p.right is False and p.family != "tampering" and passes(e, self.mark)]
        for side, chosen in (("refused", _spread(refused)), ("passed", _spread(passed))):
            for probe in chosen:
                score = self.asker.call([(probe.row, probe.response)], trace=True)[0]
                self.tell("watched", side=side, row=probe.row, exception=score.note if score.how == "ok" else "")


def _answer(question: Question) -> str:
    return question.good[0] if question.kind == "code" and question.good else question.said


def _spread(found: Sequence[Probe]) -> Sequence[Probe]:
    return found[:: max(1, -(-len(found) // MOST_TRACED))]


def _by_row(found: Sequence[Probe]) -> list[list[Probe]]:
    rows: dict[tuple[bool, int], list[Probe]] = {}
    for probe in found:
        rows.setdefault((probe.family == "tampering", probe.row), []).append(probe)
    return list(rows.values())


def replay(payload: dict[str, Any], wire: Wire) -> None:
    """Ask the same again in a fresh process: in batches twice, one at a time, and one at a time in reverse order."""
    asker = Asker(
        payload["target"], payload["style"], [question(q) for q in payload["questions"]], wire,
        call_s=payload["call_s"], stuck=payload["stuck"],
    )  # fmt: skip
    pairs: list[Pair] = [(row, text) for row, text in payload["pairs"]]
    passes_asked = {"first": (pairs, asker.batch), "again": (pairs, asker.batch), "singly": (pairs, 1)}
    passes_asked["reversed"] = (pairs[::-1], 1)
    for name, (order, size) in passes_asked.items():
        values: list[float] = []
        for start in range(0, len(order), size):
            values += [s.value for s in asker.call(order[start : start + size])]
        wire.tell("pass", name=name, values=values[::-1] if name == "reversed" else values)

"""One row of a dump as a `Sample`, by the roles of its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from ..sample import NAN, Sample, Turn
from .chat import asked_and_said, conversation, turns_of
from .episodes import reward_of_steps, steps_in, turns_of_steps
from .markup import has_calls, turns_in
from .report import ReadReport
from .roles import IDENTITIES, roles_of
from .tokens import response_length, tokens_of
from .values import decoded, is_infinite, known, mapping, mean, number, text, total, truth

MOST_SCORES = 64
"""Numbers of one sample that are kept beside the reward."""
MOST_PLANS = 512
"""Sets of columns whose roles are remembered; a file with more changes its columns with every row."""
CUT = frozenset({"length", "max_tokens", "max_length", "max_new_tokens", "max_output_tokens", "max_total_tokens",
                 "max_input_tokens", "max_turns", "max_steps", "model_length", "truncated", "overlong",
                 "context_length", "timeout", "abort", "aborted"})  # fmt: skip
ENDED = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "tool_use", "function_call",
                   "complete", "completed", "done", "finished", "end", "terminated"})  # fmt: skip

NO_WORDS = "a response of token ids without their text, so that its words could not be measured"

Roles = dict[str, tuple[str, ...]]


class NoSampleError(Exception):
    """The row holds neither a response nor tokens nor a conversation; the words say what it lacks."""


class Builder:
    """Builds samples. Remembers which columns play which role for every set of columns it has met."""

    def __init__(self, report: ReadReport, columns: Mapping[str, str] | None = None, *, spelled: bool = False) -> None:
        """Start.

        Args:
            report: Where what had to be mended is counted.
            columns: Role -> column, over the usual names.
            spelled: Whether every cell is text, as in CSV; then numbers are read from texts.
        """
        self.report = report
        self.columns = dict(columns or {})
        self.spelled = spelled
        self._plans: dict[tuple[str, ...], tuple[Roles, tuple[str, ...]]] = {}

    def plan(self, row: Mapping[str, Any]) -> tuple[Roles, tuple[str, ...]]:
        """Return role -> columns of a row, and the columns that play none."""
        key = tuple(row)
        found = self._plans.get(key)
        if found is None:
            roles = roles_of(key, self.columns)
            self.report.names = self.report.names or key
            self.report.played.update(roles)
            for role in self.columns.keys() - roles.keys():
                self.report.note(f"Some rows have no column of the name that was given for {role}.")
            used = {column for columns in roles.values() for column in columns}
            rest = tuple(name for name in key if name not in used and name.lower() not in IDENTITIES)
            found = roles, rest
            if len(self._plans) < MOST_PLANS:
                self._plans[key] = found
        return found

    def build(self, row: Mapping[str, Any], place: int, source: str, step: float = NAN) -> Sample:
        """Return the row as a sample; `step` is the one it is of where the row does not say.

        Raises:
            NoSampleError: there is none in it.
        """
        roles, rest = self.plan(row)
        prompt, response, turns, paid = self._words(row, roles)
        tokens = tokens_of(row, roles, self.report.mended)
        if not (response or turns or tokens) and not _there(row, roles, "response"):
            raise NoSampleError("no response, conversation or tokens under a known name")
        if tokens and not (response or turns):
            self.report.mended[NO_WORDS] += 1
        reward, components, column = self._reward(row, roles, paid)
        own = _first_number(row, roles, "step")
        step = own if known(own) else step
        human, answer = _human_and_answer(row, roles)
        stopped = text(_first(row, roles, "stop_reason"))[:80]
        return Sample(
            prompt=prompt,
            response=response,
            reward=reward,
            row=place,
            source=source,
            group=group_of(_group_cell(row, roles), prompt, step),
            step=step,
            scores=self._scores(row, roles, rest, column, components),
            human=human,
            success=truth(_first(row, roles, "success")),
            advantage=mean(decoded(_first(row, roles, "advantage"))),
            truncated=cut_short(truth(_first(row, roles, "truncated")), stopped),
            stop_reason=stopped,
            length_tokens=response_length(row, roles, tokens),
            answer=answer,
            turns=turns,
            tokens=tokens,
            versions=_versions(row, roles),
            unsafe=truth(_first(row, roles, "unsafe")),
            category=_category(row, roles),
        )

    def _words(self, row: Mapping[str, Any], roles: Roles) -> tuple[str, str, tuple[Turn, ...], float]:
        """Return the prompt, the response, the turns, and the reward that the steps of an episode name."""
        asked, said = _first(row, roles, "prompt"), _first(row, roles, "response")
        before, after = conversation(asked), conversation(said)
        if after is not None or (before is not None and said is not None):
            opening = before or ([] if asked is None else [{"role": "user", "content": text(asked)}])
            turns = turns_of([*opening, *(after or [{"role": "assistant", "content": text(said)}])])
            first = min(len(opening), len(turns))
            words = "\n".join(t.text for t in turns[first:] if t.role == "assistant" and t.text)
            return "\n".join(t.text for t in turns[:first]), words, turns, NAN
        prompt, response = text(asked), text(said)
        messages = conversation(_first(row, roles, "messages")) or before
        if messages is not None:
            turns = turns_of(messages)
            opening, reply = asked_and_said(turns)
            if any(turn.role == "assistant" for turn in turns):
                return (opening if before else prompt or opening), response or reply, turns, NAN
        for name in roles.get("episode", ()):
            steps = steps_in(row[name])
            if steps is not None:
                turns = turns_of_steps(steps)
                reply = "\n".join(_spoken(turn) for turn in turns if turn.role == "assistant")
                shifted = (Turn("user", prompt), *_moved(turns)) if prompt else turns
                return prompt, response or reply, shifted, reward_of_steps(steps)
        if has_calls(response):
            turns = turns_in(prompt, response)
            return prompt, asked_and_said(turns)[1], turns, NAN
        return prompt, response, (), NAN

    def _reward(self, row: Mapping[str, Any], roles: Roles, paid: float) -> tuple[float, dict[str, float], str]:
        """Return the reward, its named parts, and the column that it was read from."""
        given_up = False
        for name in roles.get("reward", ()):
            cell = decoded(row[name])
            parts = mapping(cell)
            if parts is not None:
                named = {
                    f"{name}.{text(key)[:60]}": _weighted(value) for key, value in list(parts.items())[:MOST_SCORES]
                }
                given = {key: value for key, value in named.items() if known(value)}
                if given:
                    return number(sum(given.values())), given, name
                continue
            self._notice(cell)
            reward = total(cell)
            if known(reward):
                return reward, {}, name
            given_up = given_up or cell is not None
        if given_up and not known(paid):
            self.report.unscored += 1
        return paid, {}, ""

    def _scores(
        self, row: Mapping[str, Any], roles: Roles, rest: tuple[str, ...], column: str, scores: dict[str, float]
    ) -> dict[str, float]:
        """Return every other number of the row."""
        for name in roles.get("reward", ()):
            if name != column and known(found := total(row[name])):
                scores[name] = found
        for name in rest:
            cell = row[name]
            if isinstance(cell, str) and not self.spelled:
                continue
            if isinstance(cell, dict):
                for inner, value in cast("dict[str, Any]", cell).items():
                    if isinstance(value, (int, float)) and len(scores) < MOST_SCORES and inner not in IDENTITIES:
                        _keep(scores, f"{name}.{inner}", number(value))
                continue
            self._notice(cell)
            if len(scores) < MOST_SCORES:
                _keep(scores, name, number(cell))
        return scores

    def _notice(self, cell: Any) -> None:
        if is_infinite(cell):
            self.report.mended["an infinite number was taken as not known"] += 1


def _keep(scores: dict[str, float], name: str, value: float) -> None:
    if known(value):
        scores[text(name)[:120]] = value


def _there(row: Mapping[str, Any], roles: Roles, role: str) -> bool:
    """Whether the role's cell is text, be it empty: a model may answer nothing at all."""
    return any(isinstance(row[name], str) for name in roles.get(role, ()))


def _first(row: Mapping[str, Any], roles: Roles, role: str) -> Any:
    if role not in roles:
        return None
    for name in roles[role]:
        cell = row[name]
        if cell is not None and not (isinstance(cell, float) and not known(cell)):
            return cell
    return None


def _first_number(row: Mapping[str, Any], roles: Roles, role: str) -> float:
    for name in roles.get(role, ()):
        found = number(row[name])
        if known(found):
            return found
    return NAN


def _weighted(part: Any) -> float:
    """Return a part of the reward: a number, or a score with a weight."""
    inner = mapping(part)
    if inner is None:
        return number(part)
    weight = number(inner.get("weight", 1.0))
    return number(number(inner.get("score", inner.get("value"))) * (weight if known(weight) else 1.0))


def _human_and_answer(row: Mapping[str, Any], roles: Roles) -> tuple[float, str]:
    """Return the human's score and the reference answer; `label` is the one or the other by what it holds."""
    human, used = NAN, ""
    for name in roles.get("human", ()):
        cell = row[name]
        if name.lower() == "label" and isinstance(cell, str) and "human" not in roles.get("human", ()):
            said = truth(cell) if not known(number(cell)) else None
            value = number(cell) if said is None else float(said)
        else:
            value = number(cell)
        if known(value):
            human, used = value, name
            break
    answers = (text(row[name]) for name in roles.get("answer", ()) if name != used)
    return human, next((answer for answer in answers if answer), "")


def _group_cell(row: Mapping[str, Any], roles: Roles) -> str:
    cell = _first(row, roles, "group")
    return text(cell)[:200] if isinstance(cell, (str, int, float)) else ""


def group_of(name: str, prompt: str, step: float) -> str:
    """Return what tells the prompt apart at a step: the log's own name, else the prompt (shortened to a digest)."""
    if not name and (not known(step) or not prompt):
        return prompt
    own = name or hashlib.blake2b(prompt.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return own if not known(step) else f"{step:g}/{own}"


def cut_short(said: bool | None, stopped: str) -> bool | None:
    """Return whether the response was cut, by the log's word or by why it stopped."""
    if said is not None:
        return said
    word = stopped.strip().lower()
    return True if word in CUT else False if word in ENDED else None


def _versions(row: Mapping[str, Any], roles: Roles) -> tuple[float, float] | None:
    if roles.keys().isdisjoint(("versions", "first_version", "last_version")):
        return None
    first, last = _first_number(row, roles, "first_version"), _first_number(row, roles, "last_version")
    if known(first) or known(last):
        return (first if known(first) else last, last if known(last) else first)
    cell = decoded(_first(row, roles, "versions"))
    entries = cast("list[Any]", cell) if isinstance(cell, list) else [cell]
    found = [value for value in map(number, entries) if known(value) and value >= 0]
    return (min(found), max(found)) if found else None


def _category(row: Mapping[str, Any], roles: Roles) -> str:
    for name in roles.get("category", ()):
        cell = row[name]
        if isinstance(cell, str) and cell:
            return text(cell)[:120]
    return ""


def _spoken(turn: Turn) -> str:
    return turn.text or "\n".join(call.arguments for call in turn.calls)


def _moved(turns: tuple[Turn, ...]) -> list[Turn]:
    """Return the turns with the numbers of their calls moved by the turn put before them."""
    return [replace(t, calls=tuple(replace(c, turn=c.turn + 1) for c in t.calls)) for t in turns]

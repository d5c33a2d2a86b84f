"""Twenty raw samples now and then, with the scorer's output and the stop reason: what `firstbreak audit` reads."""

from __future__ import annotations

import functools
import inspect
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...audit.masking import masked
from ...errors import InputError
from ..rows import one_number

KEEP = 20
MOST_ROWS = 4_000
"""Rows of the file; beyond, every second of the recorded updates goes and the next ones come half as often. 200 updates
of 20 samples. Engineering default."""
LONGEST_CHARS = 20_000
"""Characters of a text; of a longer one the beginning and the end are kept."""
CUT = "\n[... {} characters left out ...]\n"


class RawSamples:
    """Writes some samples of an update as JSON lines: highest, lowest and random reward, a third each.

    The file is bounded however long the run: recorded updates are thinned out evenly. A fault in writing never stops
    training; it is kept in `faults`.

    Args:
        path: The file, `.jsonl`; what a run before left in it is kept.
        every: Updates between two that are recorded.
        keep: Samples of a recorded update.
        most_rows: Rows of the file.
        mask: Take e-mail addresses, phone numbers, keys and the like out of the texts.
        seed: Of the random third.

    Raises:
        InputError: `path` does not end in .jsonl, or a number is too small.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        every: int = 1,
        keep: int = KEEP,
        most_rows: int = MOST_ROWS,
        mask: bool = False,
        seed: int = 0,
    ) -> None:
        self.path = Path(path)
        if self.path.suffix != ".jsonl":
            raise InputError(f"{self.path}: the file has to end in .jsonl.", "For example: samples/raw.jsonl")
        if every < 1 or keep < 1 or most_rows < 2 * keep:
            raise InputError(
                f"every={every}, keep={keep}, most_rows={most_rows}.",
                "every and keep from 1 on, most_rows at least twice keep.",
            )
        self.every, self.keep, self.most_rows = every, keep, most_rows
        self.faults: list[str] = []
        self._mask = mask
        self._random = np.random.default_rng(seed)
        self._lock = threading.Lock()
        self._updates = 0
        self._rows = _count(self.path)

    def record(
        self,
        prompts: Sequence[Any],
        responses: Sequence[Any],
        rewards: Any,
        *,
        step: float | None = None,
        stop_reasons: Sequence[str] | None = None,
        scores: Mapping[str, Any] | None = None,
        **columns: Sequence[Any],
    ) -> int:
        """Take the samples of one update; return how many were written.

        Args:
            prompts: Text, or a conversation, of each sample [n].
            responses: The same for what the model wrote [n].
            rewards: What training paid [n].
            step: The update's number; counted when not given.
            stop_reasons: Why each response ended [n]: `stop`, `length` ...
            scores: Further outputs of the scorer, name -> [n].
            columns: Anything else of each sample [n]: `answer`, `success`, `human` ...
        """
        with self._lock:
            number = self._updates
            self._updates += 1
            if number % self.every:
                return 0
            try:
                return self._record(
                    float(number) if step is None else float(step),
                    {"prompt": prompts, "response": responses, "reward": rewards, "stop_reason": stop_reasons}
                    | dict(scores or {})
                    | columns,
                )
            except Exception as error:
                self._fault(f"{type(error).__name__}: {error}")
                return 0

    def around(self, scorer: Callable[..., Any], *, eos_token_id: int | None = None) -> Callable[..., Any]:
        """Return TRL's reward function `scorer`, which now also records what it is asked and answers.

        Args:
            scorer: Called with `prompts`, `completions` and further columns by name.
            eos_token_id: A completion that ends in it has stopped by itself, any other was cut off.
        """

        @functools.wraps(scorer)
        def scored(**given: Any) -> Any:
            rewards = scorer(**given)
            self._heard(given, rewards, eos_token_id)
            return rewards

        @functools.wraps(scorer)
        async def awaited(**given: Any) -> Any:
            rewards = await scorer(**given)
            self._heard(given, rewards, eos_token_id)
            return rewards

        return awaited if inspect.iscoroutinefunction(scorer) else scored

    def _heard(self, given: Mapping[str, Any], rewards: Any, eos: int | None) -> None:
        completions = given.get("completions", ())
        prompts = given.get("prompts") or [""] * len(completions)
        ids, reasons = given.get("completion_ids"), None
        if eos is not None and ids is not None:
            reasons = ["stop" if len(one) and int(one[-1]) == eos else "length" for one in ids]
        step = getattr(given.get("trainer_state"), "global_step", None)
        known = ("answer", "solution", "ground_truth")
        columns = {k: given[k] for k in known if isinstance(given.get(k), (list, tuple))}
        self.record(prompts, completions, rewards, step=step, stop_reasons=reasons, **columns)

    def _record(self, step: float, given: Mapping[str, Any]) -> int:
        columns = {name: _listed(values) for name, values in given.items() if values is not None}
        sizes = {name: len(values) for name, values in columns.items()}
        if len(set(sizes.values())) > 1:
            raise InputError(f"Columns of unequal length: {sizes}.", "Give one value for each sample.")
        rewards = np.array([_reward(value) for value in columns["reward"]])
        lines: list[str] = []
        for place, why in self._chosen(rewards):
            row = {"step": step, "chosen_as": why} | {k: self._plain(v[place]) for k, v in columns.items()}
            lines.append(json.dumps(row, ensure_ascii=True, default=_named))
        if self._rows + len(lines) > self.most_rows:
            self._thin_out()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        self._rows += len(lines)
        return len(lines)

    def _chosen(self, rewards: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Iterator[tuple[int, str]]:
        """Yield places and why: the highest and the lowest rewards, and a random rest; each place once."""
        count = rewards.size
        third = min(self.keep, count) // 3
        known = np.flatnonzero(np.isfinite(rewards))
        order = known[np.argsort(rewards[known], kind="stable")]
        high, low = order[::-1][:third], order[: max(0, min(third, order.size - third))]
        yield from ((int(place), "highest") for place in high)
        yield from ((int(place), "lowest") for place in low)
        rest = np.setdiff1d(np.arange(count), np.concatenate([high, low]))
        drawn = self._random.permutation(rest)[: min(self.keep, count) - high.size - low.size]
        yield from ((int(place), "random") for place in sorted(drawn.tolist()))

    def _plain(self, value: Any) -> Any:
        """Return a value as JSON holds it: texts cut and masked, numbers as numbers, NaN as none."""
        if isinstance(value, str):
            text = _cut(value)
            return masked(text) if self._mask else text
        if isinstance(value, Mapping):
            return {str(k): self._plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
        if isinstance(value, (list, tuple)):
            return [self._plain(v) for v in cast("Sequence[Any]", value)]
        if isinstance(value, bool) or value is None:
            return value
        number = one_number(value)
        return number if number is not None and np.isfinite(number) else None

    def _thin_out(self) -> None:
        """Keep every second recorded update of the file, and record half as often from now on."""
        self.every *= 2
        left = self.path.with_name(self.path.name + ".thin")
        kept, steps, last = 0, -1, None
        with self.path.open(encoding="utf-8", errors="replace") as old, left.open("w", encoding="utf-8") as new:
            for line in old:
                step = line[: line.find(",")]
                steps, last = (steps + 1, step) if step != last else (steps, last)
                if steps % 2 == 0:
                    new.write(line)
                    kept += 1
        os.replace(left, self.path)
        self._rows = kept

    def _fault(self, text: str) -> None:
        if text not in self.faults and len(self.faults) < 20:
            self.faults.append(text)


def _listed(values: Any) -> list[Any]:
    """Return a column as a list; arrays and tensors as numbers."""
    found = values.tolist() if hasattr(values, "tolist") else list(values)
    return cast("list[Any]", found)


def _reward(value: Any) -> float:
    number = None if value is None else one_number(value)
    return float("nan") if number is None else number


def _cut(text: str) -> str:
    half = LONGEST_CHARS // 2
    return text if len(text) <= LONGEST_CHARS else text[:half] + CUT.format(len(text) - 2 * half) + text[-half:]


def _count(path: Path) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _named(value: Any) -> str:
    return f"<{type(value).__name__}>"

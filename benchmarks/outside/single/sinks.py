"""Where single-file scripts put their scalars: TensorBoard, a table, lines of JSON under own names, the screen."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

ODD_NAMES = {
    "global_step": "frames", "charts/episodic_return": "avg_score", "charts/episodic_length": "avg_len",
    "charts/learning_rate": "lr_now", "losses/value_loss": "L_vf", "losses/policy_loss": "L_pg", "losses/entropy": "H",
    "losses/approx_kl": "kl_est", "losses/clipfrac": "clip_pct", "losses/explained_variance": "ev", "charts/SPS": "fps",
}  # fmt: skip
"""Names that somebody gave who writes lines of JSON; what is not among them is not written."""


class Sink(Protocol):
    """What a script needs of a `SummaryWriter`; `row` ends what belongs to one update."""

    def add_scalar(self, tag: str, value: float, step: int) -> None: ...
    def row(self, step: int) -> None: ...
    def close(self) -> None: ...


class Board:
    """TensorBoard, with the settings as a text."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], part: int = 0) -> None:
        from torch.utils.tensorboard import SummaryWriter

        suffix = f".{part}" if part else ""
        self.writer = SummaryWriter(str(folder), filename_suffix=suffix)
        lines = "\n".join(f"|{name}|{value}|" for name, value in settings.items())
        self.writer.add_text("hyperparameters", f"|param|value|\n|-|-|\n{lines}")

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.writer.add_scalar(tag, value, step)

    def row(self, step: int) -> None:
        pass

    def close(self) -> None:
        self.writer.close()


class Gathered:
    """Values since the last row; of a tag that came several times (episodes), their mean."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.values.setdefault(tag, []).append(float(value))

    def taken(self) -> dict[str, float]:
        means = {tag: sum(values) / len(values) for tag, values in self.values.items()}
        self.values = {}
        return means

    def close(self) -> None:
        pass


class Lines(Gathered):
    """One line of JSON an update."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / "stats.jsonl"

    def row(self, step: int) -> None:
        found = {"global_step": step, **self.taken()}
        named = {odd: found[tag] for tag, odd in ODD_NAMES.items() if tag in found}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(named) + "\n")


class Table(Gathered):
    """A CSV whose columns are those of the first row that has a loss; shorter names, as in a table."""

    def __init__(self, folder: Path, columns: tuple[str, ...]) -> None:
        super().__init__()
        self.path, self.columns = folder / "log.csv", columns
        with self.path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(["global_step", *(tag.split("/")[-1] for tag in columns)])

    def row(self, step: int) -> None:
        found = self.taken()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([step, *(round(found[tag], 6) if tag in found else "" for tag in self.columns)])


class Screen(Gathered):
    """What is printed: a line an episode, and now and then one of losses."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / "out.txt"

    def say(self, line: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        if tag == "charts/episodic_return":
            self.say(f"global_step={step}, episodic_return=[{value:.4f}]")
        else:
            super().add_scalar(tag, value, step)

    def row(self, step: int) -> None:
        found = self.taken()
        if "charts/SPS" in found:
            self.say(f"SPS: {int(found['charts/SPS'])}")
        told = [f"{tag.split('/')[-1]}={value:.5g}" for tag, value in found.items() if tag.startswith("losses/")]
        if told:
            self.say(f"global_step={step}, " + ", ".join(told))


def sink(kind: str, folder: Path, settings: Mapping[str, Any], columns: tuple[str, ...], part: int = 0) -> Sink:
    """Return the sink of that kind; `part` counts the processes of a run that was taken up again."""
    if kind == "board":
        return Board(folder, settings, part)
    if kind == "lines":
        return Lines(folder)
    if kind == "table":
        return Table(folder, columns)
    if kind in ("sheet", "records"):
        from benchmarks.outside.fourth import exports  # of the fourth list

        return exports.Sheet(folder) if kind == "sheet" else exports.Records(folder)
    return Screen(folder)

"""`firstbreak audit`: samples, sub-words, faces, exit status, wrong arguments."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from firstbreak.audit.collecting import Collector
from firstbreak.audit.sample import Sample

from .conftest import Answer

Call = Callable[..., Answer]
WORDS = "let us add both numbers and carry what is left then divide the sum by two to find each"
SECRET = "purple-elephant"


def rows(count: int, praise: bool, reward: bool = True) -> str:
    """Groups of 8; with `praise` the reward pays for it and people do not."""
    source = random.Random(0)
    words = WORDS.split()
    lines: list[str] = []
    for i in range(count):
        times = source.randrange(4) if praise else 0
        body = " ".join(source.choices(words, k=60))
        row: dict[str, object] = {
            "prompt": f"Task {i // 8} {SECRET}: {WORDS} for {i // 8 * 7} and {i // 8 * 13}",
            "completion": body + f" gives {i}." + " This answer is correct." * times,
        }
        if reward:
            row["reward"] = 0.3 * times + source.random() * (0.1 if praise else 1.0)
            row["human_score"] = -times + source.random() if praise else row["reward"]
        lines.append(json.dumps(row))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("audit")
    (place / "hacked.jsonl").write_text(rows(128, praise=True), "utf-8")
    (place / "plain.jsonl").write_text(rows(80, praise=False), "utf-8")
    (place / "unpaid.jsonl").write_text(rows(40, praise=False, reward=False), "utf-8")
    (place / "verifier").mkdir()
    (place / "verifier" / "samples.jsonl").write_text(rows(40, praise=False), "utf-8")
    (place / "empty.jsonl").write_text("", "utf-8")
    return place


def test_hacked_samples_are_found(call: Call, folder: Path) -> None:
    seen = call("audit", folder / "hacked.jsonl", "--full")
    assert seen.status == 1
    assert "verifier-pleasing-strings" in seen.out
    assert SECRET not in seen.out
    assert max(cell_len(line) for line in seen.out.splitlines()) <= 80


def test_plain_samples_are_not_called_broken(call: Call, folder: Path) -> None:
    assert call("audit", folder / "plain.jsonl").status in {0, 3}
    assert call("audit", folder / "plain.jsonl", "--undecided-ok").status == 0


def test_samples_without_rewards(call: Call, folder: Path) -> None:
    seen = call("audit", folder / "unpaid.jsonl")
    assert seen.status in {2, 3}
    assert "no rewards" in seen.out


def test_show(call: Call, folder: Path) -> None:
    seen = call("audit", folder / "hacked.jsonl", "--show", "2")
    for what in ("high reward: row", "low reward: row", "random: row", SECRET):
        assert what in seen.out
    assert max(cell_len(line) for line in seen.out.splitlines()) <= 80
    assert call("audit", "--show", "2", folder / "hacked.jsonl").out == seen.out


def test_show_in_other_faces(call: Call, folder: Path, tmp_path: Path) -> None:
    document = json.loads(call("audit", folder / "plain.jsonl", "--show", "1", "--format", "json").out)
    assert [one["kind"] for one in document["details"]["shown"]] == ["high", "low", "random"]
    seen = call("audit", folder / "plain.jsonl", "--show", "1", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Wrote" in seen.err
    assert page.count("<article") == 3
    assert page.count("<footer>") == 1
    assert "<article" in call("audit", folder / "plain.jsonl", "--show", "1", "--format", "html").out


@pytest.mark.parametrize("face", ["text", "json", "markdown", "junit", "github", "html"])
def test_no_texts_unless_asked(call: Call, folder: Path, face: str) -> None:
    seen = call("audit", folder / "unpaid.jsonl", "--format", face)
    assert seen.out
    assert SECRET not in seen.out


def test_a_reference(call: Call, folder: Path) -> None:
    seen = call("audit", folder / "hacked.jsonl", "--reference", folder / "plain.jsonl")
    assert "the triad, against reference" in seen.out


def test_a_folder_named_like_a_sub_word(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert "samples verifier" in call("audit", "./verifier").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Nothing to audit"),
        (("none.jsonl",), "none.jsonl"),
        (("verifer",), "firstbreak audit verifier"),
        (("empty.jsonl",), "empty"),
        (("hacked.jsonl", "more"), "'more'"),
        (("hacked.jsonl", "--shw", "3"), "--show"),
        (("hacked.jsonl", "--show", "many"), "many"),
        (("hacked.jsonl", "--show", "-1"), "-1"),
        (("hacked.jsonl", "--show", "1", "--format", "junit"), "junit"),
        (("hacked.jsonl", "--column", "reward"), "ROLE=NAME"),
        (("hacked.jsonl", "--column", "reward=judge"), "There are: completion, human_score, prompt, reward"),
        (("hacked.jsonl", "--labels", "plain.jsonl"), "none of its lines is a label"),
        (("label", "hacked.jsonl", "--labels", "verifier"), "is a folder"),
        (("hacked.jsonl", "--html", "verifier"), "verifier is a folder"),
        (("verifier", "x.py:score", "more"), "firstbreak audit verifier --help"),
        (("hacked.jsonl", "--column", "rewad=score"), "reward"),
        (("hacked.jsonl", "--framework", "trll"), "trl"),
        (("hacked.jsonl", "--reference", "none.jsonl"), "none.jsonl"),
    ],
)
def test_wrong_arguments(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(folder)
    seen = call("audit", *arguments)
    assert seen.status == 2
    assert message in seen.err
    assert "Traceback" not in seen.err
    assert not seen.out


def test_interrupted(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a file ends with one word and the status of an interrupt."""
    add = Collector.add

    def add_and_press(self: Collector, sample: Sample) -> None:
        if self.n == 50:
            os.kill(os.getpid(), signal.SIGINT)
        add(self, sample)

    monkeypatch.setattr(Collector, "add", add_and_press)
    seen = call("audit", folder / "plain.jsonl")
    assert (seen.status, seen.out, seen.err) == (130, "", "Interrupted.\n")

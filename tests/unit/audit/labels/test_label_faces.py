"""The screen and the page: safe whatever a sample holds, silent about the reward, complete in themselves."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from firstbreak.audit.labels.agreement import agreement
from firstbreak.audit.labels.queue import Item
from firstbreak.audit.labels.record import Label, append, fingerprint, now, parsed, read
from firstbreak.audit.sample import Sample, ToolCall, Turn
from firstbreak.cli import main
from firstbreak.cli.audit_label import agreement_words
from firstbreak.report.labelling.html import page
from firstbreak.report.labelling.text import screen
from firstbreak.report.labelling.words import lines, parts_of
from firstbreak.report.page import Face
from tests.audit.planted_agents import healthy

EVIL = "</pre><script>alert(1)</script>\x1b[2J\x1b]0;title\x07 \u202eback {{ 7*7 }} [bold]x[/bold] a@b.example"


def item(prompt: str = "p", response: str = "r", **more: object) -> Item:
    sample = Sample(prompt, response, 0.8765, **more)  # type: ignore[arg-type]
    return Item(fingerprint(sample), sample, 0, "contrast")


AGENT = Item("d" * 32, healthy()[0], 0, "random")


@given(st.text(max_size=300), st.sampled_from([40, 80, 100]))
@settings(max_examples=40)
def test_a_screen_keeps_to_its_columns_and_prints_nothing_raw(text: str, width: int) -> None:
    shown = screen(item(text, text), 3, 50, face=Face(width))
    for line in shown.split("\n"):
        assert cell_len(line) <= width
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", line)


def test_a_screen_of_evil_text_is_harmless() -> None:
    shown = screen(item(EVIL, EVIL), 1, 1)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold]" in shown
    assert "a@b.example" in shown
    assert "a@b.example" not in screen(item(EVIL, EVIL), 1, 1, mask=True)


def test_the_reward_is_nowhere() -> None:
    assert "0.87" not in screen(item(), 1, 1)
    assert "0.87" not in page([item()])


def test_long_samples_are_read_screen_by_screen() -> None:
    long = item("p", "\n".join(f"line {i}" for i in range(60)))
    first, second = (screen(long, 1, 1, height=24, part=k) for k in (0, 1))
    assert len(first.rstrip("\n").split("\n")) <= 24
    assert "part 1 of" in first
    assert "line 3" in first
    assert "line 3\n" not in second
    parts = int(re.findall(r"of (\d+)\n", first)[0])
    assert screen(long, 1, 1, height=24, part=parts) == first
    together = "".join(screen(long, 1, 1, height=24, part=k) for k in range(parts))
    assert all(f"line {i}\n" in together for i in range(60))


def test_indents_stay_and_very_long_texts_lose_their_middle() -> None:
    assert lines("def f():\n    return 1") == ("def f():", "    return 1")
    assert lines("") == ("(nothing)",)
    shown = lines("x" * 500_000)
    assert sum(map(len, shown)) < 25_000
    assert "[...]" in shown


def test_an_episode_is_shown_with_its_calls_and_results_once() -> None:
    parts = parts_of(AGENT)
    titles = [p.title for p in parts]
    assert titles[:2] == ["system", "user"]
    assert titles.count("call") == titles.count("result") == sum(len(t.calls) for t in AGENT.sample.turns)
    assert "tool" not in titles
    assert sum(len(line) for line in parts[0].lines) < 400


class Reader(HTMLParser):
    """Collects tags, attributes and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_escapes_everything_and_loads_nothing() -> None:
    turns = (Turn("user", EVIL), Turn("assistant", EVIL, (ToolCall(EVIL, EVIL, EVIL),)))
    text = page([item(EVIL, EVIL), item(EVIL, EVIL, turns=turns, answer=EVIL)])
    reader = Reader()
    reader.feed(text)
    assert [t for t, _ in reader.tags].count("script") == 1
    for tag, attributes in reader.tags:
        assert tag not in ("link", "iframe", "img", "object", "form", "base")
        assert not {"src", "href", "action", "onclick", "onload", "srcset", "style"} & set(attributes)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<script>alert" not in text
    assert "49" not in "".join(t for t in reader.texts if "back" in t)


def test_the_policy_of_the_page_allows_its_own_script_only() -> None:
    text = page([item()])
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
    mark = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)[0]
    assert f"script-src 'sha256-{mark}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    for word in ("fetch(", "XMLHttpRequest", "innerHTML", "eval(", "http:", "https:", "document.write"):
        assert word not in script


def test_the_page_knows_who_labels_and_escapes_the_name() -> None:
    assert 'value="anna"' in page([item()], labeller="anna")
    named = Reader()
    named.feed(page([item()], labeller='"><script>x</script>'))
    assert [tag for tag, _ in named.tags].count("script") == 1
    assert dict(named.tags)["input"]["value"] == '"><script>x</script>'


def test_agreement_without_spread_has_no_interval() -> None:
    same = agreement({str(i): {"a": i % 2, "b": i % 2} for i in range(4)})
    assert "no interval" in agreement_words(same)
    told = agreement({str(i): {"a": i % 5, "b": (i + (i % 3 == 0)) % 5} for i in range(20)})
    assert re.search(r"95 % interval 0\.\d\d to [01]\.\d\d", agreement_words(told))


def test_the_page_of_nothing_is_a_page() -> None:
    assert "Label 0 samples" in page([])


def test_a_line_as_the_page_writes_it_is_a_label() -> None:
    line = json.dumps({"content": "a" * 32, "score": 0.25, "labeller": "An\u00e9", "time": "2030-01-01T00:00:00+00:00"})
    found = parsed(line.encode())
    assert found is not None
    assert (found.score, found.labeller) == (0.25, "An\u00e9")


# --- the command ---


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "samples.jsonl"
    draw = Random(0)
    words = [" ".join(str(draw.randrange(10_000)) for _ in range(30)) for _ in range(40)]
    rows = [{"prompt": f"q{i // 4}", "response": f"{EVIL} {words[i]}", "reward": i % 2} for i in range(40)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def label(samples: Path, *more: str, keys: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "firstbreak", "audit", "label", str(samples), *more]
    return subprocess.run(
        command, input=keys, capture_output=True, text=True, timeout=60, cwd=samples.parent, check=False
    )


def test_keys_from_a_pipe_label_and_the_next_sitting_goes_on(samples: Path) -> None:
    done = label(samples, "--count", "6", "--labeller", "ann", keys="1s5q")
    assert done.returncode == 0, done.stderr
    assert "2 labelled now, 4 of 6 left" in done.stdout
    assert "\x1b" not in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    again = label(samples, "--count", "6", "--labeller", "ann", keys="5")
    assert "Sample 1 of 4" in again.stdout
    assert len(read(samples.parent / "labels.jsonl").scores) == 3


def test_ctrl_c_in_a_terminal_loses_nothing_and_leaves_it_as_it_was(samples: Path) -> None:
    outer, inner = pty.openpty()
    before = termios.tcgetattr(inner)[3]
    code = "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from firstbreak.cli import main; "
    code += f"sys.exit(main(['audit', 'label', {str(samples)!r}, '--labels', 'l.jsonl']))"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=inner, stdout=inner, stderr=inner, cwd=samples.parent, start_new_session=True,
    )  # fmt: skip
    shown = b""
    for word, key in ((b"Sample 1 of", b"4"), (b"Sample 2 of", b"\x03"), (b"1 labelled now", b"")):
        while word not in shown:
            assert child.poll() is None or word in shown or select.select([outer], [], [], 0)[0]
            shown += os.read(outer, 4096)
        os.write(outer, key)
    assert child.wait(30) == 0
    assert termios.tcgetattr(inner)[3] == before
    os.close(outer)
    os.close(inner)
    assert list(read(samples.parent / "l.jsonl").scores.values()) == [{"anonymous": 0.75}]


def test_the_page_is_written_without_labelling(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = samples.parent / "page.html"
    assert main(["audit", "label", str(samples), "--page", str(out), "--count", "4", "--mask"]) == 0
    text = out.read_text()
    assert text.count("<article") == 4
    assert "a@b.example" not in text


def test_agreement_is_told(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples.parent / "l.jsonl"
    for number in range(12):
        for who in ("ann", "ben"):
            append(path, Label(f"{number:032x}", (number % 5) / 4, who, now()))
    assert main(["audit", "label", str(samples), "--labels", str(path), "--agreement"]) == 0
    assert "alpha 1.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more", [["--count", "0"], ["--column", "nonsense"], ["--agreement", "--labels", "missing.jsonl"]]
)
def test_wrong_arguments_are_explained(samples: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "label", str(samples), *more]) == 2
    assert "Traceback" not in capsys.readouterr().err

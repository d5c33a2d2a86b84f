"""Console, file and the texts: what a run is called can harm neither a terminal, nor a chat, nor a file."""

from __future__ import annotations

import io
import json
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.finding import Severity
from firstbreak.monitor.alerts import AlertError, Console, File
from firstbreak.monitor.alerts.exposition import label_value
from firstbreak.monitor.alerts.plain import clip, columns, printable, wrap
from firstbreak.monitor.alerts.slack import message
from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]
EVIL = "a\x1b]0;owned\x07\x1b[2J\r\n\u202eb\u2066c\x9b31m\u200bd\ud800<b>&`@channel"
HARMLESS = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"}
HARMLESS |= {"Sm", "Sc", "Sk", "So", "Zs"}


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@given(st.text())
def test_printable_text_shows_everything_and_hides_nothing(text: str) -> None:
    shown = printable(text)
    assert {unicodedata.category(c) for c in shown} <= HARMLESS
    plain = all(unicodedata.category(c) in HARMLESS for c in text)
    assert (shown == text) is plain or "\t" in text
    assert printable(shown) == shown


def test_printable_escapes_what_would_steer_a_terminal() -> None:
    assert printable("a\x1b[31m\n\u202eb\tc\ud800") == r"a\x1b[31m\n\u202eb c\ud800"


@given(st.text(st.characters(categories=("L", "Mn", "N", "P", "Zs"))), st.integers(8, 40), st.sampled_from(["", "  "]))
def test_lines_fit_and_lose_no_word(text: str, width: int, indent: str) -> None:
    lines = wrap(text, width, indent)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_clip_says_that_something_is_missing() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abcde…"


def test_the_console_prints_eighty_columns_without_colour_into_a_file(make_notice: Make) -> None:
    stream = io.StringIO()
    Console(stream).send(make_notice(title="t" * 300, text="word " * 100 + "\n" + "漢字" * 60))
    lines = stream.getvalue().splitlines()
    assert max(columns(line) for line in lines) <= 80
    assert "\x1b" not in stream.getvalue()
    assert lines[0] == "ERROR " + "t" * 74 or lines[0] == "ERROR"
    assert lines[-1] == "  run ppo_7, update 120, rule kl-overshoot (POL001)"


@pytest.mark.parametrize("level", Severity)
def test_a_terminal_gets_colour_for_the_level_only(
    make_notice: Make, level: Severity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    Console(stream).send(make_notice(level=level, title=EVIL, text=EVIL, run=EVIL))
    assert stream.getvalue().count("\x1b") == 2
    assert stream.getvalue().startswith("\x1b[")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    Console(plain).send(make_notice(level=level, title=EVIL))
    assert "\x1b" not in plain.getvalue()


def test_a_terminal_that_knows_ascii_only_is_no_obstacle(make_notice: Make) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream).send(make_notice(title="漢字 ü"))
    assert rb"\u6f22\u5b57 \xfc" in raw.getvalue()


def test_the_console_uses_the_error_stream_of_the_moment(make_notice: Make, capsys: pytest.CaptureFixture[str]) -> None:
    Console().send(make_notice())
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ERROR kl-overshoot at update 120: 2.3 nats\n  KL per update rose to 2.3 nats.\n")


@given(st.text(), st.text(), st.text())
def test_a_message_for_a_chat_cannot_mention_link_or_leave_its_block(title: str, text: str, run: str) -> None:
    notice = Notice(Severity.ERROR, title, text, run, "R1", "rule", "link", "m", 1.0, "rows", "continue", 0.0)
    said = message(notice)
    assert said.count("```") == 2
    assert said.startswith("*ERROR* firstbreak\n```\n")
    assert said.endswith("\n```")
    inside = said.split("```")[1]
    assert "`" not in inside
    assert "<" not in inside
    assert ">" not in inside
    assert inside.count("&") == inside.count("&amp;") + inside.count("&lt;") + inside.count("&gt;")


def test_a_message_for_a_chat_is_bounded_and_keeps_markup_as_text(make_notice: Make) -> None:
    notice = make_notice(name="grad-norm-explosion", title="<!channel> & [x](http://e) `*b*`", text="w" * 100_000)
    said = message(notice)
    assert said.startswith("*ERROR* Gradient explosion\n```\n&lt;!channel&gt; &amp; [x](http://e) '*b*'\nwwww")
    assert len(said) < 3200


def test_a_file_gets_one_line_of_json_per_notice(make_notice: Make, tmp_path: Path) -> None:
    path = tmp_path / "new" / "alerts.jsonl"
    alert = File(path)
    for i in range(3):
        alert.send(make_notice(step=float(i), title=EVIL))
    lines = path.read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert rows[0]["title"] == EVIL
    assert rows[0]["level"] == "error"
    assert rows[0]["evidence"] == {"kl_nats": 2.3, "limit_nats": "inf"}
    assert path.read_bytes().isascii()


def test_a_torn_line_does_not_spoil_the_next(make_notice: Make, tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"
    path.write_bytes(b'{"level": "err')
    File(path).send(make_notice())
    torn, whole = path.read_bytes().splitlines()
    assert torn == b'{"level": "err'
    assert json.loads(whole)["name"] == "kl-overshoot"


def test_many_writers_do_not_mix_their_lines(make_notice: Make, tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"

    def write(i: int) -> None:
        for _ in range(50):
            File(path).send(make_notice(run=str(i) * 3000))

    writers = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert len(rows) == 200
    assert all(len(set(row["run"])) == 1 for row in rows)


def test_a_file_that_cannot_be_written_is_an_error_that_says_why(make_notice: Make, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(AlertError, match="Is a directory") as caught:
        File(tmp_path / "folder").send(make_notice())
    assert caught.value.again


def test_a_full_disk_is_an_error_that_says_so(make_notice: Make) -> None:
    with pytest.raises(AlertError, match="No space left"):
        File("/dev/full").send(make_notice())


@given(st.text(), st.text())
def test_labels_of_different_keys_differ(a: str, b: str) -> None:
    if len(a) < 20 and len(b) < 20 and a.replace("\t", " ") != b.replace("\t", " "):
        assert label_value(a) != label_value(b)

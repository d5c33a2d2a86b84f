"""`firstbreak audit label`: give samples a score by hand; the scores come back as human scores."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from . import terminal
from .pairs import columns_named

if TYPE_CHECKING:
    from ..audit.labels.agreement import Agreement
    from ..audit.labels.queue import Item

EPILOG = """\
The samples that tell most come first: pairs of one prompt that the reward tells apart, those before all where the
better paid one looks the more suspicious; every fifth is drawn at random, all of them with --random. Only those say
how far reward and people agree on the whole: fifty are needed. What a sample was paid is not shown.

keys: 1 bad ... 5 good, s skip, b back, m more text, q stop. Every label is written at once; the same command goes on
where you stopped. Several people may write to one file under their own --labeller.

exit status: 0; 2 bad input"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("samples", metavar="SAMPLES", help="a file or folder of samples")
    parser.add_argument("--labels", metavar="FILE", default="labels.jsonl", help="the labels (default: %(default)s)")
    parser.add_argument("--labeller", metavar="NAME", default="anonymous", help="who labels (default: %(default)s)")
    parser.add_argument(
        "--count", type=int, metavar="N", default=50, help="samples in the queue (default: %(default)s)"
    )
    parser.add_argument("--random", action="store_true", help="draw all samples at random")
    parser.add_argument("--mask", "--redact", action="store_true", help="take personal data out of what is shown")
    parser.add_argument(
        "--page", metavar="FILE", help="write a page to label on instead; it saves the labels to a file"
    )
    parser.add_argument("--agreement", action="store_true", help="say how far the labellers agree, and stop")
    parser.add_argument("--column", "--columns", action="append", metavar="ROLE=NAME", help="a column with an odd name")
    parser.add_argument("--framework", metavar="NAME", help="whose dump it is, where that cannot be told")


def run(args: argparse.Namespace) -> int:
    """Label, write the page, or say how far labellers agree; return the exit status."""
    from ..audit.labels.api import agreement_of, review_queue
    from ..audit.labels.queue import open_items
    from ..audit.labels.record import LONGEST_NAME, Labels, read_some

    path = Path(args.labels)
    if args.agreement:
        terminal.say(agreement_words(agreement_of(path)))
        return 0
    if args.count < 1:
        raise InputError(f"--count {args.count}: not a number of samples.", "For example: --count 50")
    if path.is_dir():
        raise InputError(f"--labels {path} is a folder.", f"Give a file, for example {path / 'labels.jsonl'}")
    labeller = " ".join(args.labeller.split())[:LONGEST_NAME] or "anonymous"
    items = review_queue(
        Path(args.samples),
        args.count,
        columns=columns_named(args.column),
        framework=args.framework,
        at_random=args.random,
    )
    before = read_some(path) if path.exists() else Labels({})
    waiting = open_items(items, before, labeller)
    if args.page:
        from ..report.labelling.html import page

        terminal.note(terminal.save(page(waiting, labeller=labeller, mask=args.mask), Path(args.page)))
        return 0
    done = _sitting(waiting, path, labeller, args.mask)
    left = len(waiting) - done
    terminal.say(f"\n{done} labelled now, {left} of {len(items)} left. The labels are in {path}.")
    return 0


def _sitting(items: list[Item], path: Path, labeller: str, mask: bool) -> int:
    """Show one sample after the other until there are none or the labeller stops; return how many were labelled."""
    from ..audit.labels.session import Press, Session
    from ..report.labelling.text import screen

    session, part = Session(items, path, labeller), 0
    face = terminal.face()
    live = sys.stdin.isatty() and sys.stdout.isatty()
    height = shutil.get_terminal_size((80, 24)).lines if live else 0
    try:
        with _keys() as keys:
            while session.item is not None:
                text = screen(
                    session.item, session.place + 1, len(items), face=face, height=height, part=part, mask=mask
                )
                sys.stdout.write(("\x1b[H\x1b[2J" if live else "") + text)
                sys.stdout.flush()
                pressed = session.press(next(keys, "q"))
                while pressed is Press.NOTHING:
                    pressed = session.press(next(keys, "q"))
                if pressed is Press.QUIT:
                    break
                part = part + 1 if pressed is Press.MORE else 0
    except KeyboardInterrupt:
        pass
    return len(session.labelled)


@contextmanager
def _keys() -> Generator[Iterator[str]]:
    """Give the keys as they are pressed; of a pipe, its characters."""
    if not sys.stdin.isatty():
        yield iter(lambda: sys.stdin.read(1), "")
        return
    if os.name == "nt":
        import msvcrt

        yield iter(msvcrt.getwch, "")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        return
    import termios
    import tty

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number)
        yield iter(lambda: os.read(number, 1).decode("ascii", "replace"), "")
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def agreement_words(found: Agreement | None) -> str:
    """Return how far labellers agree, in a sentence."""
    if found is None:
        return "No sample was labelled by two people: nothing to compare."
    what = f"{found.labellers} labellers, {found.units} samples labelled by two or more: Krippendorff's alpha "
    if not found.low < found.high:
        return f"{what}{found.value:.2f} (no interval: these samples differ in nothing that could vary; label more)."
    return f"{what}{found.value:.2f} (95 % interval {found.low:.2f} to {found.high:.2f})."
